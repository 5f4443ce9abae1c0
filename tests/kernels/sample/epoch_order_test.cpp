#include "graph/epoch_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/kernels/chi_square.h"

namespace gnomon::graph {
namespace {

// It tests graph/epoch_order.h here because only the tests of kernels have LibTorch for the p-values.

using kernels::uniformity_p;

const std::vector<VertexId> train{3, 5, 8, 13, 21, 34};

TEST(EpochOrder, IsAPermutationFixedBySeedAndEpoch) {
  auto order = epoch_order(train, 1, 2);
  EXPECT_EQ(epoch_order(train, 1, 2), order);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, train);
  EXPECT_TRUE(epoch_order({}, 1, 2).empty());
}

TEST(EpochOrder, SeedsAndEpochsDiffer) {
  std::vector<VertexId> many(100);
  std::generate(many.begin(), many.end(), [next = VertexId{0}]() mutable { return next++; });
  EXPECT_NE(epoch_order(many, 1, 2), epoch_order(many, 1, 3));
  EXPECT_NE(epoch_order(many, 1, 2), epoch_order(many, 2, 2));
  EXPECT_NE(epoch_order(many, 1, 2), many);
}

// One test of its hypothesis at 1e-3, its seed fixed.
TEST(EpochOrder, EveryPermutationIsEquallyLikely) {
  std::map<std::vector<VertexId>, std::int64_t> counts_of;
  for (std::uint64_t epoch = 0; epoch < 40 * 720; ++epoch) {
    ++counts_of[epoch_order(train, 4, epoch)];
  }
  std::vector<std::int64_t> counts;
  for (const auto& [order, count] : counts_of) {
    counts.push_back(count);
  }
  counts.resize(720);
  EXPECT_GT(uniformity_p(counts), 1e-3);
}

TEST(EpochOrder, BatchesCoverTheOrderOnce) {
  for (const std::int64_t batch_size : {1, 2, 4, 5, 6, 7}) {
    std::vector<VertexId> seen;
    const auto batches = num_batches(static_cast<std::int64_t>(train.size()), batch_size);
    for (std::int64_t i = 0; i < batches; ++i) {
      const auto seeds = batch_seeds(train, batch_size, i);
      EXPECT_TRUE(static_cast<std::int64_t>(seeds.size()) == batch_size || i + 1 == batches);
      EXPECT_FALSE(seeds.empty());
      seen.insert(seen.end(), seeds.begin(), seeds.end());
    }
    EXPECT_EQ(seen, train);
  }
  EXPECT_EQ(num_batches(0, 4), 0);
}

}  // namespace
}  // namespace gnomon::graph
