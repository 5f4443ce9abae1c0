#include "reproduce/joestar.h"

#include "reproduce/paper.h"

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

}  // namespace

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
