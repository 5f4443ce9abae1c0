#include "nn/sparse/sparse.h"

#include <hwy/highway.h>

#include "kernels/cpu/sparse/sparse.h"
#include "tests/kernels/instruction_set.h"
#include "tests/kernels/sparse/sparse_contract.h"

namespace gnomon::kernels {
namespace {

/// The CPU's operations as one instruction set computes them; as the best of the machine where it has not got
/// that one, or for 0.
template <std::int64_t instructions>
struct CpuSparse {
  using BlockPtr = nn::SparseBlockPtr;
  static torch::Device device() { return torch::kCPU; }
  static BlockPtr share(const Block& block) {
    choose_instruction_set(instructions);
    return nn::sparse_block(std::make_shared<const Block>(block));
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

using BestSparse = CpuSparse<0>;

INSTANTIATE_TYPED_TEST_SUITE_P(CpuPortable, SparseContract, CpuSparse<HWY_STATIC_TARGET>);
#if HWY_ARCH_X86
INSTANTIATE_TYPED_TEST_SUITE_P(CpuAvx2, SparseContract, CpuSparse<HWY_AVX2>);
INSTANTIATE_TYPED_TEST_SUITE_P(CpuAvx512, SparseContract, CpuSparse<HWY_AVX3>);
#endif

/// Values and gradients of all operations on a block large enough to be shared between eight threads.
std::vector<Tensor> everything(const nn::SparseBlockPtr& block) {
  torch::manual_seed(7);
  const auto S = block->num_sources();
  const auto D = block->num_destinations();
  const auto leaf = [](std::vector<std::int64_t> sizes) { return torch::randn(sizes).requires_grad_(); };
  const Tensor x = leaf({S, 4, 8});
  const Tensor left = leaf({D, 4});
  const Tensor right = leaf({S, 4});
  const Tensor logits = nn::sddmm_add(block, left, right);
  const Tensor softmax = nn::edge_softmax(block, logits);
  const Tensor attended = nn::spmm_weighted(block, x, softmax);
  const Tensor flat = x.reshape({S, 32});
  const Tensor sum = nn::spmm_sum(block, flat);
  const Tensor mean = nn::spmm_mean(block, flat);
  const Tensor scaled = nn::spmm_scaled(block, flat, torch::rand({D}), torch::rand({S}));
  (attended.pow(2).sum() + (sum * mean * scaled).sum()).backward();
  return {logits, softmax, attended, sum, mean, scaled, x.grad(), left.grad(), right.grad()};
}

TEST(SparseOnThreads, SameBitsForAnyNumber) {
  const auto block = BestSparse::share(random_block(3000, 4000, 8));
  const int threads_before = at::get_num_threads();
  at::set_num_threads(1);
  const auto expected = everything(block);
  for (const int threads : {2, 3, 8}) {
    at::set_num_threads(threads);
    const auto found = everything(block);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(torch::equal(found[i], expected[i])) << "tensor " << i << " with " << threads << " threads";
    }
  }
  at::set_num_threads(threads_before);
}

TEST(SparseRows, RangesCoverAllRowsOnceInBalance) {
  for (const Block& block : {random_block(500, 300, 9), in_hub(100), out_hub(100), block_of(0, {}),
                             block_of(1, {{}}), block_of(3, {{}, {}, {0, 1, 2, 2, 2, 2}, {}})}) {
    std::int64_t largest = 0;
    for (std::size_t v = 0; v + 1 < block.indptr.size(); ++v) {
      largest = std::max(largest, 1 + block.indptr[v + 1] - block.indptr[v]);
    }
    const std::int64_t all = block.num_edges() + block.num_destinations;
    for (const std::int64_t parts : {1, 2, 3, 8, 1000}) {
      const auto ranges = cpu::balanced_ranges(block.indptr, parts);
      ASSERT_EQ(static_cast<std::int64_t>(ranges.size()), parts);
      std::int64_t next = 0;
      for (const auto& range : ranges) {
        ASSERT_EQ(range.first, next);
        ASSERT_GE(range.last, range.first);
        next = range.last;
        const auto work = block.indptr[static_cast<std::size_t>(range.last)] + range.last -
                          block.indptr[static_cast<std::size_t>(range.first)] - range.first;
        EXPECT_LE(work, all / parts + 1 + largest);
      }
      EXPECT_EQ(next, block.num_destinations);
    }
  }
}

TEST(SparseRows, TransposeHoldsEveryEdgeOnceInOrder) {
  const Block block = random_block(60, 50, 10);
  const auto transposed = cpu::transpose(cpu::rows_of(block), block.num_sources);
  std::vector<std::int64_t> destination_of(block.indices.size());
  for (std::size_t v = 0; v + 1 < block.indptr.size(); ++v) {
    std::fill(destination_of.begin() + block.indptr[v], destination_of.begin() + block.indptr[v + 1], v);
  }
  for (std::int32_t u = 0; u < block.num_sources; ++u) {
    std::vector<std::int64_t> edges;
    for (std::size_t e = 0; e < block.indices.size(); ++e) {
      if (block.indices[e] == u) {
        edges.push_back(static_cast<std::int64_t>(e));
      }
    }
    const auto first = transposed.indptr[static_cast<std::size_t>(u)];
    const auto last = transposed.indptr[static_cast<std::size_t>(u) + 1];
    EXPECT_EQ(std::vector<std::int64_t>(transposed.edges.begin() + first, transposed.edges.begin() + last),
              edges);
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      EXPECT_EQ(transposed.destinations[i], destination_of[static_cast<std::size_t>(transposed.edges[i])]);
    }
  }
}

TEST(SparseRows, TransposesInPartsToTheSameResult) {
  for (const int destinations : {0, 1, 60, 700}) {
    const Block block = random_block(destinations, 90, 10);
    const auto rows = cpu::rows_of(block);
    const auto expected = cpu::transpose(rows, block.num_sources);
    for (const int parts : {1, 2, 3, 16}) {
      cpu::TransposedBlock found = expected;
      for (auto* values : {&found.destinations, &found.edges}) {
        std::fill(values->begin(), values->end(), -1);
      }
      std::fill(found.indptr.begin(), found.indptr.end(), -1);
      std::vector<std::int32_t> places(static_cast<std::size_t>(parts * block.num_sources), 7);
      const auto backwards = [](int members, const std::function<void(int)>& body) {
        for (int member = members - 1; member >= 0; --member) {
          body(member);
        }
      };
      cpu::transpose(rows, {found.indptr, found.destinations, found.edges}, places, parts, backwards);
      EXPECT_EQ(found.indptr, expected.indptr);
      EXPECT_EQ(found.destinations, expected.destinations);
      EXPECT_EQ(found.edges, expected.edges);
    }
  }
}

TEST(Sparse, WritesOnlyTheRowsOfItsRange) {
  const Block block = block_of(3, {{0, 1}, {2}, {}, {1, 2}});
  const std::vector<float> x{1, 2, 4};
  std::vector<float> y(4, -1);
  cpu::spmm(cpu::rows_of(block), {1, 3}, {}, x, 1, y);
  EXPECT_EQ(y, (std::vector<float>{-1, 4, 0, -1}));
  std::vector<float> edges(5, -1);
  cpu::sddmm_add(cpu::rows_of(block), {1, 3}, 1, std::vector<float>{0, 10, 20, 30}, x, edges);
  EXPECT_EQ(edges, (std::vector<float>{-1, -1, 14, -1, -1}));
}

}  // namespace
}  // namespace gnomon::kernels
