#include "text/pretokenizer.h"

#include <array>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"

namespace smol::text {
namespace {

using testing::ElementsAre;
using Pieces = std::vector<std::string>;

constexpr std::array kAll{PreTokenizer::Llama3, PreTokenizer::Gpt2, PreTokenizer::DigitsGpt2};

Pieces pieces(PreTokenizer kind, std::string_view text) {
  Pieces found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = next_piece(kind, text, at, text.size()).end;
    found.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

Pieces llama3(std::string_view text) {
  return pieces(PreTokenizer::Llama3, text);
}

Pieces gpt2(std::string_view text) {
  return pieces(PreTokenizer::Gpt2, text);
}

Pieces digits(std::string_view text) {
  return pieces(PreTokenizer::DigitsGpt2, text);
}

TEST(Llama3Pieces, AWordTakesTheOneCharacterBeforeIt) {
  EXPECT_THAT(llama3("one two,three\tfour"), ElementsAre("one", " two", ",three", "\tfour"));
}

TEST(Llama3Pieces, ANewlineNeverBeginsAWord) {
  EXPECT_THAT(llama3("a\nb\r\nc"), ElementsAre("a", "\n", "b", "\r\n", "c"));
}

TEST(Llama3Pieces, ContractionsMatchInEitherCaseAndWithLongS) {
  EXPECT_THAT(llama3("it's 'LLama we'Re"), ElementsAre("it", "'s", " '", "LLama", " we", "'Re"));
  EXPECT_THAT(llama3("'LLama"), ElementsAre("'LL", "ama"));
  EXPECT_THAT(llama3("'\u017Fabc"), ElementsAre("'\u017F", "abc"));
}

TEST(Llama3Pieces, AnApostropheBeforeOtherLettersJoinsThem) {
  EXPECT_THAT(llama3("'r 'xy"), ElementsAre("'r", " '", "xy"));
}

TEST(Llama3Pieces, DigitsComeInThreesOfAnyScript) {
  EXPECT_THAT(llama3("1234567"), ElementsAre("123", "456", "7"));
  EXPECT_THAT(llama3(" 12\u0663\u0664"), ElementsAre(" ", "12\u0663", "\u0664"));
}

TEST(Llama3Pieces, SymbolsTakeASpaceBeforeAndNewlinesBehind) {
  EXPECT_THAT(llama3("a ?!\n\n b"), ElementsAre("a", " ?!\n\n", " b"));
  EXPECT_THAT(llama3(".\n\n"), ElementsAre(".\n\n"));
}

TEST(Llama3Pieces, WhiteSpaceEndsAtItsLastNewline) {
  EXPECT_THAT(llama3(" \n \n  x"), ElementsAre(" \n \n", " ", " x"));
}

TEST(Llama3Pieces, TheLastSpaceOfARunIsLeftForTheNextWord) {
  EXPECT_THAT(llama3("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(llama3("a   1"), ElementsAre("a", "  ", " ", "1"));
  EXPECT_THAT(llama3("a   "), ElementsAre("a", "   "));
}

TEST(Llama3Pieces, WhiteSpaceIsUnicodes) {
  EXPECT_THAT(llama3("a\u3000\u2028\u00A0"), ElementsAre("a", "\u3000\u2028\u00A0"));
  EXPECT_THAT(llama3("a\u200Bb"), ElementsAre("a", "\u200Bb"));  // zero width space is a symbol
}

TEST(Llama3Pieces, MarksAreNoLetters) {
  EXPECT_THAT(llama3("e\u0301a"), ElementsAre("e", "\u0301a"));
  EXPECT_THAT(llama3("\U0001F469\u200D\U0001F4BB!"), ElementsAre("\U0001F469\u200D\U0001F4BB!"));
}

TEST(Gpt2Pieces, ContractionsAreLowerCaseOnly) {
  EXPECT_THAT(gpt2("we'll we'LL"), ElementsAre("we", "'ll", " we", "'", "LL"));
}

TEST(Gpt2Pieces, RunsTakeOneSpace) {
  EXPECT_THAT(gpt2("ab  12345 !? x\ty"), ElementsAre("ab", " ", " 12345", " !?", " x", "\t", "y"));
}

TEST(Gpt2Pieces, NewlinesAreOrdinaryWhiteSpace) {
  EXPECT_THAT(gpt2("a.\n\nb"), ElementsAre("a", ".", "\n", "\n", "b"));
}

TEST(DigitsPieces, EveryDigitStandsAlone) {
  EXPECT_THAT(digits("a12 3"), ElementsAre("a", "1", "2", " ", "3"));
}

TEST(DigitsPieces, ADigitEndsTheTextForWhiteSpace) {
  EXPECT_THAT(digits("a   1"), ElementsAre("a", "   ", "1"));
  EXPECT_THAT(digits("a   b"), ElementsAre("a", "  ", " b"));
}

TEST(DigitsPieces, AContractionIsNotCut) {
  EXPECT_THAT(digits("it's 5's"), ElementsAre("it", "'s", " ", "5", "'s"));
}

TEST(Pieces, LookOnlyAtTheirRange) {
  const std::string_view text = "ab   cd";
  EXPECT_EQ(next_piece(PreTokenizer::Llama3, text, 2, 5).end, 5U);
  EXPECT_EQ(next_piece(PreTokenizer::Llama3, text, 2, 7).end, 4U);
}

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> kUnits{
      "a",      "B",      " ",      "  ",     "\n",     "\r",     "\t",         "1",
      "23",     "'",      "'s",     "'r",     "l",      "e",      ".",          "!",
      "\u00E9", "\u0301", "\u3000", "\u0663", "\u00BD", "\u4E2D", "\U0001F600", "\u017F"};
  std::string text;
  for (std::size_t i = random() % 12; i > 0; --i) {
    text += kUnits[random() % kUnits.size()];
  }
  return text;
}

void expect_certain_pieces_stay(PreTokenizer kind, const std::string& start,
                                const std::string& whole) {
  for (std::size_t at = 0; at < start.size();) {
    const Piece piece = next_piece(kind, start, at, start.size());
    if (piece.saw_end) {
      return;
    }
    ASSERT_EQ(next_piece(kind, whole, at, whole.size()).end, piece.end) << whole << " at " << at;
    at = piece.end;
  }
}

TEST(Pieces, ThatDidNotSeeTheEndStayWhateverFollows) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const std::string start = random_text(random);
    const std::string whole = start + random_text(random);
    for (const PreTokenizer kind : kAll) {
      expect_certain_pieces_stay(kind, start, whole);
    }
  }
}

TEST(Pieces, EndOnCharacterBordersAndAreNeverEmpty) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    const std::string text = random_text(random);
    for (const PreTokenizer kind : kAll) {
      for (const std::string& piece : pieces(kind, text)) {
        ASSERT_FALSE(piece.empty());
        ASSERT_TRUE(utf8::is_valid(piece));
      }
    }
  }
}

}  // namespace
}  // namespace smol::text
