#include "reproduce/paper.h"
#include "reproduce/papers.h"
#include "sim/costs/memory.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {
namespace {

double kernel_number(const Paper& paper, const char* batch_size, const char* metric) {
  return paper.at({{"model", "GCN"}, {"batch_size", batch_size}, {"metric", metric}});
}

/// Mean length of a kernel, half of them computing and half moving memory.
double mean_kernel_us(const Paper& paper, const char* batch_size) {
  return (kernel_number(paper, batch_size, "avg_compute_us") +
          kernel_number(paper, batch_size, "avg_memory_us")) /
         2;
}

/// What training in memory keeps of a graph, whose features have two bytes a value as OGB gives them.
double memory_of_graph(const Paper& paper, const char* dataset) {
  const auto number = [&](const char* metric) {
    return paper.at({{"table", "table4.4"}, {"dataset", dataset}, {"metric", metric}});
  };
  profiles::Profile profile;
  auto& workload = profile.workload;
  workload.vertices = static_cast<std::int64_t>(number("nodes"));
  workload.edges = static_cast<std::int64_t>(number("edges"));
  workload.feature_row_bytes = 2 * static_cast<std::int64_t>(number("feature_dim"));
  const auto memory = sim::memory_of(profile, plan::find_plan("ns-mem"), {}).host;
  return memory.topology_bytes + memory.features_bytes;
}

}  // namespace

Report reproduce_a3gnn(sim::Simulator&, const base::Progress&) {
  const Paper paper = find_paper("a3gnn");
  return {paper.name,
          paper.source,
          "tableII",
          {},
          {},
          {{"tableII", "throughput of Ours(T*) and Ours(M*)",
            "PyG's and Quiver's columns are whole epochs: neither the stage times that the modes divide "
            "(sampling, batch generation, training) nor the settings that the search chose are printed"},
           {"tableII", "peak memory, accuracy", "not times; memory is that of settings that are not printed"},
           {"tableIII", "all", "scores of surrogate models on the authors' measurements"}}};
}

Report reproduce_hanoi(sim::Simulator&, const base::Progress&) {
  const Paper paper = find_paper("hanoi");
  Report report{paper.name, paper.source, "table4.1", {}, {}, {}};
  report.rows.push_back({"table4.1", "any", "in-memory training of mag240m: memory", "GB",
                         paper.at({{"method", "In-Memory (NS-Mem)"}, {"metric", "memory_gb"}}),
                         memory_of_graph(paper, "mag240m") / 1e9, Measure::relative});
  report.not_predicted = {
      {"table4.1", "runtime of MariusGNN, Ginex, Hanoi",
       "each is the largest ratio of several figures; no epoch of the in-memory baseline is printed, "
       "so the share of disk time in it is not known"},
      {"table4.1", "memory of MariusGNN, Ginex, Hanoi", "what they were given"},
      {"table4.1, table4.2", "accuracy", "not a time"},
      {"table4.3, table4.4", "edges per node, sizes", "properties of the graphs"}};
  return report;
}

Report reproduce_joestar(sim::Simulator&, const base::Progress&) {
  const Paper paper = find_paper("joestar");
  Report report{paper.name, paper.source, "table5.1", {}, {}, {}};
  const double small_us = mean_kernel_us(paper, "1000");
  const double large_us = mean_kernel_us(paper, "8000");
  const double gap_us = small_us * (100 / kernel_number(paper, "1000", "gpu_activity_pct") - 1);
  report.rows.push_back({"table5.1", "RTX 4090", "GCN, batches of 8,000: GPU activity", "%",
                         kernel_number(paper, "8000", "gpu_activity_pct"),
                         100 * large_us / (large_us + gap_us), Measure::relative});
  report.not_predicted = {
      {"table5.1", "ResNet50; GCN with batches of 1,000", "inputs"},
      {"table5.4 to table5.6", "all", "data sets and settings, not times"},
      {"table5.7", "all", "accuracies"},
      {"figures 5.11 to 5.15", "speed-ups", "means of ratios; no baseline's epoch or stage time is printed"}};
  return report;
}

}  // namespace gnomon::reproduce
