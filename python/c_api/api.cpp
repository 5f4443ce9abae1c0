// The functions of gnomon.h.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/cores.h"
#include "base/error.h"
#include "base/interleave.h"
#include "base/usable.h"
#include "graph/epoch_order.h"
#include "python/c_api/epoch.h"
#include "python/c_api/gnomon.h"
#include "python/c_api/graph_data.h"
#include "python/c_api/loader.h"
#include "python/c_api/status.h"

using gnomon::c_api::guarded;
using gnomon::c_api::require;

struct gnomon_graph {
  std::shared_ptr<const gnomon::c_api::GraphData> data;
};
struct gnomon_loader {
  std::shared_ptr<gnomon::c_api::Loader> loader;
};
struct gnomon_epoch {
  gnomon::c_api::Epoch epoch;
};

namespace gnomon::c_api {
namespace {

/// A gnomon_batch and the memory that it points to.
struct OwnedBatch : gnomon_batch {
  Batch batch;
  std::vector<gnomon_dl_managed*> vertex_tensors, edge_tensors;
};

void release_all(std::vector<Tensor>& tensors, std::vector<gnomon_dl_managed*>& pointers) {
  for (Tensor& tensor : tensors) {
    pointers.push_back(tensor.release());
  }
}

std::unique_ptr<OwnedBatch> owned(Batch batch, std::int64_t index) {
  auto result = std::make_unique<OwnedBatch>();
  result->batch = std::move(batch);
  Batch& own = result->batch;
  result->vertex_tensors.reserve(own.vertex_attributes.size());
  result->edge_tensors.reserve(own.edge_attributes.size());
  release_all(own.vertex_attributes, result->vertex_tensors);
  release_all(own.edge_attributes, result->edge_tensors);
  static_cast<gnomon_batch&>(*result) = {.index = index,
                                         .num_seeds = own.num_seeds,
                                         .num_hops = static_cast<std::int32_t>(own.num_sampled_edges.size()),
                                         .num_sampled_nodes = own.num_sampled_nodes.data(),
                                         .num_sampled_edges = own.num_sampled_edges.data(),
                                         .vertices = own.vertices.release(),
                                         .edges = own.edges.release(),
                                         .edge_ids = own.edge_ids.release(),
                                         .trees = own.trees.release(),
                                         .endpoints = own.endpoints.release(),
                                         .vertex_attributes = result->vertex_tensors.data(),
                                         .edge_attributes = result->edge_tensors.data(),
                                         .gathered_positions = own.gathered_positions.release(),
                                         .cached_positions = own.cached_positions.release(),
                                         .cached_slots = own.cached_slots.release(),
                                         .sample_s = own.sample_s,
                                         .gather_s = own.gather_s};
  return result;
}

std::size_t size_of(std::int64_t count, const char* argument) {
  if (count < 0) {
    throw base::InputError(argument, std::to_string(count) + " is negative");
  }
  return static_cast<std::size_t>(count);
}

template <class T>
std::span<const T> array(const T* data, std::size_t size, const char* argument) {
  if (size > 0) {
    require(data, argument);
  }
  return {data, size};
}

template <class T>
std::span<const T> optional_array(const T* data, std::size_t size) {
  return {data, data == nullptr ? 0 : size};
}

gnomon_status give(GraphData data, ::gnomon_graph** graph) {
  *graph = new ::gnomon_graph{std::make_shared<const GraphData>(std::move(data))};
  return GNOMON_OK;
}

void delete_tensors(std::span<gnomon_dl_managed* const> tensors) {
  for (gnomon_dl_managed* tensor : tensors) {
    if (tensor != nullptr) {
      tensor->deleter(tensor);
    }
  }
}

}  // namespace
}  // namespace gnomon::c_api

using namespace gnomon::c_api;

