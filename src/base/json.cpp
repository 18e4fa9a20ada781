#include "base/json.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace smol {
namespace {

constexpr std::size_t kMaxDepth = 256;

// Events of the parser -> a document, within limits. (The library's own parser with a callback
// looks through the whole list again for each object in it.)
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view what, JsonLimits limits) : what_(what), limits_(limits) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }

  bool boolean(bool value) override { return add(value); }

  bool number_integer(std::int64_t value) override { return add(value); }

  bool number_unsigned(std::uint64_t value) override { return add(value); }

  bool number_float(double value, const std::string& /*text*/) override { return add(value); }

  bool string(std::string& value) override { return add(std::move(value)); }

  bool binary(Json::binary_t& value) override { return add(std::move(value)); }

  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }

  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }

  bool end_object() override { return close(); }

  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    Json& object = *open_.back();
    member_ = &object[name];  // of two equal names the last one counts
    if (object.size() > limits_.members) {
      refuse("expected at most " + std::to_string(limits_.members) +
             " members in an object, found more");
    }
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const Json::exception& error) override {
    refuse(json_error_text(error));
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const {
    throw Error(ErrorCode::BadInput, std::string(what_) + ": " + text);
  }

  Json& place() {
    if (open_.empty()) {
      return root_;
    }
    return open_.back()->is_array() ? open_.back()->emplace_back() : *member_;
  }

  bool add(Json value) {
    if (++n_values_ > limits_.values) {
      refuse("expected at most " + std::to_string(limits_.values) + " values, found more");
    }
    place() = std::move(value);
    return true;
  }

  bool open(Json container) {
    if (open_.size() == kMaxDepth) {
      refuse("JSON nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    if (++n_values_ > limits_.values) {
      refuse("expected at most " + std::to_string(limits_.values) + " values, found more");
    }
    Json& here = place();
    here = std::move(container);
    open_.push_back(&here);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view what_;
  JsonLimits limits_;
  Json root_;
  std::vector<Json*> open_;  // from the root inwards; none moves while one inside it is open
  Json* member_ = nullptr;   // of the innermost object: its value comes next
  std::size_t n_values_ = 0;
};

}  // namespace

std::string json_error_text(const std::exception& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.starts_with("[json.exception.") ? text.find("] ") : text.npos;
  return std::string(end == text.npos ? text : text.substr(end + 2));
}

Json parse_json(std::string_view text, std::string_view what, JsonLimits limits) {
  Builder builder(what, limits);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace smol
