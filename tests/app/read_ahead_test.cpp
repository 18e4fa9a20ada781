#include "app/read_ahead.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "app/text_message.h"
#include "chat/demo_chat.h"

namespace smol::app {
namespace {

std::vector<TokenId> prompt_of(const char* text, chat::ThinkMode think) {
  chat::PromptOptions options;
  options.now = chat::local_now();
  options.think = think;
  return chat::demo_chat()
      .builder.build(std::vector{text_message(chat::Role::User, text)}, options)
      .ids;
}

TEST(SharedBeginnings, OneForEachWayToThinkStandsBeforeWhateverIsAsked) {
  const auto found = shared_beginnings(chat::demo_chat().builder);
  ASSERT_EQ(found.size(), 2U);
  const std::vector ways{chat::ThinkMode::Default, chat::ThinkMode::Off};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<TokenId> prompt = prompt_of("Who are you?", ways[i]);
    ASSERT_GT(prompt.size(), found[i].size());
    EXPECT_TRUE(std::equal(found[i].begin(), found[i].end(), prompt.begin()));
    EXPECT_GT(found[i].size(), 40U);
  }
}

TEST(SharedBeginnings, AreNoneWhereTheTemplateRefusesAUser) {
  const chat::PromptBuilder builder("{{ raise_exception('no') }}", chat::demo_chat().tokenizer);
  EXPECT_TRUE(shared_beginnings(builder).empty());
}

TEST(SharedBeginnings, AreNoneWhereNothingIsShared) {
  const chat::PromptBuilder builder("{{ messages[0]['content'] }}", chat::demo_chat().tokenizer);
  EXPECT_TRUE(shared_beginnings(builder).empty());
}

}  // namespace
}  // namespace smol::app
