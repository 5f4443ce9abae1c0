#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/dropout.h"
#include "kernels/device/dropout-inl.h"
#include "nn/sparse/sparse.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"
#include "tests/kernels/sparse/sparse_contract.h"
#include "tests/random_seed.h"

// The device's sparse kernels and dropout, run by the host.

namespace gnomon::kernels {
namespace {

template <int threads>
const nn::SparseKernels& host_kernels() {
  static const HostSparseKernels kernels(HostLaunches{threads});
  return kernels;
}

template <int threads>
struct DeviceSparse {
  using BlockPtr = nn::SparseBlockPtr;
  static torch::Device device() { return torch::kCPU; }
  static constexpr std::int64_t hub_degree = 100000;  // above 16 bits; a GPU's test has the million
  static BlockPtr share(const Block& block) {
    return with_kernels(*nn::sparse_block(std::make_shared<const Block>(block)), host_kernels<threads>());
  }
  static constexpr auto spmm_sum = nn::spmm_sum;
  static torch::Tensor spmm_mean(const BlockPtr& block, const torch::Tensor& x) {
    return nn::spmm_mean(block, x);
  }
  static torch::Tensor spmm_scaled(const BlockPtr& block, const torch::Tensor& x, const torch::Tensor& rows,
                                   const torch::Tensor& columns) {
    return nn::spmm_scaled(block, x, rows, columns);
  }
  static constexpr auto spmm_weighted = nn::spmm_weighted;
  static constexpr auto sddmm_add = nn::sddmm_add;
  static constexpr auto edge_softmax = nn::edge_softmax;
};

INSTANTIATE_TYPED_TEST_SUITE_P(DeviceOnThreads, SparseContract, DeviceSparse<2>);

template <class T>
std::vector<T> vector_of(const at::Tensor& tensor, std::int64_t count) {
  return {tensor.const_data_ptr<T>(), tensor.const_data_ptr<T>() + count};
}

std::vector<Block> blocks() {
  return {random_block(60, 80, 10),
          random_block(300, 400, 11),
          block_of(0, {}),
          block_of(1, {{}}),
          block_of(1, {{0}}),
          block_of(4, {{}, {}, {}}),
          in_hub(1000),
          out_hub(1000),
          block_of(3, {{0, 1, 2, 0}, {}, {2, 2}}),
          block_of(2, {{1}, {0}})};
}

TEST(DeviceSparseBlock, TransposesAsTheCpu) {
  for (const auto& block : blocks()) {
    const auto expected = cpu::transpose(cpu::rows_of(block), block.num_sources);
    const auto shared = DeviceSparse<2>::share(block);
    const auto& found = shared->transposed();
    EXPECT_EQ(vector_of<std::int64_t>(found.indptr, block.num_sources + 1), expected.indptr);
    EXPECT_EQ(vector_of<std::int32_t>(found.destinations, block.num_edges()), expected.destinations);
    EXPECT_EQ(vector_of<std::int32_t>(found.edges, block.num_edges()), expected.edges);
  }
}

TEST(DeviceSparseBlock, TransposesSeveralAtOnceAsTheCpu) {
  const auto all = blocks();
  for (std::size_t first = 0; first < all.size(); first += 3) {
    std::vector<nn::SparseBlockPtr> shared;
    for (std::size_t i = first; i < std::min(first + 4, all.size()); ++i) {
      shared.push_back(DeviceSparse<2>::share(all[i]));
    }
    const auto group = std::make_shared<const nn::BlockGroup>(shared);
    for (std::size_t i = 0; i < shared.size(); ++i) {
      const auto& block = all[first + i];
      const auto expected = cpu::transpose(cpu::rows_of(block), block.num_sources);
      const nn::SparseBlock member(*shared[i], group, i);
      const auto& found = member.transposed();
      EXPECT_EQ(vector_of<std::int64_t>(found.indptr, block.num_sources + 1), expected.indptr);
      EXPECT_EQ(vector_of<std::int32_t>(found.destinations, block.num_edges()), expected.destinations);
      EXPECT_EQ(vector_of<std::int32_t>(found.edges, block.num_edges()), expected.edges);
    }
  }
}

/// Padding behind the edges of each block.
TEST(DeviceSparseBlock, TransposesSeveralWithPaddingAsTheCpu) {
  const auto all = blocks();
  std::vector<nn::SparseBlockPtr> shared;
  for (std::size_t i = 0; i < 6; ++i) {
    const auto whole = DeviceSparse<2>::share(all[i]);
    const auto padding = at::full({static_cast<std::int64_t>(3 * i)}, 0x5A5A5A5A, at::kInt);  // no source
    shared.push_back(std::make_shared<const nn::SparseBlock>(
        whole->num_sources(), whole->indptr(), at::cat({whole->indices(), padding}), whole->kernels()));
  }
  const auto group = std::make_shared<const nn::BlockGroup>(shared);
  for (std::size_t i = 0; i < shared.size(); ++i) {
    const auto expected = cpu::transpose(cpu::rows_of(all[i]), all[i].num_sources);
    const nn::SparseBlock member(*shared[i], group, i);
    const auto& found = member.transposed();
    EXPECT_EQ(vector_of<std::int64_t>(found.indptr, all[i].num_sources + 1), expected.indptr);
    EXPECT_EQ(vector_of<std::int32_t>(found.destinations, all[i].num_edges()), expected.destinations);
    EXPECT_EQ(vector_of<std::int32_t>(found.edges, all[i].num_edges()), expected.edges);
  }
}

TEST(DeviceSparseBlock, OwnRowsBesideMeansAreThoseOfSeparateOperations) {
  torch::manual_seed(4);
  for (const auto& block : blocks()) {
    if (block.num_destinations > block.num_sources) {
      continue;
    }
    const auto& kernels = host_kernels<2>();
    const auto shared = DeviceSparse<2>::share(block);
    for (const std::int64_t width : {1, 3, 4, 20}) {
      const auto x = torch::randn({block.num_sources, width});
      EXPECT_TRUE(
          torch::equal(kernels.own_and_mean(*shared, x), kernels.SparseKernels::own_and_mean(*shared, x)));
      const auto gradient = torch::randn({block.num_destinations, 2 * width});
      EXPECT_TRUE(torch::equal(kernels.own_and_mean_gradient(*shared, gradient),
                               kernels.SparseKernels::own_and_mean_gradient(*shared, gradient)));
    }
  }
}

TEST(DeviceSparseBlock, AddsSelfLoopsAsTheCpu) {
  for (const auto& block : blocks()) {
    if (block.num_destinations > block.num_sources) {
      continue;  // no sampler makes one: destinations are sources
    }
    const auto own = nn::sparse_block(std::make_shared<const Block>(block));
    const auto expected = nn::with_self_loops(*own);
    const auto found = nn::with_self_loops(*with_kernels(*own, host_kernels<2>()));
    EXPECT_TRUE(torch::equal(found->indptr(), expected->indptr()));
    EXPECT_EQ(vector_of<std::int32_t>(found->indices(), expected->num_edges()),
              vector_of<std::int32_t>(expected->indices(), expected->num_edges()));
  }
}

/// Entries after the last row's change nothing, forward or backward.
TEST(DeviceSparseBlock, PaddingBelongsToNoRow) {
  const Block block = random_block(300, 400, 12);
  const auto E = block.num_edges();
  auto padded = block;
  padded.indices.resize(padded.indices.size() + 700, 1 << 30);
  const auto results = [&](const Block& of, std::int64_t edges) {
    torch::manual_seed(3);
    const auto shared = DeviceSparse<2>::share(of);
    const auto x = torch::randn({400, 2, 4}).requires_grad_();
    const auto left = torch::randn({300, 2}).requires_grad_();
    const auto right = torch::randn({400, 2}).requires_grad_();
    const auto softmax = nn::edge_softmax(shared, nn::sddmm_add(shared, left, right));
    const auto y = nn::spmm_weighted(shared, x, softmax);
    const auto mean = nn::spmm_mean(shared, x.flatten(1));
    (y.pow(2).sum() + mean.pow(2).sum()).backward();
    EXPECT_EQ(softmax.size(0), edges);
    return std::vector<Tensor>{softmax.narrow(0, 0, E), y, mean, x.grad(), left.grad(), right.grad()};
  };
  const auto expected = results(block, E);
  const auto found = results(padded, E + 700);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(torch::equal(found[i], expected[i])) << "result " << i;
  }
}

TEST(DeviceDropout, HasTheCpusBits) {
  const test::RandomSeed seed(20240613);
  std::mt19937_64 random(seed);
  for (const std::int64_t count : {0, 1, 7, 8, 9, 1000, 12345}) {
    const DropoutRule rule{{random(), base::Purpose::dropout, random() % 100, random() % 1000,
                            static_cast<std::uint32_t>(random() % 8), 0},
                           static_cast<std::uint32_t>(random() % 65536)};
    std::vector<float> from(static_cast<std::size_t>(count));
    for (auto& value : from) {
      value = static_cast<float>(random() % 2001) / 1000 - 1;
    }
    std::vector<float> expected(from.size()), found(from.size());
    HostExecutor executor(2);
    cpu::dropout(rule, 0, count, from.data(), expected.data());
    device::dropout(executor, rule, count, from.data(), found.data());
    EXPECT_EQ(found, expected);
    cpu::relu_dropout(rule, 0, count, from.data(), expected.data());
    device::relu_dropout(executor, rule, count, from.data(), found.data());
    EXPECT_EQ(found, expected);
    const auto kept = found;
    cpu::relu_dropout_gradient(rule.scale(), count, kept.data(), from.data(), expected.data());
    device::relu_dropout_gradient(executor, rule.scale(), count, kept.data(), from.data(), found.data());
    EXPECT_EQ(found, expected);
    const auto check_rounded = [&](const auto& element, at::ScalarType type) {
      const auto rounded = torch::tensor(from).to(type);
      const auto converted = rounded.to(torch::kFloat);
      cpu::dropout(rule, 0, count, converted.const_data_ptr<float>(), expected.data());
      device::dropout(executor, rule, count, static_cast<decltype(&element)>(rounded.const_data_ptr()),
                      found.data());
      EXPECT_EQ(found, expected);
    };
    check_rounded(std::uint16_t(), torch::kHalf);
    check_rounded(device::Bf16(), torch::kBFloat16);
  }
}

}  // namespace
}  // namespace gnomon::kernels
