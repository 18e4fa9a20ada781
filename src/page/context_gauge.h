// How full the model's context is, as templates read it: docs/page.md, "Contexts".
#pragma once

#include "page/house.h"

namespace smol::page {

// {used, max} of the session's active path: what its last answer left, or where none stands at the
// end (an import, a note, a message that is not answered), what the next prompt would hold of it.
jinja::Value context_value(const House& house, const store::SessionId& session);
// Of a page without a session.
jinja::Value empty_context_value(const House& house);

}  // namespace smol::page
