// POST /v1/embeddings.
#pragma once

#include <stop_token>
#include <vector>

#include "base/ids.h"
#include "base/json_fwd.h"
#include "chat/assistant.h"
#include "server/live_reply.h"

namespace smol::server {

struct EmbeddingRequest {
  std::vector<std::vector<TokenId>> inputs;  // at least one, none empty or longer than the context
  bool as_base64 = false;                    // little-endian floats
};

// Throws Error with the field's path.
EmbeddingRequest read_embedding_request(const Json& body, const chat::ModelFacts& model,
                                        const text::Tokenizer& tokenizer);

// Waits for the assistant; a stop ends that early.
void make_embeddings(chat::Assistant& assistant, const EmbeddingRequest& request, LiveReply& reply,
                     const std::stop_token& stop) noexcept;

}  // namespace smol::server
