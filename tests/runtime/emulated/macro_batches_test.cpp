#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/emulated/emulated_device.h"
#include "runtime/macro/macro_loader.h"
#include "runtime/training/trainer.h"
#include "tests/runtime/device_batches.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/macro/parted_graph.h"
#include "tests/runtime/test_runs.h"

/// Macro-batches that are copied to an emulated device, which draws its mini-batches there (JOESTAR).
namespace gnomon::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class MacroBatchesOnADevice : public testing::TestWithParam<const char*> {
 protected:
  static std::string hash_of(const plan::Plan& plan, plan::ModelKind model, const DeviceOptions& device,
                             std::uint64_t delay_seed = 0) {
    TrainOptions options{.job = small_job(model), .plan = plan};
    options.device = device;
    if (delay_seed != 0) {
      options.before_stage = random_delays(delay_seed);
    }
    return train(graph_of_tests(), options).weights_hash;
  }
};

TEST_P(MacroBatchesOnADevice, EndWithTheHostsWeights) {
  for (const auto model : {plan::ModelKind::sage, plan::ModelKind::gcn, plan::ModelKind::gat}) {
    for (const bool is_fused : {true, false}) {
      auto plan = macro_preset(GetParam());
      plan.fused = is_fused;
      EXPECT_EQ(hash_of(plan, model, emulated_options()), hash_of(plan, model, {}))
          << base::name_of(model) << (is_fused ? ", fused" : "");
    }
  }
}

TEST_P(MacroBatchesOnADevice, DependNeitherOnThreadsNorOnTiming) {
  const auto expected = hash_of(macro_preset(GetParam()), plan::ModelKind::gcn, {});
  for (const int threads : {1, 2, 3}) {
    auto plan = macro_preset(GetParam(), threads);
    plan.device_threads = threads;
    EXPECT_EQ(hash_of(plan, plan::ModelKind::gcn, emulated_options(), static_cast<std::uint64_t>(threads)),
              expected);
  }
}

TEST_P(MacroBatchesOnADevice, SayThatTwoOfThemDoNotFit) {
  auto options = emulated_options();
  options.max_bytes = 100'000;
  EXPECT_THAT([&] { hash_of(macro_preset(GetParam()), plan::ModelKind::sage, options); },
              ThrowsMessage<base::Failure>(AllOf(HasSubstr("does not suffice for copying a macro-batch"),
                                                 HasSubstr("lower the plan's macro.resident"))));
}

INSTANTIATE_TEST_SUITE_P(Presets, MacroBatchesOnADevice, testing::Values("joestar-1", "joestar-2"),
                         [](const auto& preset) {
                           std::string name = preset.param;
                           std::erase(name, '-');
                           return name;
                         });

/// A device with a plan, the first epoch's macro-batches of that plan, and CPU samplers for comparison.
class CopiedMacroBatches : public testing::TestWithParam<const char*> {
 protected:
  CopiedMacroBatches() {
    plan_.fused = false;
    device_.take_plan(plan_, placed_);
    const auto loader = make_loader(placed_, job_, plan_);
    layout_ = std::make_unique<MacroLayout>(loader->groups(0), job_, 0);
    for (std::int64_t group = 0; group < layout_->num_groups(); ++group) {
      macros_.push_back(loader->load(*layout_, group, 0));
    }
  }

  /// Copies a macro-batch, and returns the bytes that crossed the link.
  std::int64_t copy(std::size_t group) {
    const auto before = device_.link_use().copied_bytes;
    device_.copy_graph(macros_[group]->placed(), macros_[group]->wanted_rows());
    return device_.link_use().copied_bytes - before;
  }
  /// Lets the device draw from a macro-batch, and expects the CPU's mini-batches.
  void expect_prepares_from(std::size_t group) {
    auto& macro = *macros_[group];
    device_.open_graph(macro.placed());
    const auto reads = device_.link_use().reads;
    const auto number = static_cast<std::int64_t>(group);
    ASSERT_LT(layout_->first_batch_of(number), layout_->first_batch_of(number + 1));
    for (auto batch = layout_->first_batch_of(number); batch < layout_->first_batch_of(number + 1); ++batch) {
      const kernels::BatchKey key{job_.seed, 0, static_cast<std::uint64_t>(batch)};
      const auto seeds = macro.local_seeds(layout_->seeds_of(batch));
      BatchData expected;
      prepare_batch(macro.placed()->graph, macro.sampler(0, job_.fanouts, {1, {}, {}}), key, seeds, expected);
      expect_same(device_.prepare(key, seeds), expected);
    }
    EXPECT_EQ(device_.link_use().reads, reads) << "it is resident";
  }

  plan::Job job_ = small_job(plan::ModelKind::gcn);  // reads the degrees in the whole graph
  plan::Plan plan_ = macro_preset(GetParam());
  std::shared_ptr<const PlacedGraph> placed_ = std::make_shared<const PlacedGraph>(
      place(graph_of_tests(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  emulated::EmulatedDevice device_{job_, emulated_options(), {}};
  std::unique_ptr<MacroLayout> layout_;
  std::vector<std::shared_ptr<MacroBatch>> macros_;
};

TEST_P(CopiedMacroBatches, GiveTheMiniBatchesOfTheCpu) {
  for (std::size_t group = 0; group < macros_.size(); ++group) {
    copy(group);
    expect_prepares_from(group);
  }
}

TEST_P(CopiedMacroBatches, CrossTheLinkOnceWithTheRowsThatAreUsed) {
  ASSERT_GE(macros_.size(), 2U);
  for (std::size_t group = 0; group < macros_.size(); ++group) {
    const auto& macro = *macros_[group];
    const auto& graph = macro.placed()->graph;
    const auto wanted = macro.wanted_rows();
    const std::int64_t vertices = graph.num_vertices();
    const std::int64_t rows = wanted.empty() ? vertices : std::count(wanted.begin(), wanted.end(), 1);
    EXPECT_EQ(rows < vertices, plan_.macro.sampled_ahead);
    // Twice the row pointers, in the macro-batch and in the whole graph, and labels.
    EXPECT_EQ(copy(group), rows * graph.features.row_bytes() + graph.num_edges() * 4 +
                               2 * 8 * (vertices + 1) + 4 * vertices);
  }
}

/// One is in use, and the next one is copied: never three, even if the next is copied before the device has
/// turned to the one before.
TEST_P(CopiedMacroBatches, AreAtMostTwo) {
  ASSERT_GE(macros_.size(), 3U);
  std::int64_t bytes = copy(0);
  device_.open_graph(macros_[0]->placed());
  bytes += copy(1);
  EXPECT_GE(device_.peak_bytes(), plan_.macro.sampled_ahead ? bytes / 2 : bytes);
  const auto peak_of_two = device_.peak_bytes();
  copy(2);
  EXPECT_LT(device_.peak_bytes(), peak_of_two * 5 / 4);
  expect_prepares_from(1);
  expect_prepares_from(2);
}

INSTANTIATE_TEST_SUITE_P(Presets, CopiedMacroBatches, testing::Values("joestar-1", "joestar-2"),
                         [](const auto& preset) {
                           std::string name = preset.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace gnomon::runtime
