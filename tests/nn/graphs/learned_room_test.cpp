#include "nn/graphs/learned_room.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace gnomon::nn {
namespace {

BatchShape shape(std::int64_t seeds, std::int64_t vertices, std::int64_t edges) {
  return {seeds, {{seeds + vertices / 2, edges / 2}, {seeds + vertices, edges}}};
}

TEST(LearnedRoom, IsThatOfTheLargestOfEachSizeOfAnEpoch) {
  LearnedRoom room;
  EXPECT_FALSE(room.take(shape(100, 5000, 900), 0));
  EXPECT_FALSE(room.take(shape(100, 3000, 1600), 0));
  EXPECT_TRUE(room.shape().hops.empty());
  EXPECT_TRUE(room.take(shape(100, 5000, 1600), 1));
  EXPECT_TRUE(room.take(shape(20, 600, 30), 1));
  EXPECT_FALSE(room.take(shape(101, 5000, 1600), 1)) << "more seeds than a whole batch";
  EXPECT_EQ(room.shape().seeds, 100);
}

TEST(LearnedRoom, HasSlack) {
  LearnedRoom room;
  room.take(shape(100, 6400, 3200), 0);
  EXPECT_TRUE(room.take(shape(100, 6500, 3299), 1));
  EXPECT_FALSE(room.take(shape(100, 7000, 3200), 1));
  EXPECT_FALSE(room.take(shape(100, 6400, 3400), 1));
  EXPECT_EQ(room.shape().hops.back().vertices % 32, 0);
}

TEST(LearnedRoom, GrowsAfterAnEpochWhoseBatchesDidNotFit) {
  LearnedRoom room;
  room.take(shape(100, 1000, 1000), 0);
  room.take(shape(100, 1000, 1000), 1);
  const auto first = room.shape();
  EXPECT_FALSE(room.take(shape(100, 4000, 1000), 1));
  EXPECT_EQ(room.shape(), first) << "within an epoch it stays";
  EXPECT_TRUE(room.take(shape(100, 4000, 1000), 2));
  const auto second = room.shape();
  EXPECT_TRUE(fits(first, second));
  room.take(shape(100, 10, 10), 3);
  EXPECT_EQ(room.shape(), second) << "it never shrinks";
}

TEST(LearnedRoom, IsRestoredFromItsNumbers) {
  LearnedRoom room;
  const std::vector<std::int64_t> vertices{1000, 4000, 3000, 9000, 8000};
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    LearnedRoom copy;
    copy.restore(room.numbers());
    EXPECT_EQ(copy.numbers(), room.numbers());
    EXPECT_EQ(copy.shape(), room.shape());
    const auto epoch = static_cast<std::int64_t>(i / 2);
    EXPECT_EQ(copy.take(shape(9, vertices[i], 5), epoch), room.take(shape(9, vertices[i], 5), epoch));
    EXPECT_EQ(copy.numbers(), room.numbers());
  }
}

TEST(LearnedRoom, RefusesOtherNumbers) {
  LearnedRoom room;
  room.take(shape(100, 1000, 1000), 0);
  const auto good = room.numbers();
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_THROW(LearnedRoom().restore({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)}),
                 std::invalid_argument);
  }
  auto bad = good;
  bad.push_back(0);
  EXPECT_THROW(LearnedRoom().restore(bad), std::invalid_argument);
  bad = good;
  bad[3] = -1;
  EXPECT_THROW(LearnedRoom().restore(bad), std::invalid_argument);
}

}  // namespace
}  // namespace gnomon::nn
