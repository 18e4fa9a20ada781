// The model that comes with the sources.
#pragma once

namespace smol::test {

inline constexpr const char* kDemoModel = SMOL_SOURCE_DIR "/models/demo/smollm3-demo-q8_0.gguf";

}  // namespace smol::test
