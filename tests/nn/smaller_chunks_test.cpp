#include "nn/smaller_chunks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace gnomon::nn {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

/// An act that needs more memory than there is for chunks of more than `enough` bytes.
auto needing(std::int64_t enough, std::vector<std::int64_t>& tried) {
  return [enough, &tried](std::int64_t chunk_bytes) {
    tried.push_back(chunk_bytes);
    TORCH_CHECK_WITH(OutOfMemoryError, chunk_bytes <= enough, "too much");
    return chunk_bytes;
  };
}

TEST(SmallerChunks, AreTriedUntilTheMemorySuffices) {
  std::vector<std::int64_t> tried;
  EXPECT_EQ(with_smaller_chunks(128 * mib, needing(10 * mib, tried)), 8 * mib);
  EXPECT_THAT(tried, ::testing::ElementsAre(128 * mib, 32 * mib, 8 * mib));
}

TEST(SmallerChunks, AreNotTriedWithoutNeed) {
  std::vector<std::int64_t> tried;
  EXPECT_EQ(with_smaller_chunks(128 * mib, needing(128 * mib, tried)), 128 * mib);
  EXPECT_THAT(tried, ::testing::ElementsAre(128 * mib));
}

TEST(SmallerChunks, EndAtTheSmallest) {
  std::vector<std::int64_t> tried;
  EXPECT_THROW(with_smaller_chunks(20 * mib, needing(0, tried)), c10::OutOfMemoryError);
  EXPECT_THAT(tried, ::testing::ElementsAre(20 * mib, 5 * mib, 5 * mib / 4));
  tried.clear();
  EXPECT_THROW(with_smaller_chunks(mib / 2, needing(0, tried)), c10::OutOfMemoryError);
  EXPECT_THAT(tried, ::testing::ElementsAre(mib / 2));
}

TEST(SmallerChunks, LeaveOtherErrorsAlone) {
  int calls = 0;
  EXPECT_THROW(with_smaller_chunks(128 * mib,
                                   [&](std::int64_t) -> int {
                                     ++calls;
                                     throw std::runtime_error("another");
                                   }),
               std::runtime_error);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace gnomon::nn
