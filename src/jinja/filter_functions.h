// The filters, one function each; filters.cpp lists them by name.
#pragma once

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace smol::jinja::filters {

// text
Value upper(Runtime& runtime, const Value& input, const CallArgs& args);
Value lower(Runtime& runtime, const Value& input, const CallArgs& args);
Value capitalize(Runtime& runtime, const Value& input, const CallArgs& args);
Value title(Runtime& runtime, const Value& input, const CallArgs& args);
Value trim(Runtime& runtime, const Value& input, const CallArgs& args);
Value replace(Runtime& runtime, const Value& input, const CallArgs& args);
Value center(Runtime& runtime, const Value& input, const CallArgs& args);
Value indent(Runtime& runtime, const Value& input, const CallArgs& args);
Value truncate(Runtime& runtime, const Value& input, const CallArgs& args);
Value wordcount(Runtime& runtime, const Value& input, const CallArgs& args);
Value wordwrap(Runtime& runtime, const Value& input, const CallArgs& args);
Value string(Runtime& runtime, const Value& input, const CallArgs& args);
Value format(Runtime& runtime, const Value& input, const CallArgs& args);
Value join(Runtime& runtime, const Value& input, const CallArgs& args);

// HTML and the web
Value escape(Runtime& runtime, const Value& input, const CallArgs& args);
Value forceescape(Runtime& runtime, const Value& input, const CallArgs& args);
Value safe(Runtime& runtime, const Value& input, const CallArgs& args);
Value striptags(Runtime& runtime, const Value& input, const CallArgs& args);
Value xmlattr(Runtime& runtime, const Value& input, const CallArgs& args);
Value urlencode(Runtime& runtime, const Value& input, const CallArgs& args);
Value urlize(Runtime& runtime, const Value& input, const CallArgs& args);

// numbers and others
Value abs(Runtime& runtime, const Value& input, const CallArgs& args);
Value integer(Runtime& runtime, const Value& input, const CallArgs& args);
Value floating(Runtime& runtime, const Value& input, const CallArgs& args);
Value round(Runtime& runtime, const Value& input, const CallArgs& args);
Value filesizeformat(Runtime& runtime, const Value& input, const CallArgs& args);
Value default_value(Runtime& runtime, const Value& input, const CallArgs& args);
Value attr(Runtime& runtime, const Value& input, const CallArgs& args);
Value tojson(Runtime& runtime, const Value& input, const CallArgs& args);
Value pprint(Runtime& runtime, const Value& input, const CallArgs& args);

// sequences
Value length(Runtime& runtime, const Value& input, const CallArgs& args);
Value first(Runtime& runtime, const Value& input, const CallArgs& args);
Value last(Runtime& runtime, const Value& input, const CallArgs& args);
Value list(Runtime& runtime, const Value& input, const CallArgs& args);
Value reverse(Runtime& runtime, const Value& input, const CallArgs& args);
Value random(Runtime& runtime, const Value& input, const CallArgs& args);
Value sum(Runtime& runtime, const Value& input, const CallArgs& args);
Value items(Runtime& runtime, const Value& input, const CallArgs& args);
Value batch(Runtime& runtime, const Value& input, const CallArgs& args);
Value slice(Runtime& runtime, const Value& input, const CallArgs& args);
Value sort(Runtime& runtime, const Value& input, const CallArgs& args);
Value dictsort(Runtime& runtime, const Value& input, const CallArgs& args);
Value unique(Runtime& runtime, const Value& input, const CallArgs& args);
Value min(Runtime& runtime, const Value& input, const CallArgs& args);
Value max(Runtime& runtime, const Value& input, const CallArgs& args);
Value groupby(Runtime& runtime, const Value& input, const CallArgs& args);
Value map(Runtime& runtime, const Value& input, const CallArgs& args);
Value select(Runtime& runtime, const Value& input, const CallArgs& args);
Value reject(Runtime& runtime, const Value& input, const CallArgs& args);
Value selectattr(Runtime& runtime, const Value& input, const CallArgs& args);
Value rejectattr(Runtime& runtime, const Value& input, const CallArgs& args);

}  // namespace smol::jinja::filters
