#include "graph/order/ordered_rows.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/fixtures/temporary_directory.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

TEST(OrderedRows, AreThoseOfTheOrderInMemoryAndOnDisk) {
  const test::RandomSeed seed(41);
  std::mt19937 random(seed);
  const test::TemporaryDirectory directory;
  constexpr std::int64_t columns = 3;
  for (const std::int64_t rows : {1, 2, 100, 5000}) {
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    std::iota(values.begin(), values.end(), 0.0F);
    Features features;
    features.data = reinterpret_cast<const std::byte*>(values.data());
    features.rows = rows;
    features.columns = columns;
    std::vector<VertexId> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<float> expected;
    for (const VertexId vertex : order) {
      for (std::int64_t column = 0; column < columns; ++column) {
        expected.push_back(static_cast<float>(vertex * columns + column));
      }
    }
    // In memory; on disk in one range a row, in some and in one.
    for (const std::int64_t memory : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000}, rows * 12 - 1}) {
      std::vector<std::byte> ordered;
      const Resources resources{2, memory, memory == 0 ? "" : directory.path()};
      visit_rows(features, order, resources, [&](std::span<const std::byte> bytes) {
        ordered.insert(ordered.end(), bytes.begin(), bytes.end());
      });
      ASSERT_EQ(ordered.size(), expected.size() * sizeof(float));
      EXPECT_EQ(std::memcmp(ordered.data(), expected.data(), ordered.size()), 0)
          << rows << " rows, " << memory << " bytes";
    }
  }
}

}  // namespace
}  // namespace gnomon::graph
