#include "apps/text/partition_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "apps/text/format.h"
#include "apps/text/table.h"

namespace gnomon::apps {
namespace {

std::string extremes_text(const graph::Extremes& extremes) {
  return format_count(extremes.min) + " to " + format_count(extremes.max) + " per part";
}

/// One quantity of macro-batches.
struct Quantity {
  std::string name;
  std::function<double(const graph::WorkingSet&)> of;
  std::optional<double> simulated;
  std::string (*format)(double);
};

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }
double ratio(std::int64_t a, std::int64_t b) { return ratio(static_cast<double>(a), static_cast<double>(b)); }

/// The normalised working set is Huang's (PhD thesis, MIT, 2025, chapter 4).
std::vector<Quantity> quantities(const sim::MacroRead& simulated) {
  return {{"bytes read", [](const auto& set) { return static_cast<double>(set.bytes); }, simulated.bytes,
           format_bytes},
          {"vertices read", [](const auto& set) { return static_cast<double>(set.vertices); },
           simulated.vertices, format_number},
          {"training vertices", [](const auto& set) { return static_cast<double>(set.train); },
           simulated.train_vertices, format_number},
          {"vertices per training vertex", [](const auto& set) { return ratio(set.vertices, set.train); },
           ratio(simulated.vertices, simulated.train_vertices), format_number},
          {"neighbours in memory", [](const auto& set) { return ratio(set.edges_within, set.edges); },
           std::nullopt, format_percent}};
}

sim::MacroRead mean_of(const std::vector<sim::MacroRead>& reads) {
  const auto count = static_cast<double>(reads.size());
  sim::MacroRead mean;
  for (const auto& read : reads) {
    mean.vertices += read.vertices / count;
    mean.bytes += read.bytes / count;
    mean.train_vertices += read.train_vertices / count;
  }
  return mean;
}

void add_quantity(Table& table, const std::vector<graph::WorkingSet>& sets, const Quantity& quantity) {
  std::vector<double> values(sets.size());
  std::transform(sets.begin(), sets.end(), values.begin(), quantity.of);
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  table.add_row({quantity.name, quantity.simulated ? quantity.format(*quantity.simulated) : "-",
                 quantity.format(sum / static_cast<double>(values.size())), quantity.format(*min),
                 quantity.format(*max)});
}

}  // namespace

std::vector<sim::MacroRead> simulated_reads(const graph::Graph& graph, const graph::PartitionReport& report) {
  const auto& sizes = report.quality.sizes;
  profiles::WorkloadProfile workload;
  workload.vertices = graph.num_vertices();
  workload.edges = graph.num_edges();
  workload.train_vertices = std::ssize(graph.train);
  workload.feature_row_bytes = graph.features.any() ? graph.features.bytes() / graph.features.rows : 0;
  workload.job.seed = report.partition.seed;
  plan::Macro macro;
  macro.partitions = report.partition.parts;
  macro.resident = report.macro.resident;
  workload.store_parts = {macro.partitioner, sizes.vertices, sizes.edges, sizes.train};
  return sim::macro_reads(workload, macro, 0);
}

std::string partition_text(const graph::PartitionReport& report,
                           const std::vector<sim::MacroRead>& simulated) {
  const auto& quality = report.quality;
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += fmt::format("{:<10}{}\n", name, value);
  };
  line("parts",
       fmt::format("{}, {}", format_count(report.partition.parts), base::name_of(report.partition.method)));
  line("cut", format_percent(quality.cut_share) + " of the edges");
  line("vertices", extremes_text(quality.vertices));
  line("training", extremes_text(quality.train));
  line("edges", extremes_text(quality.edges));
  line("labels", format_number(quality.label_imbalance) + " x a perfect balance in their fullest parts");
  text += fmt::format("\nmacro-batches of an epoch: {}, of {} each{}\n", report.macro_batches.size(),
                      format_counted(report.macro.resident, "part", "parts"),
                      report.macro.hub_ratio > 0
                          ? ", plus hubs, " + format_percent(report.macro.hub_ratio) + " of the vertices"
                          : "");
  Table table({"per macro-batch", "simulated", "mean", "min", "max"});
  for (const auto& quantity : quantities(mean_of(simulated))) {
    add_quantity(table, report.macro_batches, quantity);
  }
  return text + table.text();
}

base::Json partition_document(const graph::PartitionReport& report,
                              const std::vector<sim::MacroRead>& simulated) {
  auto document = base::to_document(report);
  document["simulated"] = base::Json::array();
  for (const auto& read : simulated) {
    document["simulated"].push_back(
        {{"vertices", read.vertices}, {"bytes", read.bytes}, {"train_vertices", read.train_vertices}});
  }
  return document;
}

}  // namespace gnomon::apps
