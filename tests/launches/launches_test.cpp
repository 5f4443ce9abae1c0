#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiles/catalog.h"
#include "tests/launches/double_device.h"
#include "tests/launches/double_kernels.h"
#include "tests/launches/toy_training.h"
#include "tests/runtime/streams/host_driver.h"

// The code for GPUs, run on a double of one: what it computes beside the CPU, and how many launches of CUDA a
// mini-batch takes.

namespace gnomon::runtime {
namespace {

using plan::ModelKind;
using test::Batches;
using test::double_device;
using test::job_of;
using test::learner_of;
using test::on_double;
using test::on_double_device;
using test::toy;

struct Case {
  ModelKind model;
  plan::Norm norm;
};

void PrintTo(const Case& c, std::ostream* stream) {
  *stream << base::name_of(c.model) << ", norm " << base::name_of(c.norm);
}

class DoubleDevice : public testing::TestWithParam<Case> {
 protected:
  static constexpr std::int64_t steps = 12;
  plan::Job job_ = job_of(GetParam().model, GetParam().norm);
};

INSTANTIATE_TEST_SUITE_P(
    EveryModel, DoubleDevice,
    testing::Values(Case{ModelKind::sage, plan::Norm::none}, Case{ModelKind::sage, plan::Norm::batch},
                    Case{ModelKind::sage, plan::Norm::layer}, Case{ModelKind::gcn, plan::Norm::none},
                    Case{ModelKind::gat, plan::Norm::none}, Case{ModelKind::gat, plan::Norm::layer}));

/// `max_loss` bounds those of the first steps, whose logits are larger with skip connections.
void expect_the_cpus_losses(const plan::Job& job, std::int64_t steps, double max_loss = 10) {
  auto on_cpu = learner_of(job, at::kCPU);
  auto on_device = learner_of(job, double_device());
  Batches batches(job);
  nn::StepSums expected, found;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto batch = view_of(batches.prepare(step));
    const auto before = expected.read().loss_sum;
    on_cpu.step(batch, 0, step, expected);
    on_device.step(on_double_device(batch, job), 0, step, found);
    const double loss = (expected.read().loss_sum - before) / job.batch_size;
    EXPECT_NEAR(found.read().loss_sum, expected.read().loss_sum, 2e-3 * job.batch_size) << "step " << step;
    EXPECT_LT(loss, max_loss);
  }
  EXPECT_NEAR(static_cast<double>(found.read().correct), static_cast<double>(expected.read().correct), 8);
  EXPECT_EQ(found.read().seeds, expected.read().seeds);
  if (job.norm == plan::Norm::batch) {
    return;  // a bias before it has no gradient but rounding, which Adam magnifies
  }
  const auto left = on_device.model().parameters();
  const auto right = on_cpu.model().parameters();
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_TRUE(at::allclose(left[i].cpu(), right[i], 1e-2, 1e-3)) << "weight " << i;
  }
}

TEST_P(DoubleDevice, LossCurveIsTheCpus) { expect_the_cpus_losses(job_, steps); }

TEST_P(DoubleDevice, LossCurveWithSkipConnectionsIsTheCpus) {
  job_.skip = true;
  expect_the_cpus_losses(job_, steps, 20);
}

/// Rows of any length, for which GAT is not fused.
TEST_P(DoubleDevice, LossCurveOfAllNeighboursIsTheCpus) {
  job_.fanouts = {3, -1};
  expect_the_cpus_losses(job_, 4);
}

/// Plans that read features where they are stored end with the weights of those that gather them.
TEST_P(DoubleDevice, StoredFeaturesGiveTheSameBits) {
  auto gathering = learner_of(job_, double_device());
  auto reading = learner_of(job_, double_device());
  Batches batches(job_);
  nn::StepSums first, second;
  for (std::int64_t step = 0; step < 4; ++step) {
    const auto& data = batches.prepare(step);
    const auto batch = on_double_device(view_of(data), job_);
    gathering.step(batch, 0, step, first);
    auto stored = batch;
    stored.features.reset();
    const auto& features = toy().features;
    stored.stored = nn::cuda_stored_features({features.data_bytes().data(), features.row_bytes()},
                                             features.type, features.columns, on_double(ids_of(data)));
    reading.step(stored, 0, step, second);
  }
  EXPECT_EQ(nn::hash_of(gathering.model().parameters()), nn::hash_of(reading.model().parameters()));
  EXPECT_EQ(first.read().loss_sum, second.read().loss_sum);
}

