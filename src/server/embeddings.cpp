#include "server/embeddings.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>

#include "base/error.h"
#include "base/json.h"
#include "server/answer_fields.h"
#include "server/api_error.h"
#include "server/base64.h"
#include "server/completion_request.h"
#include "server/fields.h"

namespace smol::server {
namespace {

constexpr std::size_t kMostInputs = 512;

std::vector<TokenId> ids_of(const RawInput& input, const text::Tokenizer& tokenizer) {
  const auto* text = std::get_if<std::string>(&input);
  return text == nullptr ? std::get<std::vector<TokenId>>(input)
                         : tokenizer.encode(*text, text::AddedTokens::None);
}

std::string little_endian_bytes(const std::vector<float>& values) {
  std::string out;
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) {
      out += static_cast<char>((bits >> shift) & 255U);
    }
  }
  return out;
}

Json embedding_json(const std::vector<float>& values, bool as_base64) {
  return as_base64 ? Json(base64(little_endian_bytes(values))) : Json(values);
}

HttpResponse embeddings_response(chat::Assistant& assistant, const EmbeddingRequest& request,
                                 const std::stop_token& stop) {
  Json data = Json::array();
  std::size_t tokens = 0;
  for (const std::vector<TokenId>& ids : request.inputs) {
    data.push_back({{"object", "embedding"},
                    {"index", data.size()},
                    {"embedding", embedding_json(assistant.embed(ids, stop), request.as_base64)}});
    tokens += ids.size();
  }
  return json_response(200, {{"object", "list"},
                             {"data", std::move(data)},
                             {"model", assistant.model().id},
                             {"usage", {{"prompt_tokens", tokens}, {"total_tokens", tokens}}}});
}

}  // namespace

EmbeddingRequest read_embedding_request(const Json& body, const chat::ModelFacts& model,
                                        const text::Tokenizer& tokenizer) {
  const Fields fields(body, "");
  check_model(fields, model);
  EmbeddingRequest request;
  request.as_base64 = fields.choice("encoding_format", {"float", "base64"}) == 1U;
  fields.count("dimensions", {model.embedding_size, model.embedding_size});
  fields.text("user");
  const auto inputs = read_inputs(fields, "input", model.vocab_size, kMostInputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    request.inputs.push_back(ids_of(inputs[i], tokenizer));
    if (request.inputs.back().size() > model.context) {
      throw Error{ErrorCode::BadInput, (inputs.size() == 1 ? "input" : joined_path("input", i)) +
                                           ": expected at most " + std::to_string(model.context) +
                                           " tokens (the context), found " +
                                           std::to_string(request.inputs.back().size())};
    }
  }
  return request;
}

void make_embeddings(chat::Assistant& assistant, const EmbeddingRequest& request, LiveReply& reply,
                     const std::stop_token& stop) noexcept {
  try {
    reply.respond(embeddings_response(assistant, request, stop));
  } catch (const Error& error) {
    reply.respond(to_response(stop.stop_requested() ? cancelled_error() : api_error_of(error)));
  } catch (const std::exception& error) {
    reply.respond(to_response({.status = 500, .message = error.what(), .type = "server_error"}));
  }
}

}  // namespace smol::server
