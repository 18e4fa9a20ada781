// Temporary weak fallbacks while kinds are being written.
#include "conformance/conformance.h"
#include "base/error.h"
namespace smol::conformance {
__attribute__((weak)) void run_encode(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "encode: not built here"); }
__attribute__((weak)) void run_decode(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "decode: not built here"); }
__attribute__((weak)) void run_invalid_utf8(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "invalid_utf8: not built here"); }
__attribute__((weak)) void run_ignore_merges(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "ignore_merges: not built here"); }
__attribute__((weak)) void run_chat_ids(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "chat_ids: not built here"); }
__attribute__((weak)) void run_jinja(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "jinja: not built here"); }
__attribute__((weak)) void run_templates(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "templates: not built here"); }
__attribute__((weak)) void run_parse(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "parse: not built here"); }
__attribute__((weak)) void run_stream(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "stream: not built here"); }
__attribute__((weak)) void run_logits(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "logits: not built here"); }
__attribute__((weak)) void run_greedy(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "greedy: not built here"); }
__attribute__((weak)) void run_perplexity(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "perplexity: not built here"); }
__attribute__((weak)) void run_dequant(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "dequant: not built here"); }
__attribute__((weak)) void run_rope(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "rope: not built here"); }
__attribute__((weak)) void run_sampler(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "sampler: not built here"); }
__attribute__((weak)) void run_bits(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "bits: not built here"); }
__attribute__((weak)) void run_demo(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "demo: not built here"); }
__attribute__((weak)) void run_sensitivity(const Options&, Report&) { throw Error(ErrorCode::Unsupported, "sensitivity: not built here"); }
}
