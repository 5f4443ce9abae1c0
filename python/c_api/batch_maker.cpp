#include "python/c_api/batch_maker.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/index_range.h"
#include "base/philox.h"
#include "graph/feature_form.h"
#include "kernels/cpu/gather.h"
#include "kernels/sampling_input.h"

namespace gnomon::c_api {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The key of the subgraph of seed `position`: subgraphs draw independently, even for shared vertices.
kernels::BatchKey tree_key(const kernels::BatchKey& key, std::size_t position) {
  base::RandomStream random({.seed = key.seed, .purpose = base::Purpose::route, .level = 1});
  const std::uint64_t mixed = random() ^ (0x9E3779B97F4A7C15U * (position + 1));
  return {mixed, key.epoch, key.batch};
}

/// Calls gather(ids, out of the first of them) for each thread's share of `ids`; on the calling thread alone
/// if there are few bytes.
template <class Gather>
void share_rows(base::Team& team, std::span<const std::int64_t> ids, std::int64_t row_bytes, std::byte* out,
                const Gather& gather) {
  constexpr std::int64_t min_shared_bytes = 1 << 18;
  if (team.size() == 1 || std::ssize(ids) * row_bytes < min_shared_bytes) {
    gather(ids, out);
    return;
  }
  team.step([&](int member) {
    const auto [begin, end] = base::chunk_of(std::ssize(ids), member, team.size());
    gather(ids.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
           out + begin * row_bytes);
  });
}

std::span<const std::int64_t> ids_of(const Tensor& tensor) {
  return {int64_data(tensor), static_cast<std::size_t>(tensor->tensor.shape[0])};
}

/// The sampler's fanouts: at least one hop, which is dropped if the request has none.
std::vector<int> sampled_fanouts(const Sampling& sampling) {
  return sampling.fanouts.empty() ? std::vector<int>{1} : sampling.fanouts;
}

}  // namespace

BatchMaker::BatchMaker(std::shared_ptr<const GraphData> graph, Sampling sampling,
                       std::shared_ptr<MemoryPool> pool, const kernels::cpu::BatchThreads& sampling_threads,
                       const kernels::cpu::BatchThreads& threads)
    : graph_(std::move(graph)),
      sampling_(std::move(sampling)),
      pool_(std::move(pool)),
      cores_(threads.cores),
      sampler_(graph_->topology, sampled_fanouts(sampling_), kernels::cpu::EdgeIds::keep, sampling_threads,
               sampling_.rule) {
  if (sampling_threads.count < threads.count) {
    own_team_.emplace(threads.count, threads.fork_join);
  }
}

Batch BatchMaker::of_vertices(const kernels::BatchKey& key, std::span<const std::int64_t> seeds,
                              const Attributes& attributes) {
  const auto begin = Clock::now();
  sample(key, seeds);
  return finished(begin, attributes);
}

Batch BatchMaker::finished(Clock::time_point begin, const Attributes& attributes) {
  Batch batch;
  batch.num_seeds = sampled_.num_seeds;
  batch.vertices = copied(sampled_.vertices);
  if (sampling_.disjoint) {
    batch.trees = copied(trees_);
  }
  if (sampling_.induced) {
    add_induced_edges(batch);
  } else {
    add_sampled_edges(batch);
  }
  to_original_ids(graph_->order, {int64_data(batch.edge_ids), ids_of(batch.edge_ids).size()});
  batch.sample_s = seconds_since(begin);
  gather(batch, attributes);
  sampler_.team().park();
  return batch;
}

Batch BatchMaker::of_links(const kernels::BatchKey& key, const Links& links, const Attributes& attributes) {
  const auto begin = Clock::now();
  const std::int64_t num_vertices = graph_->topology.num_vertices();
  const std::vector<std::int64_t> endpoints = link_endpoints(links, num_vertices, key);
  Tensor positions;
  if (sampling_.disjoint) {
    std::vector<std::int64_t> each(endpoints.size());
    std::iota(each.begin(), each.end(), 0);
    positions = copied(each);
    sample(key, endpoints);
  } else {
    kernels::check_seeds(endpoints.data(), endpoints.size(), num_vertices);
    find_sorted(endpoints, num_vertices, seed_sort_, distinct_);
    positions = copied(distinct_.positions);
    sample_distinct(key);
  }
  Batch batch = finished(begin, attributes);
  batch.endpoints = std::move(positions);
  return batch;
}

void BatchMaker::sample(const kernels::BatchKey& key, std::span<const std::int64_t> seeds) {
  kernels::check_seeds(seeds.data(), seeds.size(), graph_->topology.num_vertices());
  if (sampling_.disjoint) {
    sample_trees(key, seeds);
    return;
  }
  find_distinct(seeds, table_, distinct_);
  sample_distinct(key);
  if (distinct_.has_repetitions()) {
    repeat_seeds(distinct_, sampling_.rule.expansion == kernels::cpu::Expansion::every_hop, sampled_);
  }
}

void BatchMaker::sample_distinct(const kernels::BatchKey& key) {
  sampler_.sample(key, distinct_.vertices, sampled_);
  if (sampling_.fanouts.empty()) {
    sampled_.blocks.clear();
    sampled_.vertices.resize(distinct_.vertices.size());
  }
}

