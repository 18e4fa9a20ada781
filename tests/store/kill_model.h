// What a store must hold after some steps, as far as a reader sees it: the steps are applied to a
// real store and to this, and the two are compared.
#pragma once

#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace smol::store {

// One change of session number `session`.
struct Step {
  enum class Kind { New, Save, Finish, Send, Edit, Cut, Title, Erase, Undo, Purge, Import };
  static constexpr int kKinds = 11;

  Kind kind = Kind::New;
  int session = 0;
  std::string text;  // one line

  std::string line() const {
    return std::to_string(static_cast<int>(kind)) + " " + std::to_string(session) + " " + text;
  }

  static Step of(const std::string& line) {
    std::istringstream in(line);
    int kind = 0;
    Step step;
    in >> kind >> step.session;
    in.get();
    std::getline(in, step.text);
    step.kind = static_cast<Kind>(kind);
    return step;
  }
};

class Model {
 public:
  struct Session {
    std::string title;  // "" until a person gives one
    std::vector<std::string> path;
    bool running = false;
    bool erased = false;
  };

  bool may(const Step& step) const {
    const auto found = sessions_.find(step.session);
    using Kind = Step::Kind;
    if (step.kind == Kind::New || step.kind == Kind::Import) {
      return found == sessions_.end();
    }
    if (step.kind == Kind::Purge) {
      return true;
    }
    if (found == sessions_.end()) {
      return false;
    }
    const Session& session = found->second;
    if (step.kind == Kind::Undo) {
      return session.erased;
    }
    if (session.erased) {
      return false;
    }
    switch (step.kind) {
      case Kind::Save:
      case Kind::Finish:
        return session.running;
      case Kind::Send:
        return !session.running;
      case Kind::Edit:
      case Kind::Cut:
        return !session.running && !session.path.empty();
      default:
        return true;
    }
  }

  void apply(const Step& step) {
    using Kind = Step::Kind;
    if (step.kind == Kind::Purge) {
      gone_ = erased_texts();
      std::erase_if(sessions_, [](const auto& entry) { return entry.second.erased; });
      return;
    }
    Session& session = sessions_[step.session];
    auto& path = session.path;
    switch (step.kind) {
      case Kind::New:
        session = {"", {step.text, ""}, true, false};
        break;
      case Kind::Import:
        session = {step.text.substr(0, 20), {step.text, step.text + " imported"}, false, false};
        break;
      case Kind::Save:
      case Kind::Finish:
        path.back() = step.text;
        session.running = step.kind == Kind::Save;
        break;
      case Kind::Send:
        path.insert(path.end(), {step.text, ""});
        session.running = true;
        break;
      case Kind::Edit:
        path[path.size() - 2] = step.text;
        path.back() = "";
        session.running = true;
        break;
      case Kind::Cut:
        path.resize(path.size() - 2);
        break;
      case Kind::Title:
        session.title = step.text.substr(0, 20);
        break;
      default:
        session.erased = step.kind == Kind::Erase;
        break;
    }
  }

  // What must be in no file once the time for undo is over.
  std::vector<std::string> erased_texts() const {
    std::vector<std::string> out = gone_;
    for (const auto& [number, session] : sessions_) {
      if (session.erased) {
        out.insert(out.end(), session.path.begin(), session.path.end());
      }
    }
    return out;
  }

  // What a reader sees, in any order.
  std::multiset<std::string> outlines() const {
    std::multiset<std::string> out;
    for (const auto& [number, session] : sessions_) {
      if (!session.erased) {
        out.insert(outline(session));
      }
    }
    return out;
  }

  static std::string outline(const Session& session) {
    std::string out = session.title + (session.running ? "*" : "");
    for (const std::string& text : session.path) {
      out += "|" + text;
    }
    return out;
  }

 private:
  std::map<int, Session> sessions_;
  std::vector<std::string> gone_;
};

// A step that the model may make.
inline Step random_step(const Model& model, std::mt19937& random) {
  for (;;) {
    Step step;
    step.kind = static_cast<Step::Kind>(random() % Step::kKinds);
    step.session = static_cast<int>(random() % 40);
    if (!model.may(step)) {
      continue;
    }
    step.text = std::string(20, static_cast<char>('a' + random() % 26));
    const std::size_t words = random() % 4 == 0 ? random() % 4000 : random() % 40;
    for (std::size_t i = 0; i < words; ++i) {
      step.text += " " + std::to_string(random() % 100'000);
    }
    return step;
  }
}

}  // namespace smol::store
