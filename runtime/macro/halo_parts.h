#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/team.h"
#include "graph/partition/partition.h"
#include "runtime/macro/macro_loader.h"
#include "runtime/macro/spare_arrays.h"

namespace gnomon::runtime {

/// Takes macro-batches from a graph in memory: parts and their halo, the vertices of other parts from which
/// they aggregate (Joestar-II, partition-based sampling: Huang, PhD thesis, MIT, 2025, chapter 5). Vertices
/// of the parts have their whole adjacency lists. Those of the halo have empty lists, so that sampling stops
/// there; their embeddings are historical, from earlier mini-batches.
///
/// With macro.sampled_ahead the mini-batches are sampled first, and only the feature rows that they use are
/// copied. It does not change the mini-batches.
class HaloParts final : public MacroLoader {
 public:
  /// Partitions the graph, unless its vertices are already ordered by the plan's parts.
  HaloParts(std::shared_ptr<const PlacedGraph> placed, plan::Job job, const plan::Plan& plan,
            const base::Progress& progress = {});

  std::vector<MacroGroup> groups(std::int64_t epoch) const override;
  std::shared_ptr<MacroBatch> load(const MacroLayout& layout, std::int64_t group,
                                   std::int64_t epoch) override;
  std::int64_t bytes() const override;

 private:
  std::vector<std::uint8_t> used_rows(const MacroLayout& layout, std::int64_t group, std::int64_t epoch,
                                      const MacroBatch& structure);

  std::shared_ptr<const PlacedGraph> placed_;
  plan::Job job_;
  plan::Plan plan_;
  graph::PartOf part_of_;
  std::vector<std::vector<graph::VertexId>> vertices_of_;  ///< by part, ascending
  base::Team team_;
  std::shared_ptr<SpareArrays> spare_ = std::make_shared<SpareArrays>();  ///< outlived by macro-batches
};

}  // namespace gnomon::runtime
