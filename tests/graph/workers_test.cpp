#include "graph/workers.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace gnomon::graph {
namespace {

TEST(Workers, DoEveryPieceOnce) {
  for (const int threads : {1, 2, 5}) {
    Workers workers(threads);
    for (const std::int64_t pieces : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(pieces));
      workers.for_each(pieces, [&](std::int64_t piece) { ++done[static_cast<std::size_t>(piece)]; });
      for (const auto& times : done) {
        ASSERT_EQ(times, 1);
      }
    }
  }
}

TEST(Workers, RethrowTheExceptionOfTheLowestPiece) {
  Workers workers(4);
  for (int round = 0; round < 200; ++round) {
    try {
      workers.for_each(100, [](std::int64_t piece) {
        if (piece >= 17) {
          throw std::runtime_error(std::to_string(piece));
        }
      });
      FAIL() << "must throw";
    } catch (const std::runtime_error& error) {
      ASSERT_STREQ(error.what(), "17");
    }
  }
}

}  // namespace
}  // namespace gnomon::graph
