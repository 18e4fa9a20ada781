#include "jinja/objects.h"

#include <array>
#include <string>

#include "jinja/compare.h"
#include "jinja/iteration.h"
#include "jinja/names.h"
#include "jinja/operators.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

class ListIterator final : public ValueIterator {
 public:
  explicit ListIterator(List items) : items_(std::move(items)) {}

  std::optional<Value> next(Runtime& runtime) override {
    runtime.budget().step();
    return next_ < items_.size() ? std::optional<Value>(items_[next_++]) : std::nullopt;
  }

 private:
  List items_;
  std::size_t next_ = 0;
};

class IteratorObject final : public Object {
 public:
  IteratorObject(std::shared_ptr<ValueIterator> iterator, std::uint32_t depth,
                 std::string_view type_name)
      : Object(depth + 1), iterator_(std::move(iterator)), type_name_(type_name) {}

  std::string_view type_name() const noexcept override { return type_name_; }

  bool iterable() const noexcept override { return true; }

  std::shared_ptr<ValueIterator> iterate(Runtime& /*runtime*/) override { return iterator_; }

 private:
  std::shared_ptr<ValueIterator> iterator_;
  std::string type_name_;
};

class DictView final : public Object {
 public:
  DictView(const Value& dict, ViewKind kind) : Object(dict.depth() + 1), dict_(dict), kind_(kind) {}

  std::string_view type_name() const noexcept override {
    static constexpr std::array<std::string_view, 3> kNames = {"dict_keys", "dict_values",
                                                               "dict_items"};
    return kNames[static_cast<std::size_t>(kind_)];
  }

  MarkedString repr(Runtime& runtime) override {
    MarkedString out(std::string(type_name()) + "([", Origin::Template);
    bool first = true;
    for (const Dict::Entry& entry : dict_.dict()) {
      out.append(first ? "" : ", ", Origin::Template);
      first = false;
      append_repr(runtime, out, make_item(runtime, entry, kind_));
    }
    out.append("])", Origin::Template);
    return out;
  }

  std::optional<std::size_t> length(Runtime& /*runtime*/) override { return dict_.dict().size(); }

  bool iterable() const noexcept override { return true; }

  std::shared_ptr<ValueIterator> iterate(Runtime& /*runtime*/) override {
    return std::make_shared<EntryIterator>(*this, false);
  }

  std::shared_ptr<ValueIterator> iterate_reversed(Runtime& /*runtime*/) override {
    return std::make_shared<EntryIterator>(*this, true);
  }

  std::optional<bool> contains(Runtime& runtime, const Value& value) override {
    if (kind_ == ViewKind::Values) {
      return std::nullopt;
    }
    const bool pair = value.is(Value::Kind::Tuple) && value.items().size() == 2;
    if (kind_ == ViewKind::Items && !pair) {
      return false;
    }
    const Value& key = kind_ == ViewKind::Keys ? value : value.items()[0];
    const Value* found = dict_.dict().find(key, runtime.budget());
    return found != nullptr && (kind_ == ViewKind::Keys ||
                                smol::jinja::equals(runtime.budget(), *found, value.items()[1]));
  }

 private:
  class EntryIterator final : public ValueIterator {
   public:
    EntryIterator(const DictView& view, bool reversed)
        : dict_(view.dict_), kind_(view.kind_), reversed_(reversed) {}

    std::optional<Value> next(Runtime& runtime) override {
      const Dict& dict = dict_.dict();
      if (next_ >= dict.size()) {
        return std::nullopt;
      }
      const std::size_t index = reversed_ ? dict.size() - 1 - next_ : next_;
      ++next_;
      return make_item(runtime, dict.entry(index), kind_);
    }

   private:
    Value dict_;
    ViewKind kind_;
    bool reversed_;
    std::size_t next_ = 0;
  };

