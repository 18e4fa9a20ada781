// The parts of a prompt for those who debug: POST /tokenize, /detokenize, /apply-template. Plain
// functions that throw Error with the field's path.
#pragma once

#include "chat/assistant.h"
#include "server/http_message.h"

namespace smol::server {

using TextHandler = HttpResponse (*)(const chat::Assistant&, const HttpRequest&);

// {"content", "add_special", "parse_special", "with_pieces"} -> {"tokens"}
HttpResponse tokenize(const chat::Assistant& assistant, const HttpRequest& request);
// {"tokens"} -> {"content"}
HttpResponse detokenize(const chat::Assistant& assistant, const HttpRequest& request);
// As for /v1/chat/completions -> {"prompt"}
HttpResponse apply_template(const chat::Assistant& assistant, const HttpRequest& request);

}  // namespace smol::server
