// What of the prefix cache goes to a file, and comes back from one.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"

namespace smol::engine {

// A prompt and whose tokens it holds (Request::owner).
struct OwnedPrompt {
  std::string owner;
  std::vector<TokenId> ids;
};

struct CacheWish {
  std::span<const OwnedPrompt> prompts = {};  // what is kept of these, in their order
  bool nobodys = false;  // then what is kept of requests without an owner, the latest used first
  std::size_t max_bytes = std::numeric_limits<std::size_t>::max();  // what goes beyond is left out
  std::function<bool()> goes_on = {};  // asked now and then; false: there will be no file
};

}  // namespace smol::engine
