// An export of any program, whole or broken. It is refused with an Error, or read: then our own
// export of it must come back as it is.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/error.h"
#include "store/export.h"
#include "store/import.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  const smol::store::ImportDefaults defaults{
      {}, std::chrono::year{2026} / 11 / 28, [](std::string_view) { return std::int64_t{1}; }};
  const smol::store::ImportLimits limits{.text_bytes = std::size_t{1} << 20U, .messages = 1000};
  smol::store::Import import;
  try {
    import = smol::store::read_export(text, defaults, limits);
  } catch (const smol::Error& error) {
    SMOL_CHECK(error.code() == smol::ErrorCode::BadInput ||
               error.code() == smol::ErrorCode::Unsupported);
    return 0;
  }
  const std::string written = smol::store::to_json(import.transcripts);
  const auto again = smol::store::read_export(written, defaults);
  SMOL_CHECK(smol::store::to_json(again.transcripts) == written);
  for (const auto& transcript : import.transcripts) {
    SMOL_CHECK(!smol::store::to_markdown(transcript).empty());
  }
  return 0;
}
