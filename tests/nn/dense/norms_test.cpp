#include "nn/dense/norms.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/normalization.h>

#include <array>
#include <functional>
#include <vector>

#include "nn/dense/chunks.h"
#include "tests/nn/tensors.h"

namespace gnomon::nn {
namespace {

using dense::RunningStatistics;
using Tensors = std::vector<at::Tensor>;

/// x, gain, bias, and the factors of the outputs in the loss: without them the loss of normalised rows would
/// hardly depend on x.
Tensors inputs_of(std::int64_t rows, std::int64_t columns) {
  return {3 * random_tensor({rows, columns}, 1) + 0.5, 1 + 0.3 * random_tensor({columns}, 2),
          random_tensor({columns}, 3), random_tensor({rows, columns}, 4)};
}

RunningStatistics fresh(const at::Tensor& x) {
  return {at::zeros({x.size(1)}, x.options()), at::ones({x.size(1)}, x.options())};
}

using Act = std::function<at::Tensor(const Tensors&)>;

/// The outputs of `act` and the gradients of x, gain and bias.
Tensors results(const Act& act, const Tensors& inputs, at::ScalarType type, int threads = 1) {
  const AtenThreadsGuard guard(threads);
  Tensors leaves;
  for (const auto& input : inputs) {
    leaves.push_back(input.to(type, false, true).requires_grad_());
  }
  const auto out = act(leaves);
  (out * leaves[3]).sum().backward();
  return {out.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
}

at::Tensor own_layer_norm(const Tensors& x) { return dense::layer_norm(x[0], x[1], x[2]); }
at::Tensor own_batch_norm(const Tensors& x) { return dense::batch_norm(x[0], x[1], x[2], fresh(x[0])); }

at::Tensor torch_layer_norm(const Tensors& x) {
  torch::nn::LayerNorm module(torch::nn::LayerNormOptions({x[0].size(1)}));
  module->weight = x[1];
  module->bias = x[2];
  return module->forward(x[0]);
}
at::Tensor torch_batch_norm(const Tensors& x) {
  torch::nn::BatchNorm1d module(x[0].size(1));
  module->to(at::kDouble);
  module->weight = x[1];
  module->bias = x[2];
  return module->forward(x[0]);
}

struct NormCase {
  const char* name;
  Act own;
  Act torch;
};

class Norms : public testing::TestWithParam<NormCase> {};
INSTANTIATE_TEST_SUITE_P(Both, Norms,
                         testing::Values(NormCase{"layer", own_layer_norm, torch_layer_norm},
                                         NormCase{"batch", own_batch_norm, torch_batch_norm}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(Norms, AreLibTorchsLayersOnAnyNumberOfThreads) {
  for (const auto& [rows, columns] :
       std::vector<std::array<std::int64_t, 2>>{{5, 3}, {511, 33}, {512, 64}, {3001, 70}, {5000, 8}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    const auto inputs = inputs_of(rows, columns);
    const auto expected = results(GetParam().torch, inputs, at::kDouble);
    const auto found = results(GetParam().own, inputs, at::kFloat);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_LT(relative_error(found[i], expected[i]), 2e-5) << "result " << i;
    }
    for (const int threads : {2, 3}) {
      const auto again = results(GetParam().own, inputs, at::kFloat, threads);
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_TRUE(at::equal(found[i], again[i])) << "result " << i << ", " << threads << " threads";
      }
    }
  }
}

TEST_P(Norms, GradientsAreFiniteDifferences) {
  const auto inputs = inputs_of(7, 5);
  const auto gradients = results(GetParam().own, inputs, at::kDouble);
  const auto loss = [&](const Tensors& at) { return (GetParam().own(at) * at[3]).sum().item<double>(); };
  constexpr double step = 1e-5;
  for (std::size_t which = 0; which < 3; ++which) {
    Tensors moved;
    for (const auto& input : inputs) {
      moved.push_back(input.to(at::kDouble, false, true));
    }
    auto flat = moved[which].view({-1});
    for (std::int64_t i = 0; i < flat.numel(); ++i) {
      const double value = flat[i].item<double>();
      flat[i] = value + step;
      const double above = loss(moved);
      flat[i] = value - step;
      const double below = loss(moved);
      flat[i] = value;
      EXPECT_NEAR(gradients[which + 1].view({-1})[i].item<double>(), (above - below) / (2 * step), 1e-6)
          << "input " << which << ", element " << i;
    }
  }
}

TEST(BatchNorm, RunningStatisticsAreLibTorchs) {
  torch::nn::BatchNorm1d module(9);
  module->to(at::kDouble);
  const auto gain = 1 + 0.3 * random_tensor({9}, 2);
  const auto bias = random_tensor({9}, 3);
  module->weight = gain.to(at::kDouble);
  module->bias = bias.to(at::kDouble);
  const auto running = fresh(random_tensor({2, 9}, 0));
  for (std::uint64_t step = 0; step < 20; ++step) {
    const auto x = 2 * random_tensor({2 + 5 * static_cast<std::int64_t>(step), 9}, 10 + step) + 1;
    module->forward(x.to(at::kDouble));
    dense::batch_norm(x, gain, bias, running);
  }
  EXPECT_LT(relative_error(running.mean, module->running_mean), 1e-5);
  EXPECT_LT(relative_error(running.variance, module->running_var), 1e-5);
  module->eval();
  const auto x = random_tensor({30, 9}, 99);
  EXPECT_LT(relative_error(dense::batch_norm_by_running(x, gain, bias, running),
                           module->forward(x.to(at::kDouble))),
            1e-5);
}

TEST(BatchNorm, OneRowHasNoVariance) {
  const auto x = random_tensor({1, 4}, 5);
  const auto bias = random_tensor({4}, 6);
  const auto running = fresh(x);
  EXPECT_TRUE(at::equal(dense::batch_norm(x, at::ones({4}), bias, running), bias.unsqueeze(0)));
  EXPECT_TRUE(at::equal(running.variance, at::ones({4})));
  EXPECT_TRUE(at::allclose(running.mean, 0.1 * x[0]));
}

}  // namespace
}  // namespace gnomon::nn
