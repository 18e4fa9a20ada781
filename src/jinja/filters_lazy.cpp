// Filters that are generators in Jinja2: they do nothing before someone iterates over them.
#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>

#include "jinja/arguments.h"
#include "jinja/attribute_path.h"
#include "jinja/compare.h"
#include "jinja/filter_functions.h"
#include "jinja/filters.h"
#include "jinja/iteration.h"
#include "jinja/names.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/tests.h"
#include "jinja/text.h"

namespace smol::jinja::filters {
namespace {

using Kind = Value::Kind;

// Iterates over `source` from the first call of next() on.
class LazyIterator : public ValueIterator {
 public:
  explicit LazyIterator(Value source) : source_(std::move(source)) {}

 protected:
  const Value& source() const noexcept { return source_; }

  std::optional<Value> pull(Runtime& runtime) {
    if (!items_) {
      items_.emplace(runtime, source_);
    }
    return items_->next(runtime);
  }

 private:
  Value source_;
  std::optional<Iteration> items_;
};

std::uint32_t depth_of(const Value& source, const CallArgs& args) {
  std::uint32_t depth = source.depth();
  for (const Value& value : args.positional) {
    depth = std::max(depth, value.depth());
  }
  for (const auto& [name, value] : args.keyword) {
    depth = std::max(depth, value.depth());
  }
  return depth;
}

template <class Iterator, class... Args>
Value generator(Runtime& runtime, std::uint32_t depth, Args&&... args) {
  runtime.budget().charge(sizeof(Iterator));
  return make_iterator(std::make_shared<Iterator>(std::forward<Args>(args)...), depth, "generator");
}

class MapIterator final : public LazyIterator {
 public:
  MapIterator(Value source, CallArgs args)
      : LazyIterator(std::move(source)), args_(std::move(args)) {}

  std::optional<Value> next(Runtime& runtime) override {
    if (!prepared_) {
      prepared_ = true;
      done_ = !truthy(runtime, source());
      if (!done_) {
        prepare();
      }
    }
    if (done_) {
      return std::nullopt;
    }
    const auto item = pull(runtime);
    if (!item) {
      return std::nullopt;
    }
    const Runtime::Level level(runtime);
    return function_ != nullptr ? function_(runtime, *item, args_) : path_->get(runtime, *item);
  }

 private:
  void prepare() {
    const auto attribute =
        std::find_if(args_.keyword.begin(), args_.keyword.end(),
                     [](const auto& argument) { return argument.first == "attribute"; });
    if (args_.positional.empty() && attribute != args_.keyword.end()) {
      Value fallback;
      for (const auto& [name, value] : args_.keyword) {
        if (name == "default") {
          fallback = value;
        } else if (name != "attribute") {
          raise(FaultKind::Runtime, "Unexpected keyword argument " + quote(name));
        }
      }
      path_.emplace(attribute->second, fallback);
      return;
    }
    if (args_.positional.empty()) {
      raise(FaultKind::Runtime, "map requires a filter argument");
    }
    const Value name = args_.positional.front();
    function_ = name.is_string() ? find_filter(name.bytes()) : nullptr;
    if (function_ == nullptr) {
      raise(FaultKind::Runtime, "No filter named " + short_repr(name) + ".");
    }
    args_.positional.erase(args_.positional.begin());
  }

  CallArgs args_;
  bool prepared_ = false;
  bool done_ = false;
  FilterFunction function_ = nullptr;
  std::optional<AttributePath> path_;
};

class SelectIterator final : public LazyIterator {
 public:
  SelectIterator(Value source, CallArgs args, bool wanted, bool by_attribute)
      : LazyIterator(std::move(source)),
        args_(std::move(args)),
        wanted_(wanted),
        by_attribute_(by_attribute) {}

  std::optional<Value> next(Runtime& runtime) override {
    if (!prepared_) {
      prepared_ = true;
      done_ = !truthy(runtime, source());
      if (!done_) {
        prepare();
      }
    }
    const Runtime::Level level(runtime);
    while (!done_) {
      auto item = pull(runtime);
      if (!item) {
        return std::nullopt;
      }
      if (passes(runtime, path_ ? path_->get(runtime, *item) : *item) == wanted_) {
        return item;
      }
    }
    return std::nullopt;
  }

 private:
  void prepare() {
    if (by_attribute_) {
      if (args_.positional.empty()) {
        raise(FaultKind::Runtime, "Missing parameter for attribute name");
      }
      path_.emplace(args_.positional.front());
      args_.positional.erase(args_.positional.begin());
    }
    if (!args_.positional.empty()) {
      test_name_ = args_.positional.front();
      args_.positional.erase(args_.positional.begin());
    }
  }

  bool passes(Runtime& runtime, const Value& value) {
    if (test_name_.is_missing()) {
      return truthy(runtime, value);
    }
    const TestFunction test = test_name_.is_string() ? find_test(test_name_.bytes()) : nullptr;
    if (test == nullptr) {
      raise(FaultKind::Runtime, "No test named " + short_repr(test_name_) + ".");
    }
    return test(runtime, value, args_);
  }

  CallArgs args_;
  bool wanted_, by_attribute_;
  bool prepared_ = false;
  bool done_ = false;
  std::optional<AttributePath> path_;
  Value test_name_;
};

class UniqueIterator final : public LazyIterator {
 public:
  UniqueIterator(Value source, AttributePath path, bool case_sensitive)
      : LazyIterator(std::move(source)), path_(std::move(path)), case_sensitive_(case_sensitive) {}