  static Value make_item(Runtime& runtime, const Dict::Entry& entry, ViewKind kind) {
    switch (kind) {
      case ViewKind::Keys:
        return entry.first;
      case ViewKind::Values:
        return entry.second;
      case ViewKind::Items:
        break;
    }
    return runtime.tuple({entry.first, entry.second});
  }

  Value dict_;
  ViewKind kind_;
};

// Holds what templates assign to it, even itself: it counts as shallow, and Runtime empties it at
// the end.
class Namespace final : public Object {
 public:
  explicit Namespace(Dict attributes) : attributes_(std::move(attributes)) {}

  std::string_view type_name() const noexcept override { return "Namespace"; }

  std::string type_repr() const override { return "jinja2.utils.Namespace object"; }

  MarkedString repr(Runtime& runtime) override {
    if (printing_) {
      return {"<Namespace {...}>", Origin::Template};
    }
    const Runtime::Level level(runtime);
    const Printing printing(printing_);
    MarkedString out("<Namespace {", Origin::Template);
    bool first = true;
    for (const auto& [key, value] : attributes_) {
      out.append(first ? "" : ", ", Origin::Template);
      first = false;
      append_repr(runtime, out, key);
      out.append(": ", Origin::Template);
      append_repr(runtime, out, value);
    }
    out.append("}>", Origin::Template);
    return out;
  }

  Value attribute(Runtime& /*runtime*/, std::string_view name) override {
    const Value* found = attributes_.find(name);
    return found == nullptr ? Value() : *found;
  }

  void set(std::string_view name, Value value) {
    attributes_.set(name, std::move(value), Origin::Template);
  }

  void clear() noexcept override { attributes_ = Dict(); }

 private:
  class Printing {
   public:
    explicit Printing(bool& flag) : flag_(flag) { flag_ = true; }

    ~Printing() { flag_ = false; }

    Printing(const Printing&) = delete;
    Printing& operator=(const Printing&) = delete;

   private:
    bool& flag_;
  };

  Dict attributes_;
  bool printing_ = false;
};

class BuiltinFunction final : public Object {
 public:
  BuiltinFunction(std::string_view repr, Function function) : repr_(repr), function_(function) {}

  std::string_view type_name() const noexcept override {
    return repr_.starts_with("<class") ? "type" : "function";
  }

  MarkedString repr(Runtime& /*runtime*/) override { return {repr_, Origin::Template}; }

  bool callable() const noexcept override { return true; }

  Value call(Runtime& runtime, const CallArgs& args) override { return function_(runtime, args); }

 private:
  std::string repr_;
  Function function_;
};

}  // namespace

Value make_dict_view(const Value& dict, ViewKind kind) {
  return Value::object(std::make_shared<DictView>(dict, kind));
}

Value make_namespace(Runtime& runtime, Dict attributes) {
  auto object = std::make_shared<Namespace>(std::move(attributes));
  runtime.keep(object);
  return Value::object(std::move(object));
}

bool is_namespace(const Value& value) noexcept {
  return value.is(Value::Kind::Object) &&
         dynamic_cast<const Namespace*>(&value.object()) != nullptr;
}

void set_namespace_attribute(Runtime& runtime, const Value& value, std::string_view name,
                             Value attribute) {
  runtime.budget().charge(name.size() + 2 * sizeof(Value));
  dynamic_cast<Namespace&>(value.object()).set(name, std::move(attribute));
}

Value make_iterator(std::shared_ptr<ValueIterator> iterator, std::uint32_t depth,
                    std::string_view type_name) {
  return Value::object(std::make_shared<IteratorObject>(std::move(iterator), depth, type_name));
}

Value make_list_iterator(List items, std::string_view type_name) {
  std::uint32_t depth = 0;
  for (const Value& item : items) {
    depth = std::max(depth, item.depth());
  }
  return make_iterator(std::make_shared<ListIterator>(std::move(items)), depth, type_name);
}

Value make_function(std::string_view repr, Function function) {
  return Value::object(std::make_shared<BuiltinFunction>(repr, function));
}

}  // namespace smol::jinja
