// bytes, as str.encode() makes them.
#include <optional>
#include <string>
#include <utility>

#include "jinja/arguments.h"
#include "jinja/fault.h"
#include "jinja/methods.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/slice_bounds.h"
#include "jinja/string_methods.h"
#include "jinja/strings.h"

namespace smol::jinja {
namespace {

std::string escape_byte(char byte, char mark) {
  switch (byte) {
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (byte == mark) {
    return std::string("\\") + byte;
  }
  if (byte >= ' ' && byte < 0x7F) {
    return std::string(1, byte);
  }
  const auto value = static_cast<unsigned char>(byte);
  constexpr std::string_view kHex = "0123456789abcdef";
  return std::string("\\x") + kHex[value >> 4U] + kHex[value & 0xFU];
}

class Bytes final : public Object {
 public:
  explicit Bytes(MarkedString utf8) : text_(std::move(utf8)) {}

  std::string_view type_name() const noexcept override { return "bytes"; }

  MarkedString repr(Runtime& /*runtime*/) override {
    const std::string& bytes = text_.bytes();
    const bool only_single =
        bytes.find('\'') != std::string::npos && bytes.find('"') == std::string::npos;
    const char mark = only_single ? '"' : '\'';
    MarkedString out(std::string("b") + mark, Origin::Template);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      out.append(escape_byte(bytes[i], mark), text_.origin_at(i));
    }
    out.append(std::string_view(&mark, 1), Origin::Template);
    return out;
  }

  std::optional<std::size_t> length(Runtime& /*runtime*/) override { return text_.size(); }

  bool iterable() const noexcept override { return true; }

  std::shared_ptr<ValueIterator> iterate(Runtime& runtime) override {
    runtime.budget().charge(text_.size());
    return std::make_shared<Numbers>(text_.bytes());
  }

  Value item(Runtime& /*runtime*/, const Value& key) override {
    if (!key.is_integral()) {
      return {};
    }
    const std::int64_t index = to_index(key);
    const auto size = static_cast<std::int64_t>(text_.size());
    const std::int64_t position = index < 0 ? index + size : index;
    return position >= 0 && position < size
               ? number(text_.bytes()[static_cast<std::size_t>(position)])
               : Value();
  }

  Value slice(Runtime& runtime, const Value& start, const Value& stop, const Value& step) override {
    const SliceBounds bounds = slice_bounds(text_.size(), start, stop, step);
    MarkedString result;
    std::int64_t at = bounds.start;
    for (std::size_t i = 0; i < bounds.count; ++i, at += i < bounds.count ? bounds.step : 0) {
      const auto begin = static_cast<std::size_t>(at);
      result.append(text_, begin, begin + 1);
    }
    return make_bytes(runtime, result);
  }

  const Method* method(std::string_view name) const noexcept override {
    static constexpr Method kSplit{"split", split};
    static constexpr Method kRsplit{"rsplit", rsplit};
    if (name == kSplit.name) {
      return &kSplit;
    }
    return name == kRsplit.name ? &kRsplit : nullptr;
  }

  std::optional<bool> contains(Runtime& /*runtime*/, const Value& value) override {
    if (const Bytes* const part = as_bytes(value)) {
      return find_bytes(text_.bytes(), part->text_.bytes()).has_value();
    }
    if (!value.is_integral()) {
      raise_type("a bytes-like object is required");
    }
    const std::int64_t byte = to_index(value);
    if (byte < 0 || byte > 0xFF) {
      raise_value("byte must be in range(0, 256)");
    }
    return text_.bytes().find(static_cast<char>(byte)) != std::string::npos;
  }

  bool equals(Budget& /*budget*/, const Object& other) const override {
    const auto* const bytes = dynamic_cast<const Bytes*>(&other);
    return bytes != nullptr && bytes->text_.bytes() == text_.bytes();
  }

 private:
  class Numbers final : public ValueIterator {
   public:
    explicit Numbers(std::string bytes) : bytes_(std::move(bytes)) {}

    std::optional<Value> next(Runtime& runtime) override {
      runtime.budget().step();
      return next_ < bytes_.size() ? std::optional(number(bytes_[next_++])) : std::nullopt;
    }

   private:
    std::string bytes_;
    std::size_t next_ = 0;
  };

  static Value number(char byte) { return Value::integer(static_cast<unsigned char>(byte)); }

  static const Bytes* as_bytes(const Value& value) noexcept {
    return value.is(Value::Kind::Object) ? dynamic_cast<const Bytes*>(&value.object()) : nullptr;
  }

  static Value cut(Runtime& runtime, const Value& self, const Bound& args, Side from);
  static Value split(Runtime& runtime, const Value& self, const CallArgs& call);
  static Value rsplit(Runtime& runtime, const Value& self, const CallArgs& call);

  MarkedString text_;
};

bool is_ascii_space(char32_t c) noexcept {
  return c == U' ' || (c >= U'\t' && c <= U'\r');
}

Value Bytes::cut(Runtime& runtime, const Value& self, const Bound& args, Side from) {
  Splitting splitting{from, split_limit(args), is_ascii_space};
  if (args.given(0)) {
    const Bytes* const separator = as_bytes(args[0]);
    if (separator == nullptr) {
      raise_type("a bytes-like object is required");
    }
    splitting.separator = &separator->text_;
  }
  List pieces;
  for (const MarkedString& piece : split_text(runtime, as_bytes(self)->text_, splitting)) {
    pieces.push_back(make_bytes(runtime, piece));
  }
  return runtime.list(std::move(pieces));
}

Value Bytes::split(Runtime& runtime, const Value& self, const CallArgs& call) {
  return cut(runtime, self, Bound(call, {"split", {"sep", "maxsplit"}}), Side::Left);
}

Value Bytes::rsplit(Runtime& runtime, const Value& self, const CallArgs& call) {
  return cut(runtime, self, Bound(call, {"rsplit", {"sep", "maxsplit"}}), Side::Right);
}

}  // namespace

Value make_bytes(Runtime& runtime, const MarkedString& utf8) {
  runtime.budget().charge(utf8.size());
  return Value::object(std::make_shared<Bytes>(utf8));
}

}  // namespace smol::jinja
