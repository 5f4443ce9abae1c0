#include "runtime/macro/halo_parts.h"

#include <algorithm>
#include <utility>

#include "base/index.h"
#include "graph/partition/parts.h"
#include "runtime/macro/halo_structure.h"
#include "runtime/macro/parts_of_plan.h"

namespace gnomon::runtime {
namespace {

using base::at;
using graph::VertexId;

/// The part of each vertex of a graph whose vertices are ordered by part.
graph::PartOf part_of_each(const graph::Parts& parts) {
  graph::PartOf part_of;
  for (std::int64_t part = 0; part < parts.count(); ++part) {
    part_of.insert(part_of.end(), at(parts.vertices_of(part)), static_cast<std::int32_t>(part));
  }
  return part_of;
}

graph::PartOf divide(const graph::Graph& graph, const plan::Macro& macro, const base::Progress& progress) {
  return has_parts_of(graph, macro) ? part_of_each(*graph.parts)
                                    : graph::partition(graph, request_of(macro), progress);
}

}  // namespace

HaloParts::HaloParts(std::shared_ptr<const PlacedGraph> placed, plan::Job job, const plan::Plan& plan,
                     const base::Progress& progress)
    : placed_(std::move(placed)),
      job_(std::move(job)),
      plan_(plan),
      part_of_(divide(placed_->graph, plan.macro, progress)),
      vertices_of_(at(plan.macro.partitions)),
      team_(std::max(1, plan.workers)) {
  for (VertexId vertex = 0; vertex < placed_->graph.num_vertices(); ++vertex) {
    vertices_of_[at(part_of_[at(vertex)])].push_back(vertex);
  }
}

std::vector<MacroGroup> HaloParts::groups(std::int64_t epoch) const {
  return groups_of_parts(plan_.macro, job_.seed, epoch, placed_->graph.train,
                         [this](VertexId vertex) { return part_of_[at(vertex)]; });
}

/// Samples the macro-batch's mini-batches and returns which vertices they use.
std::vector<std::uint8_t> HaloParts::used_rows(const MacroLayout& layout, std::int64_t group,
                                               std::int64_t epoch, const MacroBatch& structure) {
  std::vector<std::uint8_t> is_used(structure.vertices().size(), 0);
  kernels::cpu::Sampler sampler(structure.placed()->topology, job_.fanouts, kernels::cpu::EdgeIds::omit,
                                {team_.size(), {}, [this](int, const auto& body) { team_.step(body); }});
  kernels::MiniBatch sample;
  for (std::int64_t pass = 0; pass < plan_.macro.passes; ++pass) {
    for (auto batch = layout.first_batch_of(group); batch < layout.first_batch_of(group + 1); ++batch) {
      const std::int64_t number = batch + pass * layout.batches();
      const kernels::BatchKey key{job_.seed, static_cast<std::uint64_t>(epoch),
                                  static_cast<std::uint64_t>(number)};
      sampler.sample(key, structure.local_seeds(layout.seeds_of(number)), sample);
      for (const VertexId vertex : sample.vertices) {
        is_used[at(vertex)] = 1;
      }
    }
  }
  return is_used;
}

std::shared_ptr<MacroBatch> HaloParts::load(const MacroLayout& layout, std::int64_t group,
                                            std::int64_t epoch) {
  const auto& members = layout.group(group);
  const graph::Graph& graph = placed_->graph;
  std::vector<std::span<const VertexId>> own;
  for (const auto part : members.parts) {
    own.emplace_back(vertices_of_[at(part)]);
  }
  MacroArrays arrays = spare_->take();
  auto rows = std::move(arrays.features.data);
  fill_halo_structure(graph, own, team_, arrays);
  auto batch =
      std::make_shared<MacroBatch>(graph, std::move(arrays), members.train, plan_.workers,
                                   [spare = spare_](MacroArrays ended) { spare->put(std::move(ended)); });
  auto is_used =
      plan_.macro.sampled_ahead ? used_rows(layout, group, epoch, *batch) : std::vector<std::uint8_t>();
  auto features = gather_locally(graph.features, batch->vertices(), is_used, team_, std::move(rows));
  batch->take_features(std::move(features), std::move(is_used));
  return batch;
}

std::int64_t HaloParts::bytes() const {
  auto bytes = static_cast<std::int64_t>(part_of_.size() * sizeof(part_of_[0]));
  for (const auto& vertices : vertices_of_) {
    bytes += static_cast<std::int64_t>(vertices.size() * sizeof(VertexId));
  }
  return bytes;
}

}  // namespace gnomon::runtime
