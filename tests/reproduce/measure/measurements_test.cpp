#include "reproduce/measure/measurements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/usable.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "plan/plan.h"
#include "reproduce/figures/figure_document.h"
#include "runtime/training/trainer.h"
#include "tests/fixtures/graphs.h"

namespace gnomon::reproduce {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

PanelSource panel_of(const std::string& measure, std::vector<SeriesSource> series = {}) {
  PanelSource panel;
  panel.measure = measure;
  panel.series = std::move(series);
  return panel;
}

SeriesSource trained(std::string name, std::string plan, std::vector<std::string> set = {}) {
  SeriesSource series;
  series.name = std::move(name);
  series.plan = std::move(plan);
  series.set = std::move(set);
  return series;
}

MeasuredOn on_job(std::vector<int> fanouts, int batch_size) {
  MeasuredOn on;
  on.job.fanouts = std::move(fanouts);
  on.job.batch_size = batch_size;
  on.job.hidden = 8;
  on.job.epochs = 2;
  return on;
}

const ChartSeries& series_of(const Chart& chart, const std::string& name) {
  const auto* series = chart.find(name);
  if (series == nullptr) {
    throw std::out_of_range(name);
  }
  return *series;
}

double y_of(const Chart& chart, const std::string& series, std::size_t point) {
  return series_of(chart, series).points.at(point).y;
}

/// 64 vertices that all gather from each other, of which 48 train; rows of 16 bytes.
graph::Graph complete_graph() {
  std::vector<std::vector<graph::VertexId>> lists(64);
  for (std::size_t v = 0; v < lists.size(); ++v) {
    for (std::size_t u = 0; u < lists.size(); ++u) {
      if (u != v) {
        lists[v].push_back(static_cast<graph::VertexId>(u));
      }
    }
  }
  struct Storage {
    std::vector<float> features = std::vector<float>(64 * 4, 1);
    std::vector<std::int32_t> labels = std::vector<std::int32_t>(64, 0);
    std::vector<graph::VertexId> train;
    std::shared_ptr<const void> graph;
  };
  auto graph = test::graph_of(lists);
  auto storage = std::make_shared<Storage>();
  for (graph::VertexId vertex = 0; vertex < 48; ++vertex) {
    storage->train.push_back(vertex);
  }
  storage->graph = graph.storage;
  graph.name = "complete";
  graph.features = {reinterpret_cast<const std::byte*>(storage->features.data()), graph::FeatureType::fp32,
                    64, 4};
  graph.labels = storage->labels;
  graph.num_classes = 2;
  graph.train = storage->train;
  graph.storage = std::move(storage);
  return graph;
}

// With all neighbours a mini-batch of a complete graph reads every vertex, and each hop but the first draws
// for all of them.
TEST(Measurements, CountWhatACompleteGraphMust) {
  Measurements measurements({.graph = complete_graph()});
  const auto on = on_job({-1, -1}, 16);
  const auto layers = measurements.chart(panel_of("layers"), on);
  EXPECT_EQ(layers.categories, (std::vector<std::string>{"outermost", "middle", "training vertices"}));
  EXPECT_EQ(y_of(layers, "vertices", 0), 64);
  EXPECT_EQ(y_of(layers, "vertices", 1), 64);
  EXPECT_EQ(y_of(layers, "vertices", 2), 16);
  EXPECT_EQ(series_of(layers, "vertices").points[0].deviation, 0.0);
  EXPECT_THAT(layers.measured_on, HasSubstr("complete: 64 vertices, 4032 edges, 48 training vertices; 3 "
                                            "mini-batches of 16 an epoch, fanouts -1,-1"));

  // 3 mini-batches: 64 rows of 16 bytes each, or 64 embeddings of 8 values.
  const auto moved = measurements.chart(panel_of("moved_bytes"), on);
  EXPECT_NEAR(y_of(moved, "an epoch's copies", 0), 3 * 64 * 16 / 1e6, 1e-12);
  EXPECT_NEAR(y_of(moved, "an epoch's copies", 1), 3 * 64 * 8 * 4 / 1e6, 1e-12);

  const auto edges = measurements.chart(panel_of("edges_by_hop"), on);
  ASSERT_EQ(series_of(edges, "hop 2").points.size(), 3U);
  EXPECT_EQ(y_of(edges, "hop 1", 2), 16 * 63);
  EXPECT_EQ(y_of(edges, "hop 2", 2), 64 * 63);
  EXPECT_EQ(y_of(measurements.chart(panel_of("vertices_by_hop"), on), "all vertices", 0), 64);
  const auto deviations = measurements.chart(panel_of("batch_deviations"), on);
  for (const auto& point : series_of(deviations, "mini-batches").points) {
    EXPECT_EQ(point.y, 0);
  }
  // All in the first of the bins.
  EXPECT_NEAR(y_of(measurements.chart(panel_of("batch_vertices"), on), "mini-batches", 0), 100, 1e-9);

  // Every epoch uses every row three times: caches answer their share, whatever they hold.
  const auto hits = measurements.chart(panel_of("hit_curves"), on);
  for (const char* policy : {"Random", "Degree", "PreSC", "Optimal"}) {
    for (const auto& point : series_of(hits, policy).points) {
      EXPECT_NEAR(point.y, point.x, 1e-9) << policy;
    }
  }
  EXPECT_EQ(y_of(measurements.chart(panel_of("overlap"), on), "all vertices", 0), 100);
}

// Parts of two vertices: a vertex of a macro-batch of n vertices gathers from n - 1 of them.
TEST(Measurements, CountTheEdgesWithinRandomParts) {
  Measurements measurements({.graph = complete_graph()});
  const auto chart = measurements.chart(panel_of("resident_edges"), on_job({5, 5}, 16));
  EXPECT_EQ(y_of(chart, "random parts", 0), 63);
  EXPECT_EQ(y_of(chart, "random parts", 1), 7);
  EXPECT_EQ(y_of(chart, "random parts", 2), 3);
}

// One part is the whole graph, and one mini-batch of all training vertices reads all of it.
TEST(Measurements, ReadTheWholeGraphForOnePart) {
  Measurements measurements({.graph = complete_graph()});
  const auto chart = measurements.chart(panel_of("vertices_read"), on_job({-1, -1}, 16));
  const auto& parts = series_of(chart, "parts and hubs").points;
  const auto& sampled = series_of(chart, "neighbour sampling").points;
  ASSERT_EQ(parts.size(), 3U);  // 4, 2 and 1 part
  EXPECT_EQ(parts.back().x, 48);
  EXPECT_NEAR(parts.back().y, 64.0 / 48, 1e-12);
  EXPECT_NEAR(sampled.back().y, 64.0 / 48, 1e-12);
  EXPECT_NEAR(sampled.front().y, 64.0 / 12, 1e-12);
}

/// What one mini-batch after another samples, counted again: uses of each row in an epoch.
std::vector<int> uses_of(const graph::Graph& graph, const plan::Job& job, std::uint64_t epoch) {
  std::vector<int> uses(static_cast<std::size_t>(graph.num_vertices()));
  kernels::cpu::Sampler sampler(graph, job.fanouts);
  const auto order = graph::epoch_order(graph.train, job.seed, epoch);
  kernels::MiniBatch batch;
  for (std::int64_t i = 0; i < graph::num_batches(std::ssize(graph.train), job.batch_size); ++i) {
    sampler.sample({job.seed, epoch, static_cast<std::uint64_t>(i)},
                   graph::batch_seeds(order, job.batch_size, i), batch);
    const std::set<std::int64_t> rows(batch.vertices.begin(), batch.vertices.end());
    for (const auto row : rows) {
      ++uses[static_cast<std::size_t>(row)];
    }
  }
  return uses;
}

TEST(Measurements, HitsAndOverlapAreThoseOfTheSampledEpochs) {
  graph::Rmat options;
  options.scale = 9;
  options.feature_columns = 4;
  const auto graph = graph::generate_in_memory(options);
  const auto on = on_job({5, 3}, 32);
  Measurements measurements({.graph = graph});
  const auto first = uses_of(graph, on.job, 0);
  const auto second = uses_of(graph, on.job, 1);
  double common = 0;
  double all = 0;
  for (std::size_t v = 0; v < first.size(); ++v) {
    common += std::min(first[v], second[v]);
    all += first[v];
  }
  const auto overlap = measurements.chart(panel_of("overlap"), on);
  EXPECT_NEAR(y_of(overlap, "all vertices", 0), 100 * common / all, 1e-9);
  EXPECT_THAT(overlap.missing, ::testing::ElementsAre(HasSubstr("random walks")));
  EXPECT_EQ(overlap.categories, (std::vector<std::string>{"5,3", "5,3 by random weights"}));

  // A tenth of the rows is 51.2 of them: the curve lies between 51 and 52 of those that were used most.
  std::vector<int> best = second;
  std::sort(best.rbegin(), best.rend());
  double uses = 0;
  double held = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    uses += best[i];
    held += i < 52 ? best[i] : 0;
  }
  const auto hits = measurements.chart(panel_of("hits_of_a_tenth"), on);
  EXPECT_NEAR(y_of(hits, "Optimal", 0), 100 * held / uses, 1);
  EXPECT_LE(y_of(hits, "PreSC", 0), y_of(hits, "Optimal", 0));
  EXPECT_GT(y_of(hits, "PreSC", 0), 10);
}

