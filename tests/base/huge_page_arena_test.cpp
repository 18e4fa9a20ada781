#include "base/huge_page_arena.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"

namespace smol {
namespace {

constexpr std::size_t kMany = 3 * HugePageArena::kAlignment + 12345;

TEST(HugePageArena, IsAlignedAndZeroed) {
  const HugePageArena arena(kMany);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.data()) % HugePageArena::kAlignment, 0U);
  ASSERT_EQ(arena.bytes().size(), kMany);
  EXPECT_TRUE(std::all_of(arena.bytes().begin(), arena.bytes().end(),
                          [](std::byte byte) { return byte == std::byte{}; }));
}

TEST(HugePageArena, KeepsWhatIsWrittenThroughMovesAndCollapse) {
  HugePageArena first(kMany);
  std::fill_n(first.data(), kMany, std::byte{7});
  first.collapse();
  HugePageArena second = std::move(first);
  EXPECT_TRUE(first.bytes().empty());  // NOLINT(bugprone-use-after-move): what is left is empty
  EXPECT_TRUE(std::all_of(second.bytes().begin(), second.bytes().end(),
                          [](std::byte byte) { return byte == std::byte{7}; }));
}

TEST(HugePageArena, TellsHowMuchOfItLiesOnHugePages) {
  HugePageArena arena(kMany);
  EXPECT_EQ(huge_page_bytes(arena.bytes()), 0U);  // nothing written yet
  std::fill_n(arena.data(), kMany, std::byte{1});
  EXPECT_LE(huge_page_bytes(arena.bytes()), kMany);
  EXPECT_EQ(huge_page_bytes(HugePageArena().bytes()), 0U);
}

TEST(HugePageArena, WithoutMemoryNamesTheBytes) {
  constexpr std::size_t kTooMany = std::numeric_limits<std::size_t>::max();
  try {
    const HugePageArena arena(kTooMany);
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Exhausted);
    EXPECT_NE(std::string(error.what()).find(std::to_string(kTooMany)), std::string::npos);
  }
}

}  // namespace
}  // namespace smol
