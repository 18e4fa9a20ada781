#include "text/json_document.h"

#include <utility>

#include "base/error.h"
#include "text/vocabulary.h"

namespace smol::text {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxMembers = 4096;  // lookup in an object is linear

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorCode::BadInput, what);
}

// Receives nlohmann's events. The names are that interface's.
class Reader {
 public:
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  JsonDocument take() { return std::move(document_); }

  bool null() { return scalar(Json(nullptr), "null"); }

  bool boolean(bool value) { return scalar(Json(value), "a boolean"); }

  bool number_integer(Json::number_integer_t value) {
    return scalar(Json(value), "a negative number");
  }

  bool number_unsigned(Json::number_unsigned_t value);

  bool number_float(Json::number_float_t value, const string_t& /*text*/) {
    return scalar(Json(value), "a number with a fraction");
  }

  bool string(string_t& value);

  bool binary(binary_t& /*value*/) { return false; }

  bool start_object(std::size_t /*size*/);
  bool end_object();
  bool start_array(std::size_t /*size*/);
  bool end_array();
  bool key(string_t& name);

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& error) {
    fail("byte " + std::to_string(position) + ": " + json_error_text(error));
  }

 private:
  enum class Place { Tree, Vocab, Merges, MergePair };

  [[noreturn]] void fail_here(const std::string& found) const;
  bool scalar(Json value, const char* found);

  bool in_model() const { return open_.size() == 2 && model_depth_ == 2; }

  Json& add(Json value);
  bool open(Json container);
  bool close();
  JsonDocument::Text keep(std::string_view text);

  JsonDocument document_;
  Place place_ = Place::Tree;
  std::vector<Json*> open_;  // containers from the root down
  std::string key_;
  std::size_t model_depth_ = 0;   // 2 while the root's "model" is open
  JsonDocument::Text pending_{};  // a vocabulary key that waits for its id
  std::vector<JsonDocument::Text> pair_;
};

void Reader::fail_here(const std::string& found) const {
  if (place_ == Place::Vocab) {
    fail("model.vocab entry " + std::to_string(document_.vocab.size()) +
         ": expected an id from 0 to " + std::to_string(kMaxTokenId) + ", found " + found);
  }
  fail("model.merges entry " + std::to_string(document_.merges.size()) +
       ": expected \"a b\" or [\"a\", \"b\"], found " + found);
}

JsonDocument::Text Reader::keep(std::string_view text) {
  const JsonDocument::Text kept{document_.texts.size(), text.size()};
  document_.texts += text;
  return kept;
}

Json& Reader::add(Json value) {
  if (open_.empty()) {
    return document_.tree = std::move(value);
  }
  Json& parent = *open_.back();
  if (parent.is_array()) {
    return parent.emplace_back(std::move(value));
  }
  if (parent.size() >= kMaxMembers) {
    fail("an object with over " + std::to_string(kMaxMembers) + " members");
  }
  return parent[key_] = std::move(value);
}

bool Reader::scalar(Json value, const char* found) {
  if (place_ != Place::Tree) {
    fail_here(found);
  }
  add(std::move(value));
  return true;
}

bool Reader::open(Json container) {
  if (open_.size() >= kMaxDepth) {
    fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
  }
  if (open_.size() == 1 && key_ == "model" && open_[0]->is_object()) {
    model_depth_ = 2;
  }
  open_.push_back(&add(std::move(container)));
  return true;
}

bool Reader::close() {
  if (open_.size() == 2) {
    model_depth_ = 0;
  }
  open_.pop_back();
  return true;
}

bool Reader::number_unsigned(Json::number_unsigned_t value) {
  if (place_ != Place::Vocab) {
    return scalar(Json(value), "a number");
  }
  if (value > static_cast<std::uint64_t>(kMaxTokenId)) {
    fail_here(std::to_string(value));
  }
  document_.vocab.push_back({pending_, static_cast<TokenId>(value)});
  return true;
}

bool Reader::string(string_t& value) {
  if (place_ == Place::Merges) {
    document_.merges.push_back({keep(value), {}});
    return true;
  }
  if (place_ == Place::MergePair) {
    pair_.push_back(keep(value));
    return true;
  }
  return scalar(Json(std::move(value)), "a string");
}

bool Reader::start_object(std::size_t /*size*/) {
  if (place_ != Place::Tree) {
    fail_here("an object");
  }
  if (in_model() && key_ == "vocab") {
    if (document_.has_vocab) {
      fail("model.vocab: occurs twice");
    }
    document_.has_vocab = true;
    place_ = Place::Vocab;
    return true;
  }
  return open(Json::object());
}

bool Reader::end_object() {
  if (place_ == Place::Vocab) {
    place_ = Place::Tree;
    return true;
  }
  return close();
}

bool Reader::start_array(std::size_t /*size*/) {
  if (place_ == Place::Merges) {
    place_ = Place::MergePair;
    return true;
  }
  if (place_ != Place::Tree) {
    fail_here("an array");
  }
  if (in_model() && key_ == "merges") {
    if (document_.has_merges) {
      fail("model.merges: occurs twice");
    }
    document_.has_merges = true;
    place_ = Place::Merges;
    return true;
  }
  return open(Json::array());
}

bool Reader::end_array() {
  if (place_ == Place::MergePair) {
    if (pair_.size() != 2 || pair_[1].length == 0) {
      fail_here(pair_.size() == 2 ? "an empty half"
                                  : "an array of " + std::to_string(pair_.size()));
    }
    document_.merges.push_back({pair_[0], pair_[1]});
    pair_.clear();
    place_ = Place::Merges;
    return true;
  }
  if (place_ == Place::Merges) {
    place_ = Place::Tree;
    return true;
  }
  return close();
}

bool Reader::key(string_t& name) {
  if (place_ == Place::Vocab) {
    pending_ = keep(name);
    return true;
  }
  key_ = std::move(name);
  return true;
}

}  // namespace

JsonDocument read_json_document(std::string_view text) {
  Reader reader;
  Json::sax_parse(text.begin(), text.end(), &reader);
  return reader.take();
}

}  // namespace smol::text
