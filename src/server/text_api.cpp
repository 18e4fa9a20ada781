#include "server/text_api.h"

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/utf8.h"
#include "server/api_error.h"
#include "server/chat_request.h"
#include "server/completion_request.h"
#include "server/fields.h"
#include "server/prompts.h"
#include "server/request_body.h"

namespace smol::server {
namespace {

constexpr std::size_t kMostTextTokens = 1UL << 20U;

// Bytes where the piece is no text by itself, as llama.cpp's server shows it.
Json piece_json(std::string_view bytes) {
  if (utf8::is_valid(bytes)) {
    return Json(bytes);
  }
  Json out = Json::array();
  for (const char c : bytes) {
    out.push_back(static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

HttpResponse tokenize(const chat::Assistant& assistant, const HttpRequest& request) {
  const Json body = parse_body(request);
  const Fields fields(body, "");
  const auto content = fields.text("content", kMostTextTokens);
  if (!content) {
    fields.miss("content", "a string");
  }
  const bool parses = fields.boolean("parse_special").value_or(true);
  const bool adds = fields.boolean("add_special").value_or(false);
  const bool with_pieces = fields.boolean("with_pieces").value_or(false);
  const text::Tokenizer& tokenizer = assistant.builder().tokenizer();
  std::vector<TokenId> ids =
      tokenizer.encode(*content, parses ? text::AddedTokens::All : text::AddedTokens::None);
  if (adds && tokenizer.bos()) {
    ids.insert(ids.begin(), *tokenizer.bos());
  }
  if (!with_pieces) {
    return json_response(200, {{"tokens", ids}});
  }
  Json tokens = Json::array();
  for (const TokenId id : ids) {
    tokens.push_back({{"id", id}, {"piece", piece_json(tokenizer.bytes_of(id))}});
  }
  return json_response(200, {{"tokens", std::move(tokens)}});
}

HttpResponse detokenize(const chat::Assistant& assistant, const HttpRequest& request) {
  const Json body = parse_body(request);
  const Fields fields(body, "");
  const Json* tokens = fields.list("tokens", kMostTextTokens);
  if (tokens == nullptr) {
    fields.miss("tokens", "a list of token ids");
  }
  const text::Tokenizer& tokenizer = assistant.builder().tokenizer();
  const std::vector<TokenId> ids =
      tokens->empty() ? std::vector<TokenId>{}
                      : read_ids(*tokens, fields.path_of("tokens"), assistant.model().vocab_size);
  return json_response(200, {{"content", tokenizer.decode(ids, false)}});
}

HttpResponse apply_template(const chat::Assistant& assistant, const HttpRequest& request) {
  const ChatPrompt prompt = read_chat_prompt(parse_body(request), assistant.model());
  return json_response(200, {{"prompt", render_prompt(assistant.builder(), prompt).text.bytes()}});
}

}  // namespace smol::server
