#include "nn/sparse/sparse.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/cpu/dropout.h"
#include "tests/kernels/sparse/fused_reference.h"
#include "tests/kernels/sparse/sparse_contract.h"
#include "tests/kernels_cuda/tensors_on_device.h"

// The sparse operations on CUDA tensors.

namespace gnomon::kernels {
namespace {

nn::SparseBlockPtr on_gpu(const nn::SparseBlock& block) {
  return std::make_shared<const nn::SparseBlock>(block.num_sources(), block.indptr().to(torch::kCUDA),
                                                 block.indices().to(torch::kCUDA));
}

struct CudaSparse {
  using BlockPtr = nn::SparseBlockPtr;
  static std::string why_skipped() { return cuda::why_no_tensors(); }
  static torch::Device device() { return {torch::kCUDA, 0}; }
  static BlockPtr share(const Block& block) { return on_gpu(*nn::view_of(block)); }
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

INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, SparseContract, CudaSparse);

class CudaTensors : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = cuda::why_no_tensors(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
};

/// Values and gradients of all operations on a sampler's block, with a long row either way.
std::vector<Tensor> everything(const nn::SparseBlock& block) {
  torch::manual_seed(7);
  const auto shared =
      std::make_shared<const nn::SparseBlock>(block.num_sources(), block.indptr(), block.indices());
  const auto leaf = [&](std::vector<std::int64_t> sizes) {
    return torch::randn(sizes).to(block.device()).requires_grad_();
  };
  const auto x = leaf({block.num_sources(), 4, 8});
  const auto looped = nn::with_self_loops(*shared);
  const auto left = leaf({block.num_destinations(), 4});
  const auto right = leaf({block.num_sources(), 4});
  const auto softmax = nn::edge_softmax(looped, nn::sddmm_add(looped, left, right));
  const auto attended = nn::spmm_weighted(looped, x, softmax);
  const auto flat = x.reshape({block.num_sources(), 32});
  const auto mean = nn::spmm_mean(shared, flat);
  const auto scaled = nn::spmm_scaled(shared, flat, mean.detach().select(1, 0).contiguous(),
                                      flat.detach().select(1, 1).contiguous());
  (attended.pow(2).sum() + (mean * scaled).sum()).backward();
  std::vector<Tensor> results{attended, mean, scaled, x.grad(), left.grad(), right.grad()};
  for (auto& result : results) {
    result = result.detach().cpu();
  }
  return results;
}

Block skewed_block() {
  std::mt19937_64 random(5);
  std::vector<std::vector<std::int32_t>> in_edges(2000);
  for (auto& sources : in_edges) {
    sources = {0};  // which feeds all
    for (auto count = random() % 15; count > 0; --count) {
      sources.push_back(static_cast<std::int32_t>(random() % 9000));
    }
  }
  in_edges[17].resize(5000);
  std::generate(in_edges[17].begin(), in_edges[17].end(),
                [&] { return static_cast<std::int32_t>(random() % 9000); });
  return block_of(9000, in_edges);
}

TEST_F(CudaTensors, SparseResultsAreTheCpusAndTheSameBitsEveryTime) {
  const Block block = skewed_block();
  const auto on_cpu = nn::view_of(block);
  const auto expected = everything(*on_cpu);
  const auto found = everything(*on_gpu(*on_cpu));
  const auto again = everything(*on_gpu(*on_cpu));
  constexpr std::size_t of_left = 4;
  constexpr std::size_t of_right = 5;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    // A softmax does not change when all its logits do: what is left of a destination's gradient is rounding.
    const auto& size = expected[i == of_left ? of_right : i];
    const double error = (found[i] - expected[i]).to(torch::kDouble).norm().item<double>();
    EXPECT_LT(error / size.norm().item<double>(), 1e-5) << "result " << i;
    EXPECT_TRUE(torch::equal(found[i], again[i])) << "result " << i;
  }
}

TEST_F(CudaTensors, GcnPropagatesAsTheFormulaSays) {
  torch::manual_seed(8);
  for (const Block& block : {skewed_block(), random_block(300, 400, 11), block_of(1, {{}})}) {
    const auto degrees = torch::randint(50, {block.num_sources}).to(torch::kFloat);
    const auto gpu = on_gpu(*nn::view_of(block));
    const auto on_device = degrees.to(torch::kCUDA);
    for (const std::int64_t width : {1, 32, 47}) {
      expect_equal([&](const auto& in) { return nn::gcn_propagate(gpu, in[0], on_device); },
                   [&](const auto& in) { return gcn_reference(block, in[0], degrees); },
                   {torch::randn({block.num_sources, width})}, torch::kCUDA, Gradients::by_autograd);
    }
  }
}

TEST_F(CudaTensors, GatLayersAreAsTheFormulaSays) {
  torch::manual_seed(9);
  for (const Block& block : {skewed_block(), random_block(300, 400, 11), block_of(1, {{}})}) {
    const auto gpu = on_gpu(*nn::view_of(block));
    for (const auto& c : gat_cases()) {
      expect_gat_equal(gpu, block, c, torch::kCUDA);
    }
  }
}

TEST_F(CudaTensors, BlocksAreTransposedAsOnTheCpu) {
  for (const Block& block : {skewed_block(), random_block(60, 80, 10), block_of(0, {}), block_of(1, {{}})}) {
    const auto on_cpu = nn::view_of(block);
    const auto gpu = on_gpu(*on_cpu);
    const auto& expected = on_cpu->transposed();
    const auto& found = gpu->transposed();
    EXPECT_TRUE(torch::equal(found.indptr.cpu(), expected.indptr));
    EXPECT_TRUE(torch::equal(found.destinations.cpu(), expected.destinations));
    EXPECT_TRUE(torch::equal(found.edges.cpu(), expected.edges));
  }
}

TEST_F(CudaTensors, DropoutHasTheCpusBits) {
  const DropoutRule rule{{5, base::Purpose::dropout, 1, 2, 3, 0}, 30000};
  for (const std::int64_t count : {0, 1, 9, 100000}) {
    const auto x = torch::randn({count});
    auto expected = torch::empty({count});
    cpu::dropout(rule, 0, count, x.const_data_ptr<float>(), expected.mutable_data_ptr<float>());
    EXPECT_TRUE(torch::equal(nn::cuda_dropout(rule, x.to(torch::kCUDA)).cpu(), expected));
    cpu::relu_dropout(rule, 0, count, x.const_data_ptr<float>(), expected.mutable_data_ptr<float>());
    EXPECT_TRUE(torch::equal(nn::cuda_relu_dropout(rule, x.to(torch::kCUDA)).cpu(), expected));
  }
}

}  // namespace
}  // namespace gnomon::kernels
