#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "nn/learner.h"
#include "profiles/measure/workload.h"
#include "runtime/stages.h"
#include "sim/predict.h"
#include "tests/fixtures/graphs.h"

/// The memory of an emulated device: predicted from a profile, and what an epoch there took.
namespace gnomon::tuner {
namespace {

runtime::DeviceOptions device_of_tests() {
  return {.kind = plan::DeviceKind::emulated,
          .max_bytes = std::int64_t{256} << 20,
          .link = {.bandwidth_bytes_per_s = 1e11}};
}

plan::Job wide_job() {
  plan::Job job;
  job.fanouts = {5, 5};
  job.batch_size = 128;
  job.hidden = 128;
  return job;
}

/// The device's memory at the peak of an epoch.
double peak_of(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan) {
  nn::Learner learner(job, graph.features.columns, graph.num_classes);
  runtime::Stages stages(
      graph, job, plan,
      [&](const nn::TensorBatch& data, std::int64_t batch, int) { learner.step(data, 0, batch); },
      device_of_tests());
  stages.hold_model(learner.weight_bytes());
  std::vector<std::int64_t> order(static_cast<std::size_t>(stages.batches()));
  std::iota(order.begin(), order.end(), 0);
  stages.begin_epoch(0, order);
  for (const auto batch : order) {
    stages.device_batch(batch);
    stages.train(batch);
  }
  return static_cast<double>(stages.device().peak_bytes());
}

TEST(DeviceMemory, IsAsPredicted) {
  const auto graph = test::planted_graph(3000, 256);
  const auto job = wide_job();
  profiles::MeasureOptions options;
  options.time_limit_s = 0.2;
  options.device = device_of_tests();
  const auto profile = profiles::measure(graph, job, options);
  plan::Plan plan;
  plan.name = "memory";
  plan.route = plan::Route::device;
  plan.device_threads = 1;
  for (const auto home : {plan::Home::host, plan::Home::device}) {
    plan.features = home;
    const double peak = peak_of(graph, job, plan);
    EXPECT_NEAR(sim::predict_quickly(profile, plan).memory.device.total(), peak, 0.1 * peak);
  }
}

}  // namespace
}  // namespace gnomon::tuner
