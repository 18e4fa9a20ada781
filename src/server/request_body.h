// A request's body as JSON.
#pragma once

#include "base/json_fwd.h"
#include "server/http_message.h"

namespace smol::server {

// Throws Error{BadInput}: no UTF-8, no JSON, nested too deep, too many values.
Json parse_body(const HttpRequest& request);

}  // namespace smol::server
