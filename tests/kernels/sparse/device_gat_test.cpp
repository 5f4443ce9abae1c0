#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "nn/layers/fused_gat.h"
#include "tests/kernels/sparse/fused_reference.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"
#include "tests/random_seed.h"

// The fused layers of GAT, run by the host.

namespace gnomon::kernels {
namespace {

TEST(DeviceGat, EqualsTheFormulaInDoublePrecision) {
  const test::RandomSeed seed;
  torch::manual_seed(seed);
  const HostSparseKernels kernels(HostLaunches{2});
  for (const auto& block : sampled_blocks(seed)) {
    for (const auto& c : gat_cases()) {
      expect_gat_equal(with_kernels(block, kernels), block, c, torch::kCPU);
    }
  }
}

TEST(DeviceGat, HasTheSameBitsForAnyThreadsAndWithPadding) {
  torch::manual_seed(5);
  const Block block = random_block(300, 400, 12);
  auto padded = block;
  padded.indices.resize(padded.indices.size() + 700, 1 << 30);
  const GatCase c{3, 8, 20000, true, 30000};
  const auto inputs = gat_inputs(block, c);
  const auto weights = torch::randn({300, 24});
  const auto run = [&](const Block& of, int threads) {
    const HostSparseKernels kernels(HostLaunches{threads});
    std::vector<Tensor> leaves;
    for (const auto& input : inputs) {
      leaves.push_back(input.detach().requires_grad_());
    }
    const auto y = fused_gat_layer(with_kernels(of, kernels), c, leaves);
    (y * weights).sum().backward();
    std::vector<Tensor> results{y.detach().flatten()};
    for (const auto& leaf : leaves) {
      results.push_back(leaf.grad().flatten());
    }
    return torch::cat(results);
  };
  const auto expected = run(block, 1);
  for (const int threads : {1, 2, 5}) {
    EXPECT_TRUE(torch::equal(run(block, threads), expected)) << threads;
    EXPECT_TRUE(torch::equal(run(padded, threads), expected)) << threads << ", padded";
  }
}

/// The bits, signs and all: every output that dropout has dropped is told from one that is 0.
TEST(DeviceGat, OutputsThatAreZeroKeepTheirGradient) {
  const HostSparseKernels kernels;
  const Block block = block_of(40, std::vector<std::vector<std::int32_t>>(40));
  const GatCase c{2, 4, 0, true, 32768};
  auto inputs = gat_inputs(block, c);
  inputs[0].zero_();
  inputs[4].zero_();  // the bias
  std::vector<Tensor> leaves;
  for (const auto& input : inputs) {
    leaves.push_back(input.detach().requires_grad_());
  }
  const auto y = fused_gat_layer(with_kernels(block, kernels), c, leaves);
  EXPECT_EQ(y.count_nonzero().item<std::int64_t>(), 0);
  y.sum().backward();
  const auto kept = keep_factors(outputs_rule(c), {40, 8});
  ASSERT_GT(kept.sum().item<double>(), 0);
  EXPECT_TRUE(torch::allclose(leaves[4].grad().to(torch::kDouble), kept.sum(0)));
}

TEST(DeviceGat, IsForSampledBlocksOfDevices) {
  const HostSparseKernels kernels;
  const auto own = nn::sparse_block(std::make_shared<const Block>(block_of(3, {{0, 2}, {1}})));
  const auto bounded = [&](std::int64_t max_in_degree, const nn::SparseKernels& of, at::Tensor destinations) {
    return std::make_shared<const nn::SparseBlock>(3, own->indptr(), own->indices(), of,
                                                   std::move(destinations), max_in_degree);
  };
  EXPECT_TRUE(nn::can_fuse_gat({bounded(2, kernels, {}), bounded(256, kernels, {})}));
  EXPECT_FALSE(nn::can_fuse_gat({bounded(2, kernels, {}), bounded(257, kernels, {})})) << "long rows";
  EXPECT_FALSE(nn::can_fuse_gat({bounded(nn::SparseBlock::unknown_degree, kernels, {})}));
  EXPECT_FALSE(nn::can_fuse_gat({bounded(2, kernels, torch::tensor({2, 0}, torch::kLong))}));
  EXPECT_FALSE(nn::can_fuse_gat({bounded(2, nn::cpu_sparse_kernels(), {})}));
}

/// One block has more edges than are transposed together, and one more than are left for it.
TEST(DeviceSparseBlock, TransposesLargeBlocksAmongOthers) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto block_with = [&](std::size_t destinations, std::size_t degree) {
    std::vector<std::vector<std::int32_t>> in_edges(destinations, std::vector<std::int32_t>(degree));
    for (auto& sources : in_edges) {
      std::generate(sources.begin(), sources.end(),
                    [&] { return static_cast<std::int32_t>(random() % (2 * destinations)); });
    }
    return block_of(static_cast<std::int64_t>(2 * destinations), in_edges);
  };
  const std::vector<Block> all{block_with(20000, 10), block_with(90000, 3), block_with(30000, 3),
                               block_with(500, 7)};
  const HostSparseKernels kernels(HostLaunches{2});
  std::vector<nn::SparseBlockPtr> shared;
  for (const auto& block : all) {
    shared.push_back(with_kernels(block, kernels));
  }
  const auto grouped = nn::grouped_with_loops(shared);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto on_cpu = nn::sparse_block(std::make_shared<const Block>(all[i]));
    const auto& found = grouped[i]->transposed();
    EXPECT_TRUE(torch::equal(found.indptr, on_cpu->transposed().indptr)) << "block " << i;
    EXPECT_TRUE(torch::equal(found.destinations, on_cpu->transposed().destinations)) << "block " << i;
    EXPECT_TRUE(torch::equal(found.edges, on_cpu->transposed().edges)) << "block " << i;
    EXPECT_TRUE(torch::equal(found.loops, nn::with_self_loops(*on_cpu)->indptr() - on_cpu->indptr()))
        << "block " << i;
  }
}

TEST(DeviceSparseBlock, CountsMissingLoops) {
  const test::RandomSeed seed;
  const HostSparseKernels kernels(HostLaunches{2});
  const auto all = sampled_blocks(seed);
  std::vector<nn::SparseBlockPtr> shared;
  for (std::size_t i = 0; i < 6; ++i) {
    shared.push_back(with_kernels(all[i], kernels));
  }
  const auto grouped = nn::grouped_with_loops(shared);
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const auto looped = nn::with_self_loops(*nn::sparse_block(std::make_shared<const Block>(all[i])));
    const auto expected = looped->indptr() - shared[i]->indptr();
    EXPECT_TRUE(torch::equal(grouped[i]->transposed().loops, expected)) << "block " << i;
    EXPECT_TRUE(torch::equal(kernels.missing_loops(*shared[i]), expected)) << "block " << i;
    EXPECT_TRUE(torch::equal(grouped[i]->transposed().indptr, shared[i]->transposed().indptr));
  }
}

}  // namespace
}  // namespace gnomon::kernels
