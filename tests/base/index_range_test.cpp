#include "base/index_range.h"

#include <gtest/gtest.h>

namespace gnomon::base {
namespace {

TEST(IndexRange, ChunksCoverAllOnceAndDifferByOneAtMost) {
  for (const std::int64_t count : {0L, 1L, 7L, 64L, 1001L}) {
    for (const int num_chunks : {1, 2, 3, 8, 100}) {
      std::int64_t end = 0;
      for (int chunk = 0; chunk < num_chunks; ++chunk) {
        const IndexRange range = chunk_of(count, chunk, num_chunks);
        EXPECT_EQ(range.begin, end);
        EXPECT_LE(range.end - range.begin, count / num_chunks + 1);
        EXPECT_GE(range.end - range.begin, count / num_chunks);
        end = range.end;
      }
      EXPECT_EQ(end, count);
    }
  }
}

}  // namespace
}  // namespace gnomon::base
