#include "text/bpe.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/merge_loader.h"

namespace smol::text {
namespace {

using testing::ElementsAre;
using Ids = std::vector<TokenId>;

struct Model {
  Vocabulary vocabulary;
  MergeTable merges;
};

// Letters get the ids 0, 1, ...; merge i makes token letters + i.
Model model(const std::string& letters, const std::vector<std::string>& merges) {
  Model made;
  TokenId id = 0;
  for (const char letter : letters) {
    made.vocabulary.add(id++, std::string(1, letter));
  }
  for (std::string merge : merges) {
    merge.erase(merge.find(' '), 1);
    made.vocabulary.add(id++, merge);
  }
  made.vocabulary.index();
  MergeLoader loader(made.vocabulary, merges.size());
  for (const std::string& merge : merges) {
    loader.add(merge);
  }
  made.merges = loader.take();
  return made;
}

Ids merged(const Model& model, std::string_view piece) {
  BpeScratch scratch;
  Ids ids;
  append_merged(model.vocabulary, model.merges, piece, scratch, ids);
  return ids;
}

// The definition, word for word: again and again the lowest rank, leftmost on ties.
Ids merged_by_definition(const Model& model, std::string_view piece) {
  Ids ids;
  for (const char c : piece) {
    ids.push_back(model.vocabulary.byte_token(static_cast<unsigned char>(c)));
  }
  while (true) {
    std::size_t best = ids.size();
    Merge lowest{kNoMerge, 0};
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Merge merge = model.merges.find(ids[i], ids[i + 1]);
      if (merge.rank < lowest.rank) {
        lowest = merge;
        best = i;
      }
    }
    if (best == ids.size()) {
      return ids;
    }
    ids[best] = lowest.result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(Bpe, AppliesTheLowestRankFirst) {
  const Model abc = model("abc", {"b c", "a b"});
  EXPECT_THAT(merged(abc, "abc"), ElementsAre(0, 3));
}

TEST(Bpe, TakesTheLeftmostOfEqualRanks) {
  const Model aa = model("a", {"a a"});
  EXPECT_THAT(merged(aa, "aaa"), ElementsAre(1, 0));
}

TEST(Bpe, DropsBytesWithoutATokenBeforeMerging) {
  const Model ab = model("ab", {"a b"});
  EXPECT_THAT(merged(ab, "axb"), ElementsAre(2));
  EXPECT_TRUE(merged(ab, "xx").empty());
}

// Merges in no sensible order, so that a later merge can have a lower rank.
Model random_model(std::mt19937& random) {
  std::vector<std::string> tokens{"a", "b", "c"};
  std::vector<std::string> merges;
  while (merges.size() < 40) {
    const std::string& left = tokens[random() % tokens.size()];
    const std::string& right = tokens[random() % tokens.size()];
    const std::string both = left + right;
    if (std::find(tokens.begin(), tokens.end(), both) == tokens.end()) {
      merges.push_back(left);
      merges.back().append(" ").append(right);
      tokens.push_back(both);
    }
  }
  std::shuffle(merges.begin(), merges.end(), random);
  return model("abc", merges);
}

TEST(Bpe, EqualsTheDefinitionForShortAndLongPieces) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const Model random_merges = random_model(random);
    for (const std::size_t length : {1U, 2U, 3U, 7U, 20U, 47U, 48U, 49U, 50U, 200U, 400U}) {
      std::string piece;
      for (std::size_t i = 0; i < length; ++i) {
        piece += static_cast<char>('a' + random() % 3);
      }
      ASSERT_EQ(merged(random_merges, piece), merged_by_definition(random_merges, piece)) << piece;
    }
  }
}

TEST(Bpe, EncodesALongRunOfEqualBytes) {
  const Model doubling = model("a", {"a a", "aa aa", "aaaa aaaa"});
  const std::string piece(80'000, 'a');
  EXPECT_EQ(merged(doubling, piece), Ids(10'000, 3));
}

TEST(Vocabulary, FindsTokensShorterAndLongerThanItsInlineKeys) {
  Vocabulary vocabulary;
  std::vector<std::string> tokens;
  for (std::size_t length = 1; length <= 40; ++length) {
    tokens.push_back(std::string(length - 1, 'x') + 'y');
    vocabulary.add(static_cast<TokenId>(length - 1), tokens.back());
  }
  vocabulary.index();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    EXPECT_EQ(vocabulary.find(tokens[i]), static_cast<TokenId>(i));
    EXPECT_EQ(vocabulary.find(tokens[i] + "z"), kNoToken);
    EXPECT_EQ(vocabulary.bytes_of(static_cast<TokenId>(i)), tokens[i]);
  }
}

TEST(Vocabulary, FindsWholePiecesOnlyWhenMarkedAndWithEitherReadingWidth) {
  Vocabulary vocabulary;
  const std::string text = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t length = 1; length <= 20; ++length) {
    vocabulary.add(static_cast<TokenId>(length), text.substr(0, length));
  }
  vocabulary.index();
  for (std::size_t length = 1; length <= 20; ++length) {
    const auto id = static_cast<TokenId>(length);
    const std::string_view piece = std::string_view(text).substr(0, length);
    EXPECT_EQ(vocabulary.find_whole(piece, true), kNoToken);
    vocabulary.mark_whole(id);
    EXPECT_EQ(vocabulary.find_whole(piece, true), id);
    EXPECT_EQ(vocabulary.find_whole(piece, false), id);
  }
}

TEST(Vocabulary, LeavesGapsBetweenIdsEmpty) {
  Vocabulary vocabulary;
  vocabulary.add(5, "a");
  vocabulary.index();
  EXPECT_EQ(vocabulary.size(), 6U);
  EXPECT_FALSE(vocabulary.has(4));
  EXPECT_EQ(vocabulary.bytes_of(4), "");
  EXPECT_EQ(vocabulary.bytes_of(-1), "");
  EXPECT_EQ(vocabulary.bytes_of(6), "");
}

}  // namespace
}  // namespace smol::text