TEST(Measurements, AccuraciesAreMeansOfTrainings) {
  const auto graph = graph::generate_in_memory(test::tiny_partition());
  auto on = on_job({5, 5}, 60);
  on.seeds = 2;
  Measurements measurements({.graph = graph});
  const std::vector<SeriesSource> plans{trained("exact", "device"),
                                        trained("NeutronOrch", "neutronorch", {"plan.super_batch=2"})};
  const auto by_epoch = measurements.chart(panel_of("accuracy_by_epoch", plans), on);
  double sum = 0;
  std::vector<double> accuracies;
  for (const std::uint64_t seed : {0, 1}) {
    runtime::TrainOptions options;
    options.job = on.job;
    options.job.seed = seed;
    options.plan = plan::resolve(plan::find_plan("device"), {base::usable_cores()}, "plan");
    accuracies.push_back(100 * runtime::train(graph, options).epochs.back().valid_accuracy);
    sum += accuracies.back();
  }
  ASSERT_EQ(series_of(by_epoch, "exact").points.size(), 2U);
  EXPECT_NEAR(y_of(by_epoch, "exact", 1), sum / 2, 1e-9);
  EXPECT_NEAR(series_of(by_epoch, "exact").points[1].deviation.value(),
              std::abs(accuracies[0] - accuracies[1]) / std::sqrt(2.0), 1e-9);
  // Embeddings of this and the last super-batch of two are used.
  const auto staleness = measurements.chart(panel_of("staleness", plans), on);
  EXPECT_EQ(y_of(staleness, "exact", 0), 0);
  EXPECT_GT(y_of(staleness, "NeutronOrch", 0), 0);
  EXPECT_LE(y_of(staleness, "NeutronOrch", 0), 3);
}

