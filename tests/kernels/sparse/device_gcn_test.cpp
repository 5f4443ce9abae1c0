#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "nn/sparse/sparse.h"
#include "tests/kernels/sparse/fused_reference.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"
#include "tests/random_seed.h"

// The fused propagation of GCN, run by the host.

namespace gnomon::kernels {
namespace {

/// At least as many as were drawn.
Tensor degrees_of(const Block& block) {
  auto degrees = torch::randint(30, {block.num_sources}).to(torch::kFloat);
  degrees.narrow(0, 0, block.num_destinations) += kernels::degrees(block).squeeze(1).to(torch::kFloat);
  return degrees;
}

TEST(DeviceGcn, EqualsTheFormulaInDoublePrecision) {
  const test::RandomSeed seed;
  torch::manual_seed(seed);
  const HostSparseKernels kernels(HostLaunches{2});
  for (const auto& block : sampled_blocks(seed)) {
    SCOPED_TRACE(std::to_string(block.num_destinations) + " x " + std::to_string(block.num_sources));
    const auto degrees = degrees_of(block);
    const auto shared = with_kernels(block, kernels);
    for (const std::int64_t width : {1, 3, 4, 20, 129}) {
      // Of one sign: a hub's sum of both would cancel, up to its rounding error.
      expect_equal([&](const auto& in) { return nn::gcn_propagate(shared, in[0], degrees); },
                   [&](const auto& in) { return gcn_reference(block, in[0], degrees); },
                   {torch::rand({block.num_sources, width})}, torch::kCPU, Gradients::by_autograd);
    }
  }
}

TEST(DeviceGcn, HasTheSameBitsForAnyThreadsAndWithPadding) {
  torch::manual_seed(5);
  const Block block = random_block(300, 400, 12);
  auto padded = block;
  padded.indices.resize(padded.indices.size() + 700, 1 << 30);
  const auto degrees = degrees_of(block);
  const auto x = torch::randn({400, 12});
  const auto weights = torch::randn({300, 12});
  const auto run = [&](const Block& of, int threads) {
    const HostSparseKernels kernels(HostLaunches{threads});
    const auto leaf = x.detach().requires_grad_();
    const auto y = nn::gcn_propagate(with_kernels(of, kernels), leaf, degrees);
    (y * weights).sum().backward();
    return torch::cat({y.detach(), leaf.grad()});
  };
  const auto expected = run(block, 1);
  for (const int threads : {1, 2, 5}) {
    EXPECT_TRUE(torch::equal(run(block, threads), expected)) << threads;
    EXPECT_TRUE(torch::equal(run(padded, threads), expected)) << threads << ", padded";
  }
}

TEST(DeviceGcn, RefusesWrongArguments) {
  const Block block = block_of(3, {{0, 2}, {1}});
  const HostSparseKernels kernels;
  const auto shared = with_kernels(block, kernels);
  const auto x = torch::ones({3, 4});
  EXPECT_NO_THROW(nn::gcn_propagate(shared, x, torch::ones({3})));
  EXPECT_THROW(nn::gcn_propagate(shared, x, torch::ones({2})), c10::Error);
  EXPECT_THROW(nn::gcn_propagate(shared, torch::ones({2, 4}), torch::ones({3})), c10::Error);
  EXPECT_THROW(nn::gcn_propagate(shared, x, torch::ones({3}).requires_grad_()), c10::Error);
  const auto chosen = std::make_shared<const nn::SparseBlock>(3, shared->indptr(), shared->indices(), kernels,
                                                              torch::tensor({2, 0}, torch::kLong));
  EXPECT_THROW(nn::gcn_propagate(chosen, x, torch::ones({3})), c10::Error);
  EXPECT_THROW(nn::gcn_propagate(nn::view_of(block), x, torch::ones({3})), c10::Error) << "on the CPU";
}

}  // namespace
}  // namespace gnomon::kernels
