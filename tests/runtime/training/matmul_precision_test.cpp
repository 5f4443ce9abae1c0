#include "nn/matmul_precision.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "nn/dense/products.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using plan::MatmulPrecision;

plan::Job job_of(MatmulPrecision precision) {
  auto job = small_job(plan::ModelKind::sage);
  job.matmul_precision = precision;
  job.batch_size = 400;  // tensors of several pieces
  job.hidden = 256;
  return job;
}

TrainReport run(const plan::Job& job, int device_threads) {
  static const auto graph = test::planted_graph(1500, 256);
  auto plan = sequential_plan();
  plan.device_threads = device_threads;
  return train(graph, {.job = job, .plan = plan});
}

/// Of a product, in the norm, against double precision.
double error_of(MatmulPrecision precision) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(7);
  const auto a = at::randn({1500, 256}, generator);
  const auto b = at::randn({256, 256}, generator);
  const auto exact = at::mm(a.to(at::kDouble), b.to(at::kDouble));
  const nn::MatmulPrecisionGuard guard(job_of(precision));
  const nn::GemmOperands factors(at::kCPU, 256, 256);
  return ((nn::product(factors.of(a), factors.of(b)).to(at::kDouble) - exact).norm() / exact.norm())
      .item<double>();
}

TEST(MatmulPrecision, MediumRoundsFactorsToBf16WhereTheProcessorCan) {
  EXPECT_LT(error_of(MatmulPrecision::highest), 1e-6);
  EXPECT_LT(error_of(MatmulPrecision::high), 1e-6);
  // bf16 has 8 bits: factors are off by 2^-9 at most, and by 2^-9 / sqrt(3) in the mean square.
  const double rounded = std::sqrt(2.0 / 3) * 0x1p-9;
  EXPECT_LT(error_of(MatmulPrecision::medium), 1.5 * rounded);
  if (__builtin_cpu_supports("avx512bf16") == 0) {
    GTEST_SKIP() << "this processor has no instructions for bf16";
  }
  EXPECT_GT(error_of(MatmulPrecision::medium), rounded / 4);
}

TEST(MatmulPrecision, IsWhatItWasAfterwards) {
  const auto before = at::globalContext().float32MatmulPrecision();
  auto job = job_of(MatmulPrecision::medium);
  job.epochs = 1;
  run(job, 1);
  EXPECT_EQ(at::globalContext().float32MatmulPrecision(), before);
}

TEST(MatmulPrecision, TheBitsDoNotDependOnDeviceThreads) {
  const auto job = job_of(MatmulPrecision::medium);
  const auto expected = run(job, 1);
  for (const int threads : {2, 3}) {
    EXPECT_EQ(run(job, threads).weights_hash, expected.weights_hash) << threads << " threads";
  }
}

TEST(MatmulPrecision, MediumLearnsAsHighestDoes) {
  const auto exact = run(job_of(MatmulPrecision::highest), 1);
  const auto rounded = run(job_of(MatmulPrecision::medium), 1);
  for (std::size_t epoch = 0; epoch < exact.epochs.size(); ++epoch) {
    EXPECT_NEAR(rounded.epochs[epoch].loss, exact.epochs[epoch].loss, 0.02 * exact.epochs[epoch].loss);
  }
}

}  // namespace
}  // namespace gnomon::runtime