// Super-batches of n mini-batches use embeddings that are at most 2 n - 1 updates old, and of that age if an
// epoch has two of them; those of one mini-batch reuse the last one's.
TEST(Measurements, SettingsAreSwept) {
  const auto graph = graph::generate_in_memory(test::tiny_partition());
  auto on = on_job({5, 5}, 60);
  on.min_batches = 16;
  Measurements measurements({.graph = graph});
  auto exact = trained("exact", "device");
  exact.flat = true;
  auto panel = panel_of("staleness_by_setting", {trained("NeutronOrch", "neutronorch"), exact});
  panel.x = "plan.super_batch=1,4,8";
  const auto chart = measurements.chart(panel, on);
  EXPECT_THAT(chart.missing, ::testing::IsEmpty());
  ASSERT_EQ(series_of(chart, "NeutronOrch").points.size(), 3U);
  for (const auto& point : series_of(chart, "NeutronOrch").points) {
    EXPECT_EQ(point.y, 2 * point.x - 1);
  }
  EXPECT_EQ(y_of(chart, "exact", 2), 0);
  panel.measure = "accuracy_by_setting";
  const auto accuracies = measurements.chart(panel, on);
  EXPECT_EQ(series_of(accuracies, "NeutronOrch").points.at(1).x, 4);
  EXPECT_EQ(y_of(accuracies, "exact", 0), y_of(accuracies, "exact", 2));
  const auto alone = measurements.chart(
      panel_of("test_accuracy", {trained("NeutronOrch", "neutronorch", {"plan.super_batch=8"})}), on);
  EXPECT_EQ(y_of(accuracies, "NeutronOrch", 2), y_of(alone, "NeutronOrch", 0));
  panel.x = "plan.no_such_field=1";
  EXPECT_THROW(measurements.chart(panel, on), base::InputError);
}

