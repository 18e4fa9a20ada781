#include "chat/output_parser.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "chat/call_reader.h"
#include "chat/content_stream.h"
#include "chat/tagged_buffer.h"
#include "chat/value_scanner.h"

namespace smol::chat {
namespace {

TagSet only(Tag tag) {
  TagSet out;
  out.set(static_cast<std::size_t>(tag));
  return out;
}

}  // namespace

// A machine over the buffer: `at_` is the first byte not decided on. Each step handles what stands
// there and says whether it got on; it does not where it has to see more.
class OutputParser::State {
 public:
  explicit State(const OutputMode& mode)
      : buffer_(mode.token_tags),
        phase_(mode.reasoning_open ? Phase::ReasoningStart : Phase::Start) {
    if (mode.raw) {
      begin_answer();
      return;
    }
    content_tags_[static_cast<std::size_t>(Tag::ToolCallOpen)] = mode.tools;
    content_tags_[static_cast<std::size_t>(Tag::CodeOpen)] = mode.python_tools;
  }

  TaggedBuffer& buffer() { return buffer_; }

  std::vector<OutputEvent> run() {
    while (step()) {
      buffer_.discard_before(at_);
    }
    if (buffer_.closed()) {
      content_.finish(events_);
    }
    return events_.take();
  }

  const std::vector<TagPlace>& tag_places() const noexcept { return tag_places_; }

  std::optional<std::size_t> answer_begin() const noexcept { return answer_begin_; }

  bool in_reasoning() const noexcept {
    return phase_ == Phase::ReasoningStart || phase_ == Phase::Reasoning;
  }

 private:
  enum class Phase {
    Start,           // white space, perhaps <think>
    ReasoningStart,  // white space, perhaps a repeated <think>
    Reasoning,
    AfterReasoning,  // white space
    Content,
    ToolCallStart,  // white space, then an object or list
    ToolCallValue,
    ToolCallEnd,  // white space, then the closing tag
    Code
  };

  bool step() {
    switch (phase_) {
      case Phase::Start:
      case Phase::ReasoningStart:
        return start();
      case Phase::Reasoning:
        return reasoning();
      case Phase::AfterReasoning:
        at_ = buffer_.skip_space(at_);
        return at_ < buffer_.end() && begin_answer();
      case Phase::Content:
        return content();
      case Phase::ToolCallStart:
        return tool_call_start();
      case Phase::ToolCallValue:
        return tool_call_value();
      case Phase::ToolCallEnd:
        return tool_call_end();
      case Phase::Code:
        return code();
    }
    return false;
  }

  bool start() {
    const std::size_t first = buffer_.skip_space(at_);
    const auto found = first < buffer_.end() ? buffer_.tag_at(first, only(Tag::ThinkOpen))
                                             : TaggedBuffer::Found{std::nullopt, !buffer_.closed()};
    if (found.undecided) {
      return false;
    }
    if (found.tag) {
      at_ = first + text_of(Tag::ThinkOpen).size();
    }
    if (!found.tag && !in_reasoning()) {
      return begin_answer();
    }
    phase_ = Phase::Reasoning;
    return true;
  }

  bool begin_answer() {
    answer_begin_ = at_;
    phase_ = Phase::Content;
    return true;
  }

  bool reasoning() {
    const std::size_t mark = buffer_.find('<', at_);
    thinking_.append(buffer_.view(at_, mark), events_);
    at_ = mark;
    if (at_ == buffer_.end()) {
      return false;
    }
    const auto found = buffer_.tag_at(at_, only(Tag::ThinkClose));
    if (found.undecided) {
      return false;
    }
    if (found.tag) {
      at_ += text_of(Tag::ThinkClose).size();
      phase_ = Phase::AfterReasoning;
    } else {
      thinking_.append("<", events_);
      ++at_;
    }
    return true;
  }

  bool content() {
    const std::size_t mark = buffer_.find('<', at_);
    content_.append(buffer_.view(at_, mark), events_);
    at_ = mark;
    if (at_ == buffer_.end()) {
      return false;
    }
    const auto found = buffer_.tag_at(at_, content_tags_);
    if (found.undecided) {
      return false;
    }
    if (!found.tag) {
      content_.append("<", events_);
      ++at_;
      return true;
    }
    scan_ = at_ + text_of(*found.tag).size();
    open_ = *found.tag;
    phase_ = open_ == Tag::CodeOpen ? Phase::Code : Phase::ToolCallStart;
    return true;
  }

  // The block is none: its tag is text, and so may be what follows.
  bool reject_block() {
    const std::string_view tag = text_of(open_);
    content_.append(tag, events_);
    at_ += tag.size();
    phase_ = Phase::Content;
    return true;
  }

  // `closing`: its closing tag, where there is one at `end`.
  bool accept_block(std::size_t end, std::optional<Tag> closing) {
    content_.block();
    tag_places_.push_back({at_, open_});
    if (closing) {
      tag_places_.push_back({end, *closing});
    }
    at_ = end + (closing ? text_of(*closing).size() : 0);
    phase_ = Phase::Content;
    return true;
  }

  bool tool_call_start() {
    scan_ = buffer_.skip_space(scan_);
    if (scan_ == buffer_.end()) {
      return buffer_.closed() && reject_block();
    }
    value_begin_ = scan_;
    scanner_ = {};
    phase_ = Phase::ToolCallValue;
    return true;
  }

