#include "graph/order/reorder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/runtime/test_runs.h"

// Another order of the vertices draws other mini-batches of the same graph: training goes as well.

namespace gnomon::runtime {
namespace {

constexpr int runs = 6;

std::vector<double> accuracies(const graph::Graph& graph) {
  std::vector<double> accuracies;
  for (int seed = 0; seed < runs; ++seed) {
    TrainOptions options;
    options.job = small_job(plan::ModelKind::sage);
    options.job.seed = static_cast<std::uint64_t>(seed);
    options.job.epochs = 4;
    options.plan = sequential_plan();
    options.predict = true;
    const auto report = train(graph, options);
    accuracies.push_back(report.test_accuracy);

    std::int64_t correct = 0;
    for (const auto vertex : graph.test) {
      const auto at = static_cast<std::size_t>(vertex);
      correct += report.predictions.classes[at] == graph.labels[at] ? 1 : 0;
    }
    EXPECT_DOUBLE_EQ(report.test_accuracy,
                     static_cast<double>(correct) / static_cast<double>(graph.test.size()));
  }
  return accuracies;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

double variance(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += (value - mean(values)) * (value - mean(values));
  }
  return sum / static_cast<double>(values.size() - 1);
}

TEST(Reordered, TrainsToTheSameAccuracy) {
  const auto graph = test::planted_graph(1500, 32);
  const auto plain = accuracies(graph);
  EXPECT_GT(mean(plain), 0.5);  // four classes: a quarter is chance
  for (const auto order : {graph::VertexOrder::degree, graph::VertexOrder::rcm}) {
    const auto other = accuracies(graph::reordered(graph, graph::vertices_in_order(graph, order)));
    // Four standard errors of the difference, and a vertex or two where both happen to agree.
    const double error = std::sqrt((variance(plain) + variance(other)) / runs);
    EXPECT_NEAR(mean(other), mean(plain), 4 * error + 0.005) << base::name_of(order);
  }
}

}  // namespace
}  // namespace gnomon::runtime