void BatchMaker::sample_trees(const kernels::BatchKey& key, std::span<const std::int64_t> seeds) {
  forest_.begin(seeds, sampling_.fanouts.size());
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    sampler_.sample(tree_key(key, i), seeds.subspan(i, 1), sampled_);
    forest_.add(sampled_);
  }
  forest_.finish(sampled_, trees_);
}

void BatchMaker::add_sampled_edges(Batch& batch) const {
  const std::array<std::int64_t, 2> shape{2, sampled_.num_edges()};
  batch.edges = make_tensor(pool_, int64_type, shape);
  batch.edge_ids = make_tensor(pool_, int64_type, std::span(shape).last(1));
  std::int64_t* edges = int64_data(batch.edges);
  write_edges(sampled_, sampling_.rule.expansion == kernels::cpu::Expansion::every_hop,
              {edges, edges + shape[1], int64_data(batch.edge_ids)});
  batch.num_sampled_nodes.push_back(sampled_.num_seeds);
  std::int64_t before = sampled_.num_seeds;
  for (const kernels::Block& block : sampled_.blocks) {
    batch.num_sampled_edges.push_back(block.num_edges());
    batch.num_sampled_nodes.push_back(block.num_sources - before);
    before = block.num_sources;
  }
  batch.num_sampled_edges.resize(batch.num_sampled_edges.size() + sampling_.empty_hops, 0);
  batch.num_sampled_nodes.resize(batch.num_sampled_nodes.size() + sampling_.empty_hops, 0);
}

void BatchMaker::add_induced_edges(Batch& batch) {
  find_induced(graph_->topology, sampled_.vertices, table_, induced_);
  const std::array<std::int64_t, 2> shape{2, std::ssize(induced_.edges)};
  batch.edges = make_tensor(pool_, int64_type, shape);
  std::int64_t* edges = int64_data(batch.edges);
  std::copy(induced_.sources.begin(), induced_.sources.end(), edges);
  std::copy(induced_.destinations.begin(), induced_.destinations.end(), edges + shape[1]);
  batch.edge_ids = copied(induced_.edges);
}

Tensor BatchMaker::gathered(const gnomon_dl_tensor& rows, std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> shape(rows.shape, rows.shape + rows.ndim);
  shape.front() = std::ssize(ids);
  Tensor result = make_tensor(pool_, rows.dtype, shape);
  const std::int64_t row_bytes = num_elements(std::span(shape).subspan(1)) * bytes_of(rows.dtype);
  const auto* const data = static_cast<const std::byte*>(rows.data) + rows.byte_offset;
  share_rows(team(), ids, row_bytes, static_cast<std::byte*>(result->tensor.data),
             [&](std::span<const std::int64_t> share, std::byte* out) {
               kernels::cpu::gather_rows(data, row_bytes, share, out);
             });
  return result;
}

/// Returns the rows of a store's features in dense form.
Tensor BatchMaker::gathered(const graph::Features& features, std::span<const std::int64_t> vertices) {
  const std::array<std::int64_t, 2> shape{std::ssize(vertices), features.columns};
  Tensor result = make_tensor(pool_, data_type(features.type), shape);
  share_rows(team(), vertices, features.row_bytes(), static_cast<std::byte*>(result->tensor.data),
             [&](std::span<const std::int64_t> share, std::byte* out) {
               if (!features.is_sparse()) {
                 kernels::cpu::gather_rows(features, share, out);
                 return;
               }
               for (const std::int64_t vertex : share) {
                 graph::expand_row(features, vertex, out);
                 out += features.row_bytes();
               }
             });
  return result;
}

void BatchMaker::gather(Batch& batch, const Attributes& attributes) {
  const auto begin = Clock::now();
  const std::span<const std::int64_t> vertices = ids_of(batch.vertices);
  std::span<const std::int64_t> of_first = vertices;
  if (!attributes.cache_slots.empty()) {
    find_hits(attributes.cache_slots, vertices, hits_);
    batch.gathered_positions = copied(hits_.missing_positions);
    batch.cached_positions = copied(hits_.positions);
    batch.cached_slots = copied(hits_.slots);
    of_first = hits_.missing;
  }
  auto& found = batch.vertex_attributes;
  const auto next = [&] { return found.empty() ? of_first : vertices; };
  if (attributes.features != nullptr) {
    found.push_back(gathered(*attributes.features, next()));
  }
  for (const gnomon_dl_tensor& attribute : attributes.vertices) {
    found.push_back(gathered(attribute, next()));
  }
  for (const gnomon_dl_tensor& attribute : attributes.edges) {
    batch.edge_attributes.push_back(gathered(attribute, ids_of(batch.edge_ids)));
  }
  batch.gather_s = seconds_since(begin);
}

Tensor BatchMaker::copied(std::span<const std::int64_t> values) const {
  const std::array<std::int64_t, 1> shape{std::ssize(values)};
  Tensor tensor = make_tensor(pool_, int64_type, shape);
  std::copy(values.begin(), values.end(), int64_data(tensor));
  return tensor;
}

}  // namespace gnomon::c_api