  bool tool_call_value() {
    std::size_t scanned = scan_ - value_begin_;
    const auto status = scanner_.advance(buffer_.view(value_begin_, buffer_.end()), scanned);
    scan_ = value_begin_ + scanned;
    if (status == ValueScanner::Status::Running) {
      return buffer_.closed() && reject_block();
    }
    if (status == ValueScanner::Status::Failed) {
      return reject_block();
    }
    auto calls = read_calls(buffer_.view(value_begin_, scan_));
    if (!calls) {
      return reject_block();
    }
    calls_ = std::move(*calls);
    phase_ = Phase::ToolCallEnd;
    return true;
  }

  bool tool_call_end() {
    scan_ = buffer_.skip_space(scan_);
    if (scan_ == buffer_.end()) {
      return buffer_.closed() && accept_calls({});
    }
    const auto found = buffer_.tag_at(scan_, only(Tag::ToolCallClose) | only(Tag::ToolCallOpen));
    if (found.undecided) {
      return false;
    }
    if (!found.tag) {
      return reject_block();
    }
    return accept_calls(*found.tag == Tag::ToolCallClose ? found.tag : std::nullopt);
  }

  bool accept_calls(std::optional<Tag> closing) {
    for (ToolCall& call : calls_) {
      events_.add(std::move(call));
    }
    calls_.clear();
    return accept_block(scan_, closing);
  }

  bool code() {
    while (!code_never_closes_) {
      scan_ = buffer_.find('<', scan_);
      const auto found = scan_ < buffer_.end()
                             ? buffer_.tag_at(scan_, only(Tag::CodeClose))
                             : TaggedBuffer::Found{std::nullopt, !buffer_.closed()};
      if (found.undecided) {
        return false;
      }
      if (found.tag) {
        return accept_code();
      }
      code_never_closes_ = scan_ == buffer_.end();
      scan_ = std::min(scan_ + 1, buffer_.end());
    }
    return reject_block();
  }

  bool accept_code() {
    std::string_view text = buffer_.view(at_ + text_of(Tag::CodeOpen).size(), scan_);
    const std::size_t first = std::min(text.find_first_not_of('\n'), text.size());
    text.remove_prefix(first);
    text = text.substr(0, text.find_last_not_of('\n') + 1);
    events_.add(CodeBlock{std::string(text)});
    return accept_block(scan_, Tag::CodeClose);
  }

  TaggedBuffer buffer_;
  Phase phase_;
  TagSet content_tags_;
  std::size_t at_ = 0;
  EventList events_;
  ThinkingStream thinking_;
  ContentStream content_;
  std::vector<TagPlace> tag_places_;
  std::optional<std::size_t> answer_begin_;

  // Of the block that begins at at_.
  Tag open_ = Tag::ToolCallOpen;
  std::size_t scan_ = 0;
  std::size_t value_begin_ = 0;
  ValueScanner scanner_;
  std::vector<ToolCall> calls_;
  bool code_never_closes_ = false;  // the answer has ended and no </code> is left
};

OutputParser::OutputParser(const OutputMode& mode) : state_(std::make_unique<State>(mode)) {}

OutputParser::~OutputParser() = default;
OutputParser::OutputParser(OutputParser&&) noexcept = default;
OutputParser& OutputParser::operator=(OutputParser&&) noexcept = default;

std::vector<OutputEvent> OutputParser::feed(std::string_view text) {
  SMOL_CHECK(!state_->buffer().closed());
  state_->buffer().append(text);
  return state_->run();
}

std::vector<OutputEvent> OutputParser::feed_tag(Tag tag) {
  SMOL_CHECK(!state_->buffer().closed());
  state_->buffer().append_tag(tag);
  return state_->run();
}

std::vector<OutputEvent> OutputParser::finish() {
  SMOL_CHECK(!state_->buffer().closed());
  state_->buffer().close();
  return state_->run();
}

bool OutputParser::in_reasoning() const noexcept {
  return state_->in_reasoning();
}

const std::vector<OutputParser::TagPlace>& OutputParser::tag_places() const noexcept {
  return state_->tag_places();
}

std::optional<std::size_t> OutputParser::answer_begin() const noexcept {
  return state_->answer_begin();
}

void ParsedOutput::add(const OutputEvent& event) {
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    content += text->text;
  } else if (const auto* thinking = std::get_if<ThinkingDelta>(&event)) {
    reasoning += thinking->text;
  } else if (const auto* call = std::get_if<ToolCall>(&event)) {
    tool_calls.push_back(*call);
  } else if (const auto* block = std::get_if<CodeBlock>(&event)) {
    code_blocks.push_back(block->code);
  }
}

bool ParsedOutput::content_is_null() const noexcept {
  return content.empty() && !(tool_calls.empty() && code_blocks.empty());
}

ParsedOutput parse_output(std::span<const Piece> pieces, const OutputMode& mode) {
  OutputParser parser(mode);
  ParsedOutput out;
  const auto add = [&](const std::vector<OutputEvent>& events) {
    for (const OutputEvent& event : events) {
      out.add(event);
    }
  };
  for (const Piece& piece : pieces) {
    const auto tag = piece.is_tag ? tag_of(piece.text) : std::nullopt;
    add(tag ? parser.feed_tag(*tag) : parser.feed(piece.text));
  }
  add(parser.finish());
  return out;
}

}  // namespace smol::chat
