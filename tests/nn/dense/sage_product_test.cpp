#include "nn/dense/sage_product.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "nn/dense/chunks.h"
#include "tests/random_seed.h"

namespace gnomon::nn {
namespace {

/// Each destination has 0 … 6 random in-edges.
std::shared_ptr<const kernels::Block> random_block(std::mt19937_64& random, std::int64_t destinations,
                                                   std::int64_t sources) {
  auto block = std::make_shared<kernels::Block>();
  block->num_destinations = destinations;
  block->num_sources = sources;
  block->indptr = {0};
  for (std::int64_t v = 0; v < destinations; ++v) {
    for (auto count = random() % 7; count > 0; --count) {
      block->indices.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(sources)));
    }
    block->indptr.push_back(std::ssize(block->indices));
  }
  return block;
}

/// The mean over in-edges as a dense matrix.
at::Tensor mean_matrix(const kernels::Block& block) {
  auto matrix = at::zeros({block.num_destinations, block.num_sources}, at::kDouble);
  auto entries = matrix.accessor<double, 2>();
  for (std::int64_t v = 0; v < block.num_destinations; ++v) {
    const auto begin = block.indptr[static_cast<std::size_t>(v)];
    const auto end = block.indptr[static_cast<std::size_t>(v) + 1];
    for (auto e = begin; e < end; ++e) {
      entries[v][block.indices[static_cast<std::size_t>(e)]] += 1.0 / static_cast<double>(end - begin);
    }
  }
  return matrix;
}

/// The result and the gradients of all inputs.
template <class Act>
std::vector<at::Tensor> results(const std::vector<at::Tensor>& inputs, const Act& act) {
  std::vector<at::Tensor> leaves;
  for (const auto& input : inputs) {
    leaves.push_back(input.clone().requires_grad_());
  }
  const auto out = act(leaves);
  (out * out).sum().backward();
  std::vector<at::Tensor> all{out.detach()};
  for (const auto& leaf : leaves) {
    all.push_back(leaf.grad());
  }
  return all;
}

std::vector<at::Tensor> as_doubles(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> doubles;
  for (const auto& tensor : tensors) {
    doubles.push_back(tensor.to(at::kDouble));
  }
  return doubles;
}

TEST(SageProduct, MatchesDoublePrecisionOnAnyNumberOfThreads) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  for (const auto& [destinations, sources, in, out] : std::vector<std::array<std::int64_t, 4>>{
           {1, 1, 1, 1}, {40, 40, 7, 3}, {512, 900, 16, 5}, {2500, 3000, 33, 20}}) {
    SCOPED_TRACE(std::to_string(destinations) + " destinations");
    const auto drawn = random_block(random, destinations, sources);
    const auto block = nn::sparse_block(drawn);
    const std::vector<at::Tensor> inputs{at::randn({sources, in}, generator), at::randn({in, out}, generator),
                                         at::randn({in, out}, generator), at::randn({out}, generator)};
    const auto act = [&](const auto& t) { return sage_product(block, t[0], t[1], t[2], t[3]); };
    const auto mean = mean_matrix(*drawn);
    const auto expected = results(as_doubles(inputs), [&](const auto& t) {
      return at::mm(t[0].narrow(0, 0, destinations), t[1]) + at::mm(at::mm(mean, t[0]), t[2]) + t[3];
    });
    // The weights as one matrix, and so one product.
    const auto joined = results(inputs, [&](const auto& t) {
      const auto both = at::cat({t[1].detach(), t[2].detach()});
      const auto of_self = both.narrow(0, 0, in).detach().requires_grad_();
      const auto of_neighbours = both.narrow(0, in, in).detach().requires_grad_();
      of_self.register_hook([weight = t[1]](const at::Tensor& g) { weight.mutable_grad() = g; });
      of_neighbours.register_hook([weight = t[2]](const at::Tensor& g) { weight.mutable_grad() = g; });
      return sage_product(block, t[0], of_self, of_neighbours, t[3]);
    });
    for (std::size_t i = 0; i < joined.size(); ++i) {
      const auto error = (joined[i].to(at::kDouble) - expected[i]).norm().template item<double>();
      const auto size = std::max(1.0, expected[i].norm().template item<double>());
      EXPECT_LE(error, 1e-5 * size) << "result " << i << " of joint weights";
    }
    std::vector<at::Tensor> first;
    for (const int threads : {1, 2, 3}) {
      const AtenThreadsGuard guard(threads);
      const auto found = results(inputs, act);
      first = first.empty() ? found : first;
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto error = (found[i].to(at::kDouble) - expected[i]).norm().template item<double>();
        // Inputs are of size one: of what nearly cancels, the terms' size counts.
        const auto size = std::max(1.0, expected[i].norm().template item<double>());
        EXPECT_LE(error, 1e-5 * size) << "result " << i;
        EXPECT_TRUE(at::equal(found[i], first[i])) << "result " << i << ", " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace gnomon::nn