// A complete graph of 64 rows of 16 bytes, sampled whole: a mini-batch has 63 edges for each of its seeds and
// of all vertices. Parts have all other vertices as their halo, and the lists of their own vertices.
TEST(Measurements, CopiesOfACompleteGraph) {
  Measurements measurements({.graph = complete_graph()});
  const auto chart = measurements.chart(
      panel_of("copied_bytes", {trained("two of four parts", "joestar-2",
                                        {"plan.macro.partitions=4", "plan.macro.resident=2",
                                         "plan.macro.partitioner=random"}),
                                trained("too many", "joestar-2", {"plan.macro.partitions=65"})}),
      on_job({-1, -1}, 16));
  const auto batch = [](double seeds) { return 64 * 16 + (seeds + 64) * (4 * 63 + 8); };
  EXPECT_EQ(chart.categories, (std::vector<std::string>{"single batches", "Joestar-I, 1/12",
                                                        "Joestar-I, 1/24", "two of four parts"}));
  EXPECT_NEAR(y_of(chart, "an epoch's copies", 0), 3 * batch(16) / 1e6, 1e-12);
  EXPECT_NEAR(y_of(chart, "an epoch's copies", 1), 12 * batch(4) / 1e6, 1e-12);
  EXPECT_NEAR(y_of(chart, "an epoch's copies", 2), 24 * batch(2) / 1e6, 1e-12);
  EXPECT_NEAR(y_of(chart, "an epoch's copies", 3), (2 * 64 * 16 + 64 * (4 * 63 + 8)) / 1e6, 1e-12);
  ASSERT_EQ(chart.missing.size(), 1U);
  EXPECT_THAT(chart.missing.front(), HasSubstr("too many: parts: 65"));
}

// Plans that read parts from the disk train on a store of the graph by these parts. With all parts resident
// MariusGNN trains on the whole graph, and loses nothing beyond the spread of seeds.
TEST(Measurements, TrainFromPartsOnTheDisk) {
  auto options = test::tiny_partition();
  options.vertices = 2000;
  auto on = on_job({5, 5}, 60);
  on.job.epochs = 5;
  Measurements measurements({.graph = graph::generate_in_memory(options)});
  const auto chart = measurements.chart(
      panel_of("test_accuracy", {trained("in memory", "ns-mem"), trained("Hanoi", "hanoi"),
                                 trained("all parts", "mariusgnn", {"plan.macro.resident=32"}),
                                 trained("one part", "mariusgnn", {"plan.macro.resident=1"})}),
      on);
  EXPECT_THAT(chart.missing, ::testing::IsEmpty());
  const double in_memory = y_of(chart, "in memory", 0);
  EXPECT_NEAR(y_of(chart, "all parts", 0), in_memory, 5);
  EXPECT_LT(y_of(chart, "one part", 0), in_memory);
  EXPECT_GT(y_of(chart, "Hanoi", 0), y_of(chart, "one part", 0));
}

// Hanoi's plan has 32 parts.
TEST(Measurements, PlansThatTheGraphDoesNotFitAreMissing) {
  auto options = test::tiny_partition();
  options.vertices = 30;
  Measurements measurements({.graph = graph::generate_in_memory(options)});
  const auto chart =
      measurements.chart(panel_of("test_accuracy", {trained("Hanoi", "hanoi")}), on_job({3, 3}, 4));
  ASSERT_EQ(chart.missing.size(), 1U);
  EXPECT_THAT(chart.missing.front(), HasSubstr("Hanoi: parts: 32 is out of range"));
}