/// The CUDA kernels and copies that LibTorch's operations launch, for those that launch any.
std::int64_t launches_of(const std::map<std::string, std::int64_t>& operations) {
  static const std::map<std::string, std::int64_t> of_operation{
      {"aten::_copy_from", 1},   {"aten::_fused_adam_", 1},
      {"aten::add", 1},          {"aten::addmm", 1},
      {"aten::addmm_", 1},       {"aten::cat", 1},
      {"aten::clamp_max", 1},    {"aten::div", 1},
      {"aten::elu", 1},          {"aten::eq", 1},
      {"aten::eye", 2},          {"aten::fill_", 1},
      {"aten::leaky_relu", 1},   {"aten::leaky_relu_backward", 1},
      {"aten::masked_fill_", 1}, {"aten::mm", 1},
      {"aten::mul", 1},          {"aten::pow", 1},
      {"aten::rsqrt", 1},        {"aten::sub", 1},
      {"aten::sum", 1},          {"aten::zero_", 1}};
  std::int64_t launches = 0;
  for (const auto& [name, count] : operations) {
    const auto found = of_operation.find(name);
    EXPECT_NE(found, of_operation.end()) << name << " is not in the table";
    launches += found == of_operation.end() ? 0 : count * found->second;
  }
  return launches;
}

class DeviceLaunches : public ::testing::Test {
 protected:
  using Device = StreamDevice<HostDriver>;
  /// What the host starts to prepare and to train a mini-batch, and how often it waits for this and the last
  /// one.
  struct Counts {
    std::int64_t preparing = 0, training = 0, waits = 0;
  };

  void open(int layers) {
    job_.fanouts.assign(static_cast<std::size_t>(layers), 4);
    learner_.emplace(job_, toy().features.columns, toy().num_classes, double_device());
    device_ = std::make_unique<Device>(driver_, job_, DeviceOptions{}, base::Progress());
    device_->take_plan(plan_, graph_);
  }
  Counts run(std::int64_t batch, std::int64_t epoch = 0) {
    const auto before = driver_.world->counts;
    auto prepared = device_->prepare({job_.seed, 0, static_cast<std::uint64_t>(batch)},
                                     graph::batch_seeds(order_, job_.batch_size, batch));
    const auto preparing = (driver_.world->counts - before).launches();
    (void)test::take_operations();
    (void)test::take_kernels();
    training_ = device_->train(std::move(prepared), [&](const nn::TensorBatch& tensors) {
      auto& stream = *driver_.world->streams.back();
      stream.wait();  // no wait of the host for a GPU: the double does the step at once, so what it reads is
                      // due
      learner_->step(on_double_device(tensors, job_), epoch, batch, sums_);
      stream.start([] {});  // stands for the step
    });
    EXPECT_TRUE(plan_.cache.is_used() || !training_->is_done());
    const auto training = test::take_kernels() + launches_of(test::take_operations());
    return {preparing, training, (driver_.world->counts - before).waits};
  }

