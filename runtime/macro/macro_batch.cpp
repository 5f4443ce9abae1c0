#include "runtime/macro/macro_batch.h"

#include <algorithm>
#include <utility>

#include "base/index.h"

namespace gnomon::runtime {
namespace {

using base::at;
using graph::VertexId;

/// The memory that a macro-batch's graph owns beside the arrays.
struct LocalStorage {
  std::shared_ptr<const MacroArrays> arrays;
  std::vector<std::int32_t> labels;
  std::vector<VertexId> train;
};

std::vector<std::int32_t> labels_of(const graph::Graph& whole, std::span<const VertexId> vertices) {
  std::vector<std::int32_t> labels(whole.labels.empty() ? 0 : vertices.size());
  std::transform(vertices.begin(), vertices.begin() + std::ssize(labels), labels.begin(),
                 [&](VertexId vertex) { return whole.labels[at(vertex)]; });
  return labels;
}

std::int64_t max_degree_of(std::span<const std::int64_t> indptr) {
  std::int64_t max = 0;
  for (std::size_t i = 1; i < indptr.size(); ++i) {
    max = std::max(max, indptr[i] - indptr[i - 1]);
  }
  return max;
}

PlacedGraph place_locally(const graph::Graph& whole, const std::shared_ptr<const MacroArrays>& arrays,
                          std::vector<VertexId> train) {
  const auto edges = static_cast<std::size_t>(arrays->indptr.back());
  auto storage = std::make_shared<LocalStorage>();
  storage->arrays = arrays;
  storage->labels = labels_of(whole, arrays->vertices);
  storage->train = std::move(train);
  PlacedGraph placed;
  graph::Graph& local = placed.graph;
  local.name = whole.name;
  local.indptr = arrays->indptr;
  local.indices = graph::Indices(std::span<const std::uint32_t>(arrays->indices.data(), edges));
  local.features = arrays->features.view(std::ssize(arrays->vertices));
  local.labels = storage->labels;
  local.num_classes = whole.num_classes;
  local.label_sets = whole.label_sets;
  local.train = storage->train;
  local.whole_degrees = arrays->whole_degrees;
  local.storage = storage;
  placed.topology.indptr = local.indptr;
  placed.topology.narrow_indices = {arrays->indices.data(), edges};
  placed.topology.max_degree = max_degree_of(local.indptr);
  placed.topology.storage = storage;
  return placed;
}

}  // namespace

MacroBatch::MacroBatch(const graph::Graph& whole, MacroArrays arrays, std::span<const VertexId> train,
                       int workers, std::function<void(MacroArrays)> take_back)
    : arrays_(new MacroArrays(std::move(arrays)),
              [taker = std::move(take_back)](MacroArrays* ended) {
                const std::unique_ptr<MacroArrays> owned(ended);
                if (taker) {
                  taker(std::move(*owned));
                }
              }),
      samplers_(at(std::max(1, workers))) {
  std::vector<VertexId> local = find_seeds(train);
  std::sort(seeds_.begin(), seeds_.end(), [](const Seed& a, const Seed& b) { return a.whole < b.whole; });
  placed_ = std::make_shared<PlacedGraph>(place_locally(whole, arrays_, std::move(local)));
}

/// Fills seeds_ and returns the local ids of the training vertices, in the order of local ids.
std::vector<VertexId> MacroBatch::find_seeds(std::span<const VertexId> train) {
  const auto& vertices = arrays_->vertices;
  std::vector<VertexId> local;
  const auto add = [&](VertexId id) {
    seeds_.push_back({vertices[at(id)], id});
    local.push_back(id);
  };
  if (train.size() <= vertices.size() && std::equal(train.begin(), train.end(), vertices.begin())) {
    for (VertexId id = 0; id < std::ssize(train); ++id) {  // as samples have them
      add(id);
    }
    return local;
  }
  std::vector<VertexId> sorted(train.begin(), train.end());
  std::sort(sorted.begin(), sorted.end());
  auto seed = sorted.begin();  // the first that is not below the vertex, where vertices ascend
  const bool ascends = std::is_sorted(vertices.begin(), vertices.end());
  for (VertexId id = 0; id < std::ssize(vertices); ++id) {
    const VertexId vertex = vertices[at(id)];
    seed = ascends ? std::find_if(seed, sorted.end(), [vertex](VertexId other) { return other >= vertex; })
                   : std::lower_bound(sorted.begin(), sorted.end(), vertex);
    if (seed != sorted.end() && *seed == vertex) {
      add(id);
    }
  }
  return local;
}

void MacroBatch::take_features(LocalFeatures features, std::vector<std::uint8_t> wanted) {
  arrays_->features = std::move(features);
  arrays_->wanted_rows = std::move(wanted);
  placed_->graph.features = arrays_->features.view(std::ssize(arrays_->vertices));
}

std::vector<VertexId> MacroBatch::local_seeds(std::span<const VertexId> seeds) const {
  std::vector<VertexId> local(seeds.size());
  std::transform(seeds.begin(), seeds.end(), local.begin(), [&](VertexId seed) {
    return std::lower_bound(seeds_.begin(), seeds_.end(), seed,
                            [](const Seed& entry, VertexId id) { return entry.whole < id; })
        ->local;
  });
  return local;
}

std::int64_t MacroBatch::bytes() const {
  const auto& features = arrays_->features;
  const auto& graph = placed_->graph;
  const auto size = [](const auto& array) {
    return static_cast<std::int64_t>(array.size() * sizeof(array[0]));
  };
  return graph.features.bytes() + size(features.indptr) +
         arrays_->indptr.back() * static_cast<std::int64_t>(sizeof(std::uint32_t)) + size(arrays_->vertices) +
         size(arrays_->indptr) + size(arrays_->whole_degrees) + size(arrays_->is_halo) +
         size(arrays_->wanted_rows) + size(graph.labels) + size(graph.train) + size(seeds_);
}

MacroBatch::BytesOfEach MacroBatch::bytes_of(std::int64_t row_bytes) {
  // Its id, row pointer, degree, label and row.
  const auto vertex = static_cast<std::int64_t>(3 * sizeof(std::int64_t) + sizeof(std::int32_t)) + row_bytes;
  return {vertex, sizeof(std::uint32_t), sizeof(VertexId) + sizeof(Seed)};
}

kernels::cpu::Sampler& MacroBatch::sampler(int worker, const std::vector<int>& fanouts,
                                           const kernels::cpu::BatchThreads& threads) {
  auto& sampler = samplers_.at(at(worker));
  if (!sampler) {
    sampler = std::make_unique<kernels::cpu::Sampler>(placed_->topology, fanouts, kernels::cpu::EdgeIds::omit,
                                                      threads);
  }
  return *sampler;
}

}  // namespace gnomon::runtime
