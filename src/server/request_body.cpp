#include "server/request_body.h"

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"

namespace smol::server {

Json parse_body(const HttpRequest& request) {
  if (!utf8::is_valid(request.body)) {
    throw Error{ErrorCode::BadInput, "the body: expected UTF-8, found other bytes"};
  }
  return parse_json(request.body, "the body", {.members = 1024, .values = 1UL << 20U});
}

}  // namespace smol::server
