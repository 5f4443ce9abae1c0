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
/// Of a sparse feature: its column, and in most graphs a value of two or four bytes.
constexpr double entry_bytes = 6;
/// Where dropout is not 0 it is seldom far from this.
constexpr double kept_by_dropout = 0.5;

/// Integer work on vectors, such as random numbers, for which machines have no probe: in flops of wide
/// products that take as long.
constexpr double wide = 256;
constexpr double flops_per_draw = 400;
constexpr double flops_per_dropped = 50;

/// Of the host, for what is a launch on a GPU: forwards and backwards through autograd.
constexpr double calls_per_launch = 4;

/// Of the weights of sparse features: words that many vertices have are read most often. Fitted to the times
/// of two graphs of papers and goods (bench/results/other_models.json).
constexpr double often_read_weights = 1.0 / 16;

/// What stays in a core's own caches.
constexpr double cached_bytes = 65536;

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
  bool is_first, is_last;
  /// Of the features, if the first layer's inputs are sparse rows; else 0.
  double entries_per_row;

  /// As nn/models.cpp chooses: whether aggregating before the product is less work.
  bool aggregates_first(plan::ModelKind model) const {
    return model != plan::ModelKind::gat && entries_per_row == 0 &&
           destinations * in * out + edges * in < sources * in * out + edges * out;
  }
};

/// Layers from the features to the classes.
std::vector<LayerShape> layers_of(const WorkloadProfile& workload) {
  const auto hops = hops_of(workload);
  const std::size_t layers = hops.size();
  const auto row_bytes = static_cast<double>(workload.feature_row_bytes);
  std::vector<LayerShape> shapes;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::size_t hop = layers - 1 - layer;
    const double sources = hop + 1 < layers ? hops[hop + 1].destinations : workload.batch_vertices;
    const bool is_first = layer == 0;
    const bool is_last = layer + 1 == layers;
    shapes.push_back({sources, hops[hop].destinations, hops[hop].edges,
                      is_first ? static_cast<double>(workload.feature_columns) : workload.job.hidden,
                      is_last ? assumed_classes : workload.job.hidden, is_first, is_last,
                      is_first && has_sparse_rows(workload) ? row_bytes / entry_bytes : 0});
  }
  return shapes;
}

void add(std::vector<Amount>& work, Work kind, double size, double count) {
  if (count > 0) {
    work.push_back({kind, std::max(1.0, size), count});
  }
}

/// The work of training one layer.
class LayerWork {
 public:
  LayerWork(std::vector<Amount>& work, const plan::Job& job, const LayerShape& layer)
      : work_(work),
        job_(job),
        layer_(layer),
        aggregates_first_(layer.aggregates_first(job.model)),
        product_(job.matmul_precision == plan::MatmulPrecision::medium ? Work::dense_bf16
                                                                       : Work::dense_fp32) {}

  /// Each forwards and for the weights' gradient, and but for the first layer for the inputs'.
  double product_flops() const {
    const double products = layer_.is_first ? 2 : 3;
    return 2 * product_rows() * layer_.in * layer_.out * products;
  }

  double weights() const {
    const double matrices = job_.model == plan::ModelKind::sage ? 2 : 1;
    return matrices * layer_.in * layer_.out;
  }

  /// The first layer's inputs after dropout, operands of products, and outputs with what is computed from
  /// them.
  double activations() const {
    const double inputs = layer_.is_first && layer_.entries_per_row == 0 ? layer_.sources * layer_.in : 0;
    const double means = aggregates_first_ ? layer_.destinations * layer_.in : 0;
    // Output, its gradient, activation and dropout; with attention also of the values at edges' ends.
    const double per_output = job_.model == plan::ModelKind::gat ? 6 : 4;
    const double rows = aggregates_first_ ? layer_.destinations : layer_.sources;
    return inputs + means + per_output * rows * layer_.out;
  }

  void count() {
    if (layer_.entries_per_row > 0) {
      count_sparse_products();
    } else {
      count_products();
    }
    const double columns = aggregates_first_ ? layer_.in : layer_.out;
    // The first layer's inputs get no gradient.
    const double passes = layer_.is_first && aggregates_first_ ? 1 : 2;
    add(work_, Work::sparse, columns, layer_.edges * columns * fp32_bytes * passes);
    if (job_.model == plan::ModelKind::gat) {
      count_attention();
    }
    count_activations();
  }

 private:
  /// Rows that are multiplied with a weight matrix. GraphSAGE multiplies a vertex and its neighbours' mean.
  double product_rows() const {
    const double own = job_.model == plan::ModelKind::sage ? layer_.destinations : 0;
    return own + (aggregates_first_ ? layer_.destinations : layer_.sources);
  }

  void count_products() {
    add(work_, product_, std::min(layer_.in, layer_.out), product_flops());
    constexpr double passes = 6;  // over the operand and its gradient, forwards and backwards
    const double operand = product_rows() * layer_.in * fp32_bytes;
    add(work_, Work::copies, operand, operand * passes);
    if (layer_.is_first) {
      const double inputs = layer_.sources * layer_.in;
      add(work_, Work::copies, inputs * fp32_bytes, inputs * fp32_bytes);
      count_dropout(inputs);
    }
  }

