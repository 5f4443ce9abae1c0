#include "profiles/stage_work.h"

#include <algorithm>

#include "profiles/catalog.h"

namespace gnomon::profiles {
namespace {

constexpr double line_bytes = 64;
constexpr double slot_bytes = 16;
constexpr double id_bytes = 4;
constexpr double row_pointer_bytes = 8;
constexpr double fp32_bytes = 4;
constexpr double assumed_classes = 16;

/// Hops from the seeds outwards. Profiles without hops, such as the papers', get hops with equal numbers of
/// edges.
std::vector<HopCounts> hops_of(const WorkloadProfile& workload) {
  if (!workload.hops.empty()) {
    return workload.hops;
  }
  const auto layers = static_cast<std::size_t>(std::max(1, workload.job.layers()));
  const double edges = workload.batch_edges / static_cast<double>(layers);
  const double first = std::min<double>(workload.job.batch_size, workload.batch_vertices);
  std::vector<HopCounts> hops;
  for (std::size_t hop = 0; hop < layers; ++hop) {
    const double share = static_cast<double>(hop) / static_cast<double>(layers);
    hops.push_back({first + share * (workload.batch_vertices - first), edges});
  }
  return hops;
}

/// One layer of the model on its hop.
struct LayerShape {
  double sources, destinations, edges;
  double in, out;
  bool is_first;
};

/// Layers from the features to the classes.
std::vector<LayerShape> layers_of(const WorkloadProfile& workload) {
  const auto hops = hops_of(workload);
  const std::size_t layers = hops.size();
  std::vector<LayerShape> shapes;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::size_t hop = layers - 1 - layer;
    const double sources = hop + 1 < layers ? hops[hop + 1].destinations : workload.batch_vertices;
    const bool is_first = layer == 0;
    const bool is_last = layer + 1 == layers;
    shapes.push_back({sources, hops[hop].destinations, hops[hop].edges,
                      is_first ? static_cast<double>(workload.feature_columns) : workload.job.hidden,
                      is_last ? assumed_classes : workload.job.hidden, is_first});
  }
  return shapes;
}

/// The number of rows that a layer multiplies with a weight matrix. GraphSAGE multiplies each destination and
/// its neighbours' mean, GAT multiplies every source.
double product_rows(plan::ModelKind model, const LayerShape& layer) {
  switch (model) {
    case plan::ModelKind::sage:
      return 2 * layer.destinations;
    case plan::ModelKind::gat:
      return layer.sources;
    default:
      return std::min(layer.sources, layer.destinations);
  }
}

void add(std::vector<Amount>& work, Work kind, double size, double count) {
  if (count > 0) {
    work.push_back({kind, std::max(1.0, size), count});
  }
}

void add_layer(std::vector<Amount>& work, const plan::Job& job, const LayerShape& layer) {
  const bool is_rounded = job.matmul_precision == plan::MatmulPrecision::medium;
  // The first layer's inputs get no gradient: two products instead of three, one aggregation instead of two.
  const double products = layer.is_first ? 2 : 3;
  const double aggregations = layer.is_first ? 1 : 2;
  const double flops = 2 * product_rows(job.model, layer) * layer.in * layer.out * products;
  add(work, is_rounded ? Work::dense_bf16 : Work::dense_fp32, std::min(layer.in, layer.out), flops);
  const double columns = layer.is_first && job.model == plan::ModelKind::sage ? layer.in : layer.out;
  add(work, Work::sparse, columns, layer.edges * columns * fp32_bytes * aggregations);
  constexpr double passes = 4;  // bias, activation and dropout, forward and backward
  const double activations = layer.destinations * layer.out * fp32_bytes * passes;
  const double dropout = layer.is_first ? layer.sources * layer.in * fp32_bytes : 0;
  add(work, Work::copies, std::max(activations / passes, dropout), activations + dropout);
}

}  // namespace

std::vector<Amount> sampling_work(const WorkloadProfile& workload) {
  double destinations = 0;
  double edges = 0;
  for (const HopCounts& hop : hops_of(workload)) {
    destinations += hop.destinations;
    edges += hop.edges;
  }
  const double topology_bytes = static_cast<double>(workload.edges) * id_bytes +
                                static_cast<double>(workload.vertices) * row_pointer_bytes;
  std::vector<Amount> work;
  add(work, Work::random_lines, topology_bytes, destinations + edges);
  add(work, Work::inserts, workload.batch_vertices, edges);
  add(work, Work::branches, 1, edges);
  return work;
}

std::vector<Amount> gathering_work(const WorkloadProfile& workload) {
  const double row_bytes = std::max(line_bytes, static_cast<double>(workload.feature_row_bytes));
  const double all_bytes =
      static_cast<double>(workload.vertices) * static_cast<double>(workload.feature_row_bytes);
  std::vector<Amount> work;
  add(work, Work::huge_page_rows, all_bytes, workload.batch_vertices * row_bytes);
  return work;
}

std::vector<Amount> training_work(const WorkloadProfile& workload) {
  std::vector<Amount> work;
  for (const LayerShape& layer : layers_of(workload)) {
    add_layer(work, workload.job, layer);
  }
  add(work, Work::operations, 1,
      static_cast<double>(launches_of_batch(std::max(2, workload.job.layers())).training));
  return work;
}

std::optional<Amount> on_gpu(const Amount& amount) {
  constexpr double beyond_caches = 1e9;
  switch (amount.work) {
    case Work::dense_fp32:
      return Amount{Work::device_dense_fp32, amount.size, amount.count};
    case Work::dense_bf16:
      return Amount{Work::device_dense_bf16, amount.size, amount.count};
    case Work::sparse:
      return Amount{Work::device_rows, beyond_caches, amount.count};
    case Work::random_lines:
      return Amount{Work::device_rows, amount.size, amount.count * line_bytes};
    case Work::inserts:  // atomic operations on lines of a table
      return Amount{Work::device_rows, amount.size * slot_bytes, amount.count * line_bytes};
    case Work::page_rows:
    case Work::huge_page_rows:
      return Amount{Work::device_rows, amount.size, amount.count};
    case Work::copies:
      return Amount{Work::device_copies, amount.size, amount.count};
    case Work::operations:
      return Amount{Work::launches, amount.size, amount.count};
    default:
      return std::nullopt;
  }
}

}  // namespace gnomon::profiles