extern "C" {

int32_t gnomon_api_version(void) { return GNOMON_API_VERSION; }
const char* gnomon_version(void) { return GNOMON_VERSION; }
const char* gnomon_last_error(void) { return last_error(); }
int32_t gnomon_usable_cores(void) {
  int32_t cores = 1;
  guarded([&] {
    cores = gnomon::base::usable_cores();
    return GNOMON_OK;
  });
  return cores;
}

int32_t gnomon_memory_nodes(void) {
  int32_t nodes = 1;
  guarded([&] {
    nodes = std::max(1, static_cast<int32_t>(gnomon::base::memory_nodes().size()));
    return GNOMON_OK;
  });
  return nodes;
}

gnomon_status gnomon_spread_memory(const void* memory, uint64_t bytes) {
  return guarded([&] {
    require(memory, "memory");
    gnomon::base::spread_pages({static_cast<const std::byte*>(memory), bytes}, gnomon::base::memory_nodes());
    return GNOMON_OK;
  });
}

gnomon_status gnomon_graph_spread(const gnomon_graph* graph) {
  return guarded([&] {
    require(graph, "graph");
    spread(*graph->data, gnomon::base::memory_nodes());
    return GNOMON_OK;
  });
}

int32_t gnomon_physical_cores(void) {
  int32_t cores = 1;
  guarded([&] {
    cores =
        std::min(gnomon::base::usable_cores(), gnomon::base::physical_cores(gnomon::base::allowed_cores()));
    return GNOMON_OK;
  });
  return cores;
}

gnomon_status gnomon_graph_from_edges(int64_t num_vertices, int64_t num_edges, const int64_t* sources,
                                      const int64_t* destinations, const float* weights,
                                      gnomon_graph** graph) {
  return guarded([&] {
    require(graph, "graph");
    size_of(num_vertices, "num_vertices");
    const std::size_t edges = size_of(num_edges, "num_edges");
    return give(
        graph_from_edges({num_vertices, array(sources, edges, "sources"),
                          array(destinations, edges, "destinations"), optional_array(weights, edges)}),
        graph);
  });
}

gnomon_status gnomon_graph_from_csc(int64_t num_vertices, int64_t num_edges, const int64_t* indptr,
                                    const int64_t* sources, const int64_t* edge_ids, const float* weights,
                                    gnomon_graph** graph) {
  return guarded([&] {
    require(graph, "graph");
    const std::size_t vertices = size_of(num_vertices, "num_vertices");
    const std::size_t edges = size_of(num_edges, "num_edges");
    return give(graph_from_csc({array(indptr, vertices + 1, "indptr"), array(sources, edges, "sources"),
                                optional_array(edge_ids, edges), optional_array(weights, edges)}),
                graph);
  });
}

gnomon_status gnomon_graph_open(const char* directory, int32_t weighted, gnomon_graph** graph) {
  return guarded([&] {
    require(directory, "directory");
    require(graph, "graph");
    return give(graph_from_store(directory, weighted != 0), graph);
  });
}

void gnomon_graph_free(gnomon_graph* graph) { delete graph; }

int64_t gnomon_graph_num_vertices(const gnomon_graph* graph) { return graph->data->topology.num_vertices(); }
int64_t gnomon_graph_num_edges(const gnomon_graph* graph) { return graph->data->topology.num_edges(); }

gnomon_status gnomon_graph_store_arrays(const gnomon_graph* graph, gnomon_store_arrays* arrays) {
  return guarded([&] {
    require(graph, "graph");
    require(arrays, "arrays");
    if (!graph->data->store) {
      throw gnomon::base::InputError("graph", "was not opened from a store");
    }
    const gnomon::graph::Graph& store = *graph->data->store;
    *arrays = {};
    arrays->has_features = store.features.any() ? 1 : 0;
    arrays->num_classes = store.num_classes;
    arrays->labels_shape[0] = std::ssize(store.labels);
    arrays->labels = {const_cast<std::int32_t*>(store.labels.data()),
                      {1, 0},
                      1,
                      {0, 32, 1},
                      arrays->labels_shape,
                      nullptr,
                      0};
    return GNOMON_OK;
  });
}

gnomon_status gnomon_loader_new(const gnomon_graph* graph, const gnomon_sampling* sampling,
                                gnomon_loader** loader) {
  return guarded([&] {
    require(graph, "graph");
    require(sampling, "sampling");
    require(loader, "loader");
    *loader = new gnomon_loader{std::make_shared<Loader>(graph->data, read_sampling(*sampling))};
    return GNOMON_OK;
  });
}

void gnomon_loader_free(gnomon_loader* loader) {
  // A forked child has none of the makers' threads and cannot join them: the loader is leaked there.
  if (loader != nullptr && loader->loader->process().is_current()) {
    delete loader;
  }
}

gnomon_status gnomon_loader_lock_pages(gnomon_loader* loader, const gnomon_page_lock* lock) {
  return guarded([&] {
    require(loader, "loader");
    require(lock, "lock");
    if ((lock->lock == nullptr) != (lock->unlock == nullptr)) {
      throw gnomon::base::InputError("lock", "needs both functions or none");
    }
    loader->loader->pool().lock_pages(*lock);
    return GNOMON_OK;
  });
}

gnomon_status gnomon_loader_share(gnomon_loader* loader, const gnomon_threads* threads) {
  return guarded([&] {
    require(loader, "loader");
    loader->loader->share(threads == nullptr ? gnomon_threads{} : *threads);
    return GNOMON_OK;
  });
}

gnomon_status gnomon_loader_lend(gnomon_loader* loader, void* memory, uint64_t bytes) {
  return guarded([&] {
    require(loader, "loader");
    require(memory, "memory");
    loader->loader->pool().lend(memory, bytes);
    return GNOMON_OK;
  });
}

void gnomon_tensor_detach(gnomon_dl_managed* tensor) {
  if (tensor != nullptr) {
    detach(tensor);
  }
}

void gnomon_epoch_order(int64_t count, uint64_t seed, uint64_t epoch, int64_t* order) {
  guarded([&] {
    std::vector<std::int64_t> positions(size_of(count, "count"));
    std::iota(positions.begin(), positions.end(), 0);
    const auto shuffled = gnomon::graph::epoch_order(positions, seed, epoch);
    std::copy(shuffled.begin(), shuffled.end(), order);
    return GNOMON_OK;
  });
}

gnomon_status gnomon_epoch_begin(gnomon_loader* loader, const gnomon_epoch_input* input,
                                 gnomon_epoch** epoch) {
  return guarded([&] {
    require(loader, "loader");
    require(input, "input");
    require(epoch, "epoch");
    *epoch = new gnomon_epoch{{loader->loader, *input}};
    return GNOMON_OK;
  });
}

void gnomon_epoch_free(gnomon_epoch* epoch) {
  if (epoch != nullptr && epoch->epoch.process().is_current()) {
    delete epoch;
  }
}

gnomon_status gnomon_epoch_next(gnomon_epoch* epoch, double timeout_s, gnomon_batch** batch) {
  return guarded([&]() -> gnomon_status {
    require(epoch, "epoch");
    require(batch, "batch");
    Batch next;
    std::int64_t index = 0;
    switch (epoch->epoch.next(std::chrono::duration<double>(timeout_s), next, index)) {
      case Epoch::Next::end:
        return GNOMON_END;
      case Epoch::Next::pending:
        return GNOMON_PENDING;
      case Epoch::Next::batch:
        break;
    }
    *batch = owned(std::move(next), index).release();
    return GNOMON_OK;
  });
}

void gnomon_batch_free(gnomon_batch* batch) {
  if (batch == nullptr) {
    return;
  }
  const std::unique_ptr<OwnedBatch> all(static_cast<OwnedBatch*>(batch));
  delete_tensors(std::array{batch->vertices, batch->edges, batch->edge_ids, batch->trees, batch->endpoints,
                            batch->gathered_positions, batch->cached_positions, batch->cached_slots});
  delete_tensors(all->vertex_tensors);
  delete_tensors(all->edge_tensors);
}

}  // extern "C"