  /// A row of weights for each entry that is kept, forwards and for the weights' gradient. Whether an entry
  /// of the inputs is kept cannot be predicted.
  void count_sparse_products() {
    const double entries = product_rows() * layer_.entries_per_row * (drops() ? kept_by_dropout : 1);
    constexpr double passes = 2;
    const double weight_bytes = layer_.in * layer_.out * fp32_bytes * often_read_weights;
    add(work_, Work::copies, std::max(cached_bytes, weight_bytes),
        entries * layer_.out * fp32_bytes * passes);
    if (drops()) {
      add(work_, Work::branches, 1, layer_.sources * layer_.entries_per_row);
    }
  }

  void count_attention() {
    const double heads = layer_.is_last ? 1 : job_.heads;
    const double loops = layer_.destinations;
    constexpr double passes = 2;  // over the values at both ends of each edge, for the gradients
    add(work_, Work::sparse, layer_.out, (layer_.edges + loops) * layer_.out * fp32_bytes * passes);
    constexpr double products = 3;
    add(work_, Work::dense_fp32, heads,
        2 * (layer_.sources + layer_.destinations) * layer_.out * heads * products);
  }

  void count_activations() {
    constexpr double passes = 8;  // product, bias, activation and dropout, forwards and backwards
    const double rows = job_.model == plan::ModelKind::sage ? layer_.destinations : product_rows();
    const double bytes = rows * layer_.out * fp32_bytes;
    add(work_, Work::copies, bytes, bytes * passes);
    if (!layer_.is_last) {
      count_dropout(layer_.destinations * layer_.out);
    }
  }

  bool drops() const { return job_.dropout > 0; }
  void count_dropout(double elements) {
    if (drops()) {
      add(work_, Work::dense_fp32, wide, elements * flops_per_dropped);
    }
  }

  std::vector<Amount>& work_;
  const plan::Job& job_;
  const LayerShape& layer_;
  bool aggregates_first_;
  Work product_;
};

double sum_of_layers(const WorkloadProfile& workload, double (LayerWork::*of_layer)() const) {
  std::vector<Amount> none;
  double sum = 0;
  for (const LayerShape& layer : layers_of(workload)) {
    sum += (LayerWork(none, workload.job, layer).*of_layer)();
  }
  return sum;
}

}  // namespace

bool has_sparse_rows(const WorkloadProfile& workload) {
  constexpr std::int64_t fp16_bytes = 2;
  return workload.feature_row_bytes < fp16_bytes * workload.feature_columns;
}

std::vector<Amount> sampling_work(const WorkloadProfile& workload) {
  if (workload.work) {
    return workload.work->sampling;
  }
  double edges = 0;
  for (const HopCounts& hop : hops_of(workload)) {
    edges += hop.edges;
  }
  const double topology_bytes = static_cast<double>(workload.edges) * id_bytes +
                                static_cast<double>(workload.vertices) * row_pointer_bytes;
  std::vector<Amount> work;
  add(work, Work::random_lines, topology_bytes, edges);
  add(work, Work::dense_fp32, wide, edges * flops_per_draw);
  return work;
}

std::vector<Amount> gathering_work(const WorkloadProfile& workload) {
  if (workload.work) {
    return workload.work->gathering;
  }
  const auto row_bytes = static_cast<double>(workload.feature_row_bytes);
  const double all_bytes = static_cast<double>(workload.vertices) * row_bytes;
  std::vector<Amount> work;
  if (has_sparse_rows(workload)) {
    add(work, Work::random_lines, all_bytes, workload.batch_vertices * row_bytes / line_bytes);
  } else {
    add(work, Work::huge_page_rows, all_bytes, workload.batch_vertices * std::max(line_bytes, row_bytes));
  }
  add(work, Work::copies, workload.batch_bytes, workload.batch_bytes);
  return work;
}

std::vector<Amount> training_work(const WorkloadProfile& workload) {
  if (workload.work) {
    return workload.work->training;
  }
  std::vector<Amount> work;
  for (const LayerShape& layer : layers_of(workload)) {
    LayerWork(work, workload.job, layer).count();
  }
  const int layers = std::max(2, workload.job.layers());
  add(work, Work::operations, 1,
      calls_per_launch * static_cast<double>(launches_of_batch(workload.job.model, layers).training));
  return work;
}

BatchWork batch_work(const WorkloadProfile& workload) {
  return {sampling_work(workload), gathering_work(workload), training_work(workload)};
}

double weight_elements(const WorkloadProfile& workload) {
  return sum_of_layers(workload, &LayerWork::weights);
}

double activation_elements(const WorkloadProfile& workload) {
  return sum_of_layers(workload, &LayerWork::activations);
}

double product_flops(const WorkloadProfile& workload) {
  double flops = 0;
  if (workload.hops.empty()) {
    return flops;
  }
  std::vector<Amount> none;
  for (const LayerShape& layer : layers_of(workload)) {
    if (!layer.is_last && layer.entries_per_row == 0) {
      flops += LayerWork(none, workload.job, layer).product_flops();
    }
  }
  return flops;
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
      return Amount{Work::launches, amount.size, amount.count / calls_per_launch};
    default:
      return std::nullopt;
  }
}

}  // namespace gnomon::profiles
