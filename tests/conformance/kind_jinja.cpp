// jinja: one template with its variables per case.
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>

#include "base/error.h"
#include "base/utf8.h"
#include "conformance/conformance.h"
#include "conformance/jinja_outcome.h"
#include "jinja/compare.h"
#include "jinja/error.h"
#include "jinja/json_input.h"
#include "jinja/text.h"

namespace smol::conformance {
namespace {

using jinja::Dict;
using jinja::Value;

const std::string& text_of(const Dict& record, std::string_view key) {
  const Value* value = record.find(key);
  if (value == nullptr || !value->is_string()) {
    throw Error(ErrorCode::BadInput, std::string(key) + ": expected a string");
  }
  return value->bytes();
}

// Byte ranges -> [begin, end] in code points, as Python counts.
jinja::List code_point_spans(const jinja::Rendered& rendered) {
  const std::string_view text = rendered.text.bytes();
  jinja::List spans;
  for (const jinja::Range& span : rendered.generation_spans) {
    const auto at = [text](std::size_t end) {
      return Value::integer(static_cast<std::int64_t>(utf8::length(text.substr(0, end))));
    };
    spans.push_back(Value::list({at(span.begin), at(span.end)}));
  }
  return spans;
}

std::string shown(const JinjaOutcome& outcome) {
  return outcome.text ? *outcome.text : outcome.phase + " error: " + outcome.error;
}

bool same_spans(const JinjaOutcome& outcome, const Value* expected) {
  jinja::Budget budget(~std::uint64_t{0}, ~std::uint64_t{0});
  const Value wanted = expected == nullptr ? Value::list({}) : *expected;
  return jinja::equals(budget, Value::list(outcome.spans), wanted);
}

bool fails_as(const JinjaOutcome& outcome, const Dict& error) {
  if (outcome.text || outcome.phase != text_of(error, "phase")) {
    return false;
  }
  const Value* raised = error.find("raised_by_template");
  const bool by_template = raised != nullptr && raised->boolean();
  return by_template == outcome.raised_by_template &&
         (!by_template || outcome.error == text_of(error, "message"));
}

}  // namespace

std::tm parse_moment(std::string_view text) {
  std::tm moment{};
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%d-%d-%dT%d:%d:%d", &moment.tm_year, &moment.tm_mon,
                  &moment.tm_mday, &moment.tm_hour, &moment.tm_min, &moment.tm_sec) != 6) {
    throw Error(ErrorCode::BadInput, "now: expected a date and a time, found " + copy);
  }
  moment.tm_year -= 1900;
  moment.tm_mon -= 1;
  return moment;
}

JinjaOutcome run_template(const std::string& source, const Dict& variables, const std::tm& now) {
  JinjaOutcome outcome;
  jinja::RenderOptions options;
  options.now = now;
  try {
    const jinja::Rendered rendered = jinja::Template::parse(source).render(variables, options);
    outcome.text = rendered.text.bytes();
    outcome.spans = code_point_spans(rendered);
  } catch (const jinja::TemplateError& error) {
    outcome.error = error.message();
    outcome.phase = error.phase() == jinja::TemplateError::Phase::Parse ? "parse" : "render";
    outcome.raised_by_template = error.raised_by_template();
  }
  return outcome;
}

void judge(const JinjaOutcome& outcome, const Dict& record, const std::string& id, Report& report) {
  const Value* expected = record.find("expected");
  bool right = false;
  std::string wanted;
  if (expected != nullptr) {
    const Value* spans = record.find("generation_spans");
    wanted = expected->bytes();
    right = outcome.text == wanted && same_spans(outcome, spans);
  } else {
    const Dict& error = record.find("error")->dict();
    wanted = text_of(error, "phase") + " error: " + text_of(error, "message");
    right = fails_as(outcome, error);
  }
  if (right) {
    report.pass();
  } else {
    report.fail(id, wanted, shown(outcome));
  }
}

void for_each_value(const std::filesystem::path& file, Report& report,
                    const std::function<void(const Dict&, const std::string&)>& one) {
  std::ifstream in(file);
  if (!in) {
    throw Error(ErrorCode::NotFound, file.string() + ": cannot be read");
  }
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    std::string id = file.filename().string() + ":" + std::to_string(number);
    try {
      const Value record = jinja::value_from_json(line, id);
      const Value* name = record.dict().find("id");
      id = name == nullptr ? id : name->bytes();
      one(record.dict(), id);
    } catch (const std::exception& error) {
      report.fail(id, "no exception", error.what());
    }
  }
}

void run_jinja(const Options& options, Report& report) {
  for_each_value(options.cases, report, [&](const Dict& record, const std::string& id) {
    const Value* variables = record.find("vars");
    const Value* now = record.find("now");
    const JinjaOutcome outcome =
        run_template(text_of(record, "template"), variables == nullptr ? Dict() : variables->dict(),
                     parse_moment(now == nullptr ? kFrozenMoment : now->bytes()));
    judge(outcome, record, id, report);
  });
}

}  // namespace smol::conformance