  std::optional<Value> next(Runtime& runtime) override {
    while (auto item = pull(runtime)) {
      Value key = path_.get(runtime, *item);
      key = case_sensitive_ ? key : ignore_case(runtime, key);
      if (seen_.find(key, runtime.budget()) == nullptr) {
        runtime.budget().charge(4 * sizeof(Value));
        seen_.set(std::move(key), Value::none(), runtime.budget());
        return item;
      }
    }
    return std::nullopt;
  }

 private:
  AttributePath path_;
  bool case_sensitive_;
  Dict seen_;
};

class BatchIterator final : public LazyIterator {
 public:
  BatchIterator(Value source, Value count, Value fill)
      : LazyIterator(std::move(source)), count_(std::move(count)), fill_(std::move(fill)) {}

  std::optional<Value> next(Runtime& runtime) override {
    List row;
    if (held_) {
      row.push_back(std::move(*held_));
      held_.reset();
    }
    while (auto item = pull(runtime)) {
      if (count_.is_number() &&
          equals(runtime.budget(), count_, Value::integer(static_cast<std::int64_t>(row.size())))) {
        held_ = std::move(item);
        return runtime.list(std::move(row));
      }
      runtime.budget().charge(sizeof(Value));
      row.push_back(std::move(*item));
    }
    if (row.empty()) {
      return std::nullopt;
    }
    if (!fill_.is_none()) {
      fill(runtime, row);
    }
    return runtime.list(std::move(row));
  }

 private:
  void fill(Runtime& runtime, List& row) const {
    const auto size = static_cast<std::int64_t>(row.size());
    if (ordered(runtime.budget(), Ordering::Less, Value::integer(size), count_)) {
      const std::int64_t count = to_index(count_);
      runtime.budget().charge(static_cast<std::uint64_t>(count - size), sizeof(Value));
      row.resize(static_cast<std::size_t>(count), fill_);
    }
  }

  Value count_, fill_;
  std::optional<Value> held_;
};

class SliceIterator final : public LazyIterator {
 public:
  SliceIterator(Value source, Value slices, Value fill)
      : LazyIterator(std::move(source)), slices_(std::move(slices)), fill_(std::move(fill)) {}

  std::optional<Value> next(Runtime& runtime) override {
    if (!items_) {
      items_ = to_list(runtime, source());
      if (!slices_.is_number()) {
        raise_type("unsupported operand type(s) for //: 'int' and '" +
                   std::string(type_name(slices_)) + "'");
      }
      if (!truthy(runtime, slices_)) {
        raise(FaultKind::Arithmetic, "integer division or modulo by zero");
      }
      count_ = to_index(slices_);
    }
    if (index_ >= count_) {
      return std::nullopt;
    }
    const auto size = static_cast<std::int64_t>(items_->size());
    const std::int64_t each = size / count_;
    const std::int64_t longer = size % count_;
    const std::int64_t begin = index_ * each + std::min(index_, longer);
    const std::int64_t end = begin + each + (index_ < longer ? 1 : 0);
    List column(items_->begin() + begin, items_->begin() + end);
    if (!fill_.is_none() && index_ >= longer) {
      column.push_back(fill_);
    }
    ++index_;
    return runtime.list(std::move(column));
  }

 private:
  Value slices_, fill_;
  std::optional<List> items_;
  std::int64_t count_ = 0;
  std::int64_t index_ = 0;
};

class ItemsIterator final : public LazyIterator {
 public:
  using LazyIterator::LazyIterator;

  std::optional<Value> next(Runtime& runtime) override {
    if (source().is_undefined()) {
      return std::nullopt;
    }
    if (!source().is(Kind::Dict)) {
      raise_type("Can only get item pairs from a mapping.");
    }
    if (next_ >= source().dict().size()) {
      return std::nullopt;
    }
    const Dict::Entry& entry = source().dict().entry(next_++);
    return runtime.tuple({entry.first, entry.second});
  }

 private:
  std::size_t next_ = 0;
};

Value select_items(Runtime& runtime, const Value& input, const CallArgs& args, bool wanted,
                   bool by_attribute) {
  return generator<SelectIterator>(runtime, depth_of(input, args), input, args, wanted,
                                   by_attribute);
}

}  // namespace

Value map(Runtime& runtime, const Value& input, const CallArgs& args) {
  return generator<MapIterator>(runtime, depth_of(input, args), input, args);
}

Value select(Runtime& runtime, const Value& input, const CallArgs& args) {
  return select_items(runtime, input, args, true, false);
}

Value reject(Runtime& runtime, const Value& input, const CallArgs& args) {
  return select_items(runtime, input, args, false, false);
}

Value selectattr(Runtime& runtime, const Value& input, const CallArgs& args) {
  return select_items(runtime, input, args, true, true);
}

Value rejectattr(Runtime& runtime, const Value& input, const CallArgs& args) {
  return select_items(runtime, input, args, false, true);
}

Value unique(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_unique", {"case_sensitive", "attribute"}});
  return generator<UniqueIterator>(runtime, depth_of(input, call), input,
                                   AttributePath(args.given(1) ? args[1] : Value::none()),
                                   args.has(0) && truthy(runtime, args[0]));
}

Value batch(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_batch", {"linecount", "fill_with"}, 1});
  return generator<BatchIterator>(runtime, depth_of(input, call), input, args[0],
                                  args.has(1) ? args[1] : Value::none());
}

Value slice(Runtime& runtime, const Value& input, const CallArgs& call) {
  const Bound args(call, {"do_slice", {"slices", "fill_with"}, 1});
  return generator<SliceIterator>(runtime, depth_of(input, call), input, args[0],
                                  args.has(1) ? args[1] : Value::none());
}

Value items(Runtime& runtime, const Value& input, const CallArgs& args) {
  bind_nothing(args, "do_items");
  return generator<ItemsIterator>(runtime, input.depth(), input);
}

}  // namespace smol::jinja::filters
