#include "reproduce/hanoi.h"

#include "sim/costs/memory.h"

namespace gnomon::reproduce {
namespace {

/// Bytes of an id in the in-memory baseline, which is PyG's: its graphs are tensors of torch.int64.
constexpr double pyg_index_bytes = 8;

/// Bytes of a feature: OGB distributes the MAG graphs with two, the others with four.
int value_bytes_of(const std::string& dataset) { return dataset.starts_with("mag") ? 2 : 4; }

}  // namespace

double hanoi_dataset_bytes(const Paper& paper, const std::string& dataset) {
  const auto number = [&](const char* metric) {
    return paper.at({{"table", "table4.4"}, {"dataset", dataset}, {"metric", metric}});
  };
  profiles::WorkloadProfile workload;
  workload.vertices = static_cast<std::int64_t>(number("nodes"));
  workload.feature_row_bytes = value_bytes_of(dataset) * static_cast<std::int64_t>(number("feature_dim"));
  return pyg_index_bytes * (number("nodes") + 1 + number("edges")) + sim::features_bytes(workload);
}

Report reproduce_hanoi(sim::Simulator&, const base::Progress&) {
  const Paper paper = find_paper("hanoi");
  Report report{paper.name, paper.source, "table4.1", {}, {}, {}};
  report.rows.push_back({"table4.1", "any", "in-memory training of mag240m: memory", "GB",
                         paper.at({{"method", "In-Memory (NS-Mem)"}, {"metric", "memory_gb"}}),
                         hanoi_dataset_bytes(paper, "mag240m") / 1e9, Measure::relative});
  report.not_predicted = {
      {"table4.1", "runtime of MariusGNN, Ginex, Hanoi",
       "each is the largest ratio of several figures; no epoch of the in-memory baseline is printed, "
       "so the share of disk time in it is not known"},
      {"table4.1", "memory of MariusGNN, Ginex, Hanoi", "what they were given"},
      {"table4.1, table4.2", "accuracy", "not a time"},
      {"table4.3, table4.4", "edges per node, sizes", "properties of the graphs"}};
  return report;
}

}  // namespace gnomon::reproduce
