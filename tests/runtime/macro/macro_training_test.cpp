#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "base/error.h"
#include "graph/partition/parts.h"
#include "runtime/macro/macro_loader.h"
#include "runtime/training/run_log.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/runtime/disk/disk_directory.h"
#include "tests/runtime/macro/parted_graph.h"

// Training from macro-batches: MariusGNN, Hanoi, Joestar-I and Joestar-II.

namespace gnomon::runtime {
namespace {

/// A graph for each preset: stores ordered by the plan's parts, as plans that read the disk need them.
class MacroTraining : public testing::TestWithParam<const char*> {
 protected:
  MacroTraining() {
    const auto plan = macro_preset(GetParam());
    graph_ = plan.features == plan::Home::disk
                 ? parted_graph(graph_of_tests(), plan.macro, directory_ / "store")
                 : graph_of_tests();
  }

  TrainReport run(const plan::Plan& plan, plan::Job job = small_job(plan::ModelKind::sage),
                  std::uint64_t delay_seed = 0) {
    TrainOptions options{.job = job, .plan = plan};
    if (delay_seed != 0) {
      options.before_stage = random_delays(delay_seed);
    }
    return train(graph_, options);
  }

  DiskDirectory directory_;
  graph::Graph graph_;
};

TEST_P(MacroTraining, Learns) {
  auto job = small_job(plan::ModelKind::sage);
  job.epochs = 6;
  const auto exact = run(sequential_plan(), job);
  const auto report = run(macro_preset(GetParam()), job);
  EXPECT_GT(report.test_accuracy, exact.test_accuracy - 0.1);
  EXPECT_GT(exact.test_accuracy, 0.7) << "of four classes";
  const bool reads = macro_preset(GetParam()).features == plan::Home::disk;
  EXPECT_EQ(report.epochs.back().disk_reads.bytes > 0, reads);
}

TEST_P(MacroTraining, WithOnePassTheBitsDependNeitherOnTimingNorOnThreads) {
  std::set<std::string> hashes;
  for (const auto model : {plan::ModelKind::sage, plan::ModelKind::gat}) {
    hashes.clear();
    for (const int workers : {1, 2, 3}) {
      auto plan = macro_preset(GetParam(), workers);
      plan.macro.passes = 1;
      plan.order = plan::Order::index;
      hashes.insert(run(plan, small_job(model), static_cast<std::uint64_t>(workers)).weights_hash);
    }
    EXPECT_EQ(hashes.size(), 1U) << base::name_of(model);
  }
}

TEST_P(MacroTraining, EveryEpochTrainsEachMiniBatchOnceAndFurtherPassesWhole) {
  const auto plan = macro_preset(GetParam());
  const auto job = small_job(plan::ModelKind::sage);
  TrainOptions options{.job = job, .plan = plan};
  options.before_stage = [](schedule::Stage stage, std::int64_t) {
    if (stage == schedule::Stage::group_read) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  };
  const auto placed = std::make_shared<const PlacedGraph>(PlacedGraph{graph_, kernels::cpu::view_of(graph_)});
  const auto loader = make_loader(placed, job, plan);
  std::int64_t further = 0;
  for (const auto& epoch : train(graph_, options).epochs) {
    const MacroLayout layout(loader->groups(epoch.epoch), job, epoch.epoch);
    const std::set<std::int64_t> trained(epoch.log.trained.begin(), epoch.log.trained.end());
    ASSERT_EQ(trained.size(), epoch.log.trained.size());
    for (std::int64_t group = 0; group < layout.num_groups(); ++group) {
      for (std::int64_t pass = 0; pass < plan.macro.passes; ++pass) {
        std::int64_t found = 0;
        for (auto batch = layout.first_batch_of(group); batch < layout.first_batch_of(group + 1); ++batch) {
          found += trained.contains(batch + pass * layout.batches()) ? 1 : 0;
        }
        const auto all = layout.first_batch_of(group + 1) - layout.first_batch_of(group);
        EXPECT_TRUE(found == all || (pass > 0 && found == 0)) << found << " of " << all;
        further += pass > 0 ? found : 0;
      }
    }
  }
  EXPECT_EQ(further > 0, plan.macro.passes > 1) << "the disk is slow here";
}

TEST_P(MacroTraining, AReplayedOrderEndsWithTheSameBits) {
  const test::TemporaryDirectory runs;
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = macro_preset(GetParam())};
  options.run_directory = runs / "run";
  options.before_stage = random_delays(7);
  const auto expected = train(graph_, options);
  options.replay = read_orders(runs / "run" / "order.jsonl");
  options.run_directory.clear();
  options.before_stage = random_delays(8);
  EXPECT_EQ(train(graph_, options).weights_hash, expected.weights_hash);
}

TEST_P(MacroTraining, AStoppedRunGoesOn) {
  const test::TemporaryDirectory runs;
  auto plan = macro_preset(GetParam());
  plan.macro.passes = 1;
  plan.order = plan::Order::index;
  const auto expected = run(plan);
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = plan};
  options.run_directory = runs / "run";
  options.resume = true;
  int stops = 0;
  for (const int after : {5, 17, 40}) {  // in both epochs, within macro-batches
    std::atomic<bool> stop = false;
    std::atomic<int> trained = 0;
    options.stop = &stop;
    options.before_stage = [&](schedule::Stage stage, std::int64_t) {
      stop = stop || (stage == schedule::Stage::train && ++trained == after);
    };
    try {
      train(graph_, options);
    } catch (const base::Interrupted&) {
      ++stops;
    }
  }
  EXPECT_GE(stops, 2);
  options.stop = nullptr;
  options.before_stage = {};
  EXPECT_EQ(train(graph_, options).weights_hash, expected.weights_hash);
}

