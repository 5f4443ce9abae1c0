#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/team.h"
#include "graph/partition/partition.h"
#include "runtime/macro/macro_loader.h"

namespace gnomon::runtime {

/// Takes macro-batches from a graph in memory as parts and their halo, the vertices of other parts from which
/// they aggregate (Joestar-II, partition-based sampling: Huang, PhD thesis, MIT, 2025, chapter 5). Parts have
/// whole adjacency lists. The lists of the halo are empty, so that sampling stops there; training takes its
/// embeddings from earlier mini-batches.
///
/// With macro.sampled_ahead the mini-batches are sampled first, and only feature rows that they use are
/// copied; the mini-batches are the same ones.
class HaloParts final : public MacroLoader {
 public:
  /// Divides the graph, unless it is ordered by such parts.
  HaloParts(std::shared_ptr<const PlacedGraph> placed, plan::Job job, const plan::Plan& plan,
            const base::Progress& progress = {});

  std::vector<MacroGroup> groups(std::int64_t epoch) const override;
  std::shared_ptr<MacroBatch> load(const MacroLayout& layout, std::int64_t group,
                                   std::int64_t epoch) override;
  std::int64_t bytes() const override;

 private:
  void add_structure(const MacroGroup& group, MacroArrays& arrays);
  std::vector<std::uint8_t> used_rows(const MacroLayout& layout, std::int64_t group, std::int64_t epoch,
                                      const MacroBatch& structure);

  std::shared_ptr<const PlacedGraph> placed_;
  plan::Job job_;
  plan::Plan plan_;
  graph::PartOf part_of_;
  std::vector<std::vector<graph::VertexId>> vertices_of_;  ///< by part, ascending
  base::Team team_;
};

}  // namespace gnomon::runtime