// What this device does not execute is missing with its reason; what it does has its points.
TEST(Measurements, PlansThatDoNotRunAreMissing) {
  Measurements measurements({.graph = graph::generate_in_memory(test::tiny_partition())});
  const auto chart =
      measurements.chart(panel_of("test_accuracy", {trained("exact", "device"), trained("NVLink", "quiver")}),
                         on_job({3, 3}, 60));
  ASSERT_EQ(chart.series.size(), 2U);
  EXPECT_EQ(chart.series[0].points.size(), 1U);
  EXPECT_TRUE(chart.series[1].points.empty());
  ASSERT_EQ(chart.missing.size(), 1U);
  EXPECT_THAT(chart.missing.front(), HasSubstr("NVLink: this device does not execute"));
}

TEST(Measurements, RandomCachesAnswerTheirShare) {
  graph::Rmat options;
  options.scale = 11;
  options.feature_columns = 256;
  options.split.train_share = 0.9;
  options.split.valid_share = 0.05;
  Measurements measurements({.graph = graph::generate_in_memory(options)});
  const auto chart = measurements.chart(panel_of("random_cache_time"), on_job({5, 5}, 128));
  for (const char* kind : {"rows cached", "lists cached"}) {
    const auto& points = series_of(chart, kind).points;
    ASSERT_EQ(points.size(), 9U) << kind;
    EXPECT_EQ(points.front().x, 0) << kind;
    EXPECT_TRUE(std::is_sorted(points.begin(), points.end(), [](auto a, auto b) { return a.x < b.x; }))
        << kind;
    EXPECT_GT(points.back().x, 90) << kind;
    for (const auto& point : points) {
      EXPECT_GT(point.y, 0) << kind;
    }
  }
  EXPECT_NEAR(series_of(chart, "rows cached").points[4].x, 50, 10);
}

TEST(Measurements, AreNamed) {
  Measurements measurements({.graph = complete_graph()});
  EXPECT_THAT([&] { measurements.chart(panel_of("luck"), on_job({5}, 16)); },
              ThrowsMessage<base::InputError>(HasSubstr("\"luck\" is not a measurement")));
}

TEST(Measurements, StopWhenTheyAreTold) {
  std::atomic<bool> stop{true};
  Measurements measurements({.graph = complete_graph(), .stop = &stop});
  EXPECT_THROW(measurements.chart(panel_of("hit_curves"), on_job({5, 5}, 16)), base::Interrupted);
  EXPECT_THROW(
      measurements.chart(panel_of("test_accuracy", {trained("exact", "device")}), on_job({5, 5}, 16)),
      base::Interrupted);
  EXPECT_THROW(measurements.chart(panel_of("vertices_read"), on_job({5, 5}, 16)), base::Interrupted);
  EXPECT_THROW(measurements.chart(panel_of("random_cache_time"), on_job({5, 5}, 16)), base::Interrupted);
}

class EveryMeasuredPanel : public testing::TestWithParam<std::string> {};

// Each panel of each paper is measured on a graph of the user's: its measurement exists and its plans' fields
// do.
TEST_P(EveryMeasuredPanel, IsMeasuredOnASmallGraph) {
  Measurements measurements({.graph = graph::generate_in_memory(test::tiny_partition())});
  for (const auto& figure : find_figures(GetParam()).figures) {
    for (const auto& panel : figure.panels) {
      if (panel.measure.empty() || panel.measure == "random_cache_time") {  // which takes its time
        continue;
      }
      auto on = figure.measured_on.value();
      on.seeds = 1;
      on.job.epochs = 2;
      on.min_batches = std::max(2, on.min_batches / 4);
      const auto chart = measurements.chart(panel, on);
      const auto points = [](const ChartSeries& series) { return !series.points.empty(); };
      EXPECT_TRUE(std::any_of(chart.series.begin(), chart.series.end(), points)) << figure.id;
      for (const auto& series : chart.series) {
        EXPECT_TRUE(points(series) || !chart.missing.empty()) << figure.id << ": " << series.name;
        for (const auto& point : series.points) {
          EXPECT_TRUE(std::isfinite(point.y)) << figure.id << ": " << series.name;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Papers, EveryMeasuredPanel,
                         testing::Values("morphgl", "neutronorch", "a3gnn", "hanoi", "joestar", "gnnlab",
                                         "ducati"));

}  // namespace
}  // namespace gnomon::reproduce