  plan::Job job_ = job_of(ModelKind::sage);
  plan::Plan plan_ = [] {
    plan::Plan plan;
    plan.schedule = plan::Schedule::sequential;
    plan.route = plan::Route::device;
    return plan;
  }();
  std::shared_ptr<const PlacedGraph> graph_ = std::make_shared<const PlacedGraph>(
      place(toy(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  std::vector<graph::VertexId> order_ = graph::epoch_order(toy().train, job_.seed, 0);
  HostDriver driver_;
  std::unique_ptr<Device> device_;
  std::optional<nn::Learner> learner_;
  nn::StepSums sums_;
  DeviceWorkPtr training_;  ///< of the last batch
};

class LaunchesTest : public DeviceLaunches, public ::testing::WithParamInterface<int> {
 protected:
  LaunchesTest() { open(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Layers, LaunchesTest, testing::Values(2, 3, 4));

/// As the catalog says, by which times on other GPUs are bounded. The second batch finds the memory of the
/// first. The host waits for the sizes of its sample only, which come after the training of the first.
TEST_P(LaunchesTest, AreThoseOfTheCatalogWithOneWait) {
  (void)run(0);
  const auto counts = run(0);
  const auto expected = profiles::launches_of_batch(ModelKind::sage, GetParam());
  EXPECT_EQ(counts.preparing, expected.preparing);
  EXPECT_EQ(counts.training, expected.training);
  EXPECT_EQ(counts.waits, 1);
  learner_->use_graphs(true);
  (void)run(0);     // tells how large batches are
  (void)run(0, 1);  // records
  const auto recorded = run(0, 1);
  EXPECT_EQ(recorded.training, profiles::launches_of_graph_step);
  EXPECT_EQ(recorded.waits, 1);
  RecordProperty("recorded", std::to_string(recorded.training));
  RecordProperty("preparing", std::to_string(counts.preparing));
  RecordProperty("training", std::to_string(counts.training));
  RecordProperty("waits", std::to_string(counts.waits));
}

struct CachedCase {
  ModelKind model;
  bool rows, lists;
};

constexpr std::int64_t max_launches = 60;  ///< to prepare and to train a mini-batch of three layers

void PrintTo(const CachedCase& c, std::ostream* stream) {
  *stream << base::name_of(c.model) << (c.rows ? ", cached rows" : "") << (c.lists ? ", cached lists" : "");
}

class CachedLaunches : public DeviceLaunches, public ::testing::WithParamInterface<CachedCase> {
 protected:
  static constexpr int layers = 3;
};

INSTANTIATE_TEST_SUITE_P(
    Models, CachedLaunches,
    testing::Values(CachedCase{ModelKind::sage, true, true}, CachedCase{ModelKind::sage, true, false},
                    CachedCase{ModelKind::sage, false, true}, CachedCase{ModelKind::gcn, false, false},
                    CachedCase{ModelKind::gcn, true, true}, CachedCase{ModelKind::gat, false, false},
                    CachedCase{ModelKind::gat, true, true}));

/// One kernel counts what caches answer in all hops.
TEST_P(CachedLaunches, PrepareByOneMoreForCaches) {
  job_ = job_of(GetParam().model);
  if (GetParam().rows || GetParam().lists) {
    plan_.cache.policy = plan::CachePolicy::out_degree;
    plan_.cache.features = GetParam().rows;
    plan_.cache.topology = GetParam().lists;
    plan_.cache.budget = 0.01;
  }
  open(layers);
  (void)run(0);
  training_->wait();
  device_->fill_due_caches();
  (void)device_->take_cache_use();
  (void)run(0);
  const auto counts = run(0);
  const std::int64_t more = plan_.cache.is_used() ? 1 : 0;
  EXPECT_EQ(counts.preparing, profiles::launches_of_batch(GetParam().model, layers).preparing + more);
  EXPECT_EQ(counts.waits, 1);
  const auto use = device_->take_cache_use();
  EXPECT_EQ(use.row_hits > 0, GetParam().rows);
  EXPECT_EQ(use.list_hits > 0, GetParam().lists);
  EXPECT_EQ(counts.training, profiles::launches_of_batch(GetParam().model, layers).training);
  EXPECT_LE(counts.preparing + counts.training, max_launches);
  RecordProperty("preparing", std::to_string(counts.preparing));
  RecordProperty("training", std::to_string(counts.training));
}

struct ModelCase {
  ModelKind model;
  int layers;
};

void PrintTo(const ModelCase& c, std::ostream* stream) {
  *stream << base::name_of(c.model) << ", " << c.layers << " layers";
}

class ModelLaunches : public DeviceLaunches, public ::testing::WithParamInterface<ModelCase> {};

INSTANTIATE_TEST_SUITE_P(Models, ModelLaunches,
                         testing::Values(ModelCase{ModelKind::gcn, 2}, ModelCase{ModelKind::gcn, 4},
                                         ModelCase{ModelKind::gat, 2}, ModelCase{ModelKind::gat, 4}));

TEST_P(ModelLaunches, AreThoseOfTheCatalog) {
  job_ = job_of(GetParam().model);
  open(GetParam().layers);
  (void)run(0);
  const auto counts = run(0);
  const auto expected = profiles::launches_of_batch(GetParam().model, GetParam().layers);
  EXPECT_EQ(counts.preparing, expected.preparing);
  EXPECT_EQ(counts.training, expected.training);
  EXPECT_EQ(counts.waits, 1);
}

TEST(LaunchesOfBatch, AreAtMostSixtyOfThreeLayers) {
  for (const auto model : {ModelKind::sage, ModelKind::gcn, ModelKind::gat}) {
    const auto launches = profiles::launches_of_batch(model, 3);
    EXPECT_LE(launches.preparing + launches.training, max_launches);
  }
}

}  // namespace
}  // namespace gnomon::runtime