TEST_P(MacroTraining, SparseFeaturesAndGcnTrain) {
  if (macro_preset(GetParam()).features == plan::Home::disk) {
    GTEST_SKIP() << "reads dense rows";
  }
  graph_ = graph::with_features_in(graph_, graph::FeatureForm::sparse);
  EXPECT_GT(run(macro_preset(GetParam()), small_job(plan::ModelKind::gcn)).test_accuracy, 0.5);
}

INSTANTIATE_TEST_SUITE_P(Presets, MacroTraining,
                         testing::Values("mariusgnn", "hanoi", "joestar-1", "joestar-2"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(MacroTrainingOfOnePart, TrainsOnTheWholeGraph) {
  // One macro-batch with all vertices in their order: its mini-batches differ from those of other plans in
  // the order of the training vertices only, so that with a single mini-batch an epoch nothing differs.
  auto job = small_job(plan::ModelKind::sage);
  job.batch_size = 1000;
  job.fanouts = {-1, -1};
  job.dropout = 0;
  DiskDirectory directory;
  auto plan = macro_preset("mariusgnn");
  plan.macro.partitions = plan.macro.resident = 1;
  const auto graph = parted_graph(graph_of_tests(), plan.macro, directory / "store");
  const auto macro = train(graph, {.job = job, .plan = plan});
  const auto exact = train(graph, {.job = job, .plan = sequential_plan()});
  ASSERT_EQ(macro.epochs.size(), exact.epochs.size());
  for (std::size_t epoch = 0; epoch < exact.epochs.size(); ++epoch) {
    EXPECT_NEAR(macro.epochs[epoch].loss, exact.epochs[epoch].loss, 1e-4);
  }
}

TEST(MacroTrainingWithLittleMemory, CountsTheMacroBatchesBeforeItTakesThem) {
  DiskDirectory directory;
  const auto plan = macro_preset("hanoi");
  const auto graph = parted_graph(graph_of_tests(), plan.macro, directory / "store");
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = plan};
  options.device.host_bytes = 1 << 20;
  std::atomic<int> loaded = 0;
  options.before_stage = [&](schedule::Stage stage, std::int64_t) {
    loaded += stage == schedule::Stage::group_read ? 1 : 0;
  };
  const auto message = test::message_of<base::InputError>({}, [&] { train(graph, options); });
  EXPECT_TRUE(message.starts_with("host memory: plan \"hanoi\" needs ")) << message;
  EXPECT_NE(message.find(", macro-batches "), std::string::npos) << message;
  EXPECT_EQ(loaded, 0);
}

TEST(HistoricalEmbeddingsOfTheHalo, AreAsOldAsTheTrainingOfTheirPart) {
  auto job = small_job(plan::ModelKind::sage);
  job.epochs = 4;
  const auto plan = macro_preset("joestar-2");
  std::int64_t batches = 0;
  for (const auto& epoch : train(graph_of_tests(), {.job = job, .plan = plan}).epochs) {
    batches = std::max(batches, std::ssize(epoch.log.trained));
    EXPECT_GT(epoch.history.rows, 0);
    // A part's vertices that mini-batches reach are renewed in every epoch; others may be older.
    EXPECT_GT(epoch.history.max, 0);
    EXPECT_LE(epoch.history.max, (epoch.epoch + 1) * batches);
  }
}

}  // namespace
}  // namespace gnomon::runtime
