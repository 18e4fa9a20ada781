#include "jinja/macro_object.h"

#include <algorithm>
#include <memory>
#include <string>

#include "jinja/arguments.h"
#include "jinja/object.h"
#include "jinja/text.h"

namespace smol::jinja {
namespace {

class MacroObject final : public Object {
 public:
  MacroObject(Interpreter& interpreter, const MacroBody& macro, Activation& closure)
      : interpreter_(interpreter), macro_(macro), closure_(closure) {}

  std::string_view type_name() const noexcept override { return "Macro"; }

  std::string type_repr() const override { return "jinja2.runtime.Macro object"; }

  MarkedString repr(Runtime& /*runtime*/) override {
    return {"<Macro " + (macro_.name.empty() ? "anonymous" : quote(macro_.name)) + ">",
            Origin::Template};
  }

  bool callable() const noexcept override { return true; }

  Value call(Runtime& /*runtime*/, const CallArgs& args) override {
    return interpreter_.call_macro(macro_, &closure_, args);
  }

  Value attribute(Runtime& runtime, std::string_view name) override {
    if (name == "name") {
      return macro_.name.empty() ? Value::none() : Value::string(macro_.name, Origin::Template);
    }
    if (name == "arguments") {
      List names;
      for (const std::string& argument : macro_.arguments) {
        names.push_back(Value::string(argument, Origin::Template));
      }
      return runtime.tuple(std::move(names));
    }
    if (name == "catch_kwargs") {
      return Value::boolean(macro_.uses_kwargs);
    }
    if (name == "catch_varargs") {
      return Value::boolean(macro_.uses_varargs);
    }
    if (name == "caller") {
      return Value::boolean(macro_.uses_caller);
    }
    if (name == "explicit_caller") {
      return Value::boolean(std::find(macro_.arguments.begin(), macro_.arguments.end(), "caller") !=
                            macro_.arguments.end());
    }
    return {};
  }

 private:
  Interpreter& interpreter_;
  const MacroBody& macro_;
  Activation& closure_;
};

class BlockReference final : public Object {
 public:
  BlockReference(Interpreter& interpreter, std::string name)
      : interpreter_(interpreter), name_(std::move(name)) {}

  std::string_view type_name() const noexcept override { return "BlockReference"; }

  std::string type_repr() const override { return "jinja2.runtime.BlockReference object"; }

  bool callable() const noexcept override { return true; }

  Value call(Runtime& /*runtime*/, const CallArgs& args) override {
    bind_nothing(args, "__call__");
    return interpreter_.call_block(name_);
  }

  Value attribute(Runtime& /*runtime*/, std::string_view name) override {
    if (name == "name") {
      return Value::string(name_, Origin::Template);
    }
    if (name == "super") {
      Undefined info;
      info.hint = "there is no parent block called " + quote(name_) + ".";
      return Value::undefined(std::move(info));
    }
    return {};
  }

 private:
  Interpreter& interpreter_;
  std::string name_;
};

class TemplateReference final : public Object {
 public:
  explicit TemplateReference(Interpreter& interpreter) : interpreter_(interpreter) {}

  std::string_view type_name() const noexcept override { return "TemplateReference"; }

  std::string type_repr() const override { return "jinja2.runtime.TemplateReference object"; }

  MarkedString repr(Runtime& /*runtime*/) override {
    return {"<TemplateReference None>", Origin::Template};
  }

  Value item(Runtime& /*runtime*/, const Value& key) override {
    if (!key.is_string() || interpreter_.find_block(key.bytes()) == nullptr) {
      return {};
    }
    return Value::object(std::make_shared<BlockReference>(interpreter_, key.bytes()));
  }

 private:
  Interpreter& interpreter_;
};

}  // namespace

Value make_macro(Interpreter& interpreter, const MacroBody& macro, Activation& closure) {
  return Value::object(std::make_shared<MacroObject>(interpreter, macro, closure));
}

Value make_template_reference(Interpreter& interpreter) {
  return Value::object(std::make_shared<TemplateReference>(interpreter));
}

}  // namespace smol::jinja
