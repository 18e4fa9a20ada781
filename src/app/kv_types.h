// The names of cache types on the command line.
#pragma once

#include <vector>

#include "app/flags.h"
#include "model/decoder.h"

namespace smol::app {

inline std::vector<Choice<model::KvCacheType>> kv_types() {
  return {{"int8", model::KvCacheType::Int8},
          {"f16", model::KvCacheType::F16},
          {"f32", model::KvCacheType::F32}};
}

}  // namespace smol::app
