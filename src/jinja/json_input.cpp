#include "jinja/json_input.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace smol::jinja {
namespace {

// Builds values from the parser's events (names and types are nlohmann's).
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view what, Origin origin) : what_(what), origin_(origin) {}

  bool null() override { return add(Value::none()); }

  bool boolean(bool value) override { return add(Value::boolean(value)); }

  bool number_integer(number_integer_t value) override { return add(Value::integer(value)); }

  bool number_unsigned(number_unsigned_t value) override {
    return add(Value::integer(BigInt::from_digits(std::to_string(value), 10)));
  }

  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_of(".eE") != std::string::npos) {
      return add(Value::number(value));
    }
    const bool negative = text[0] == '-';
    if (text.size() > BigInt::kMaxDigits) {
      throw Error(ErrorCode::BadInput, std::string(what_) + ": an integer of too many digits");
    }
    const BigInt magnitude =
        BigInt::from_digits(std::string_view(text).substr(negative ? 1 : 0), 10);
    return add(Value::integer(negative ? -magnitude : magnitude));
  }

  bool string(string_t& value) override { return add(Value::string(std::move(value), origin_)); }

  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*count*/) override { return open(true); }

  bool key(string_t& name) override {
    open_.back().key = std::move(name);
    return true;
  }

  bool end_object() override {
    Value value = Value::dict(std::move(open_.back().dict));
    open_.pop_back();
    return add(std::move(value));
  }

  bool start_array(std::size_t /*count*/) override { return open(false); }

  bool end_array() override {
    Value value = Value::list(std::move(open_.back().list));
    open_.pop_back();
    return add(std::move(value));
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    throw Error(ErrorCode::BadInput, std::string(what_) + ": byte " + std::to_string(position) +
                                         ": " + json_error_text(error));
  }

  Value take() { return std::move(result_); }

 private:
  struct Open {
    bool is_object;
    Dict dict;
    List list;
    std::string key;
  };

  bool open(bool is_object) {
    constexpr std::size_t kMaxDepth = 256;
    if (open_.size() >= kMaxDepth) {
      throw Error(ErrorCode::BadInput,
                  std::string(what_) + ": nested deeper than " + std::to_string(kMaxDepth));
    }
    open_.push_back({is_object, {}, {}, {}});
    return true;
  }

  bool add(Value value) {
    if (open_.empty()) {
      result_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().dict.set(open_.back().key, std::move(value), origin_);
    } else {
      open_.back().list.push_back(std::move(value));
    }
    return true;
  }

  std::string_view what_;
  Origin origin_;
  std::vector<Open> open_;
  Value result_;
};

}  // namespace

Value value_from_json(std::string_view text, std::string_view what, Origin origin) {
  Builder builder(what, origin);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace smol::jinja
