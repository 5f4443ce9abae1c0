#include "runtime/cache/entry_costs.h"

#include <algorithm>

namespace gnomon::runtime {

EntryCosts entry_sizes(const graph::Features& features, const kernels::cpu::Topology& topology) {
  EntryCosts costs;
  costs.row_bytes = features.row_bytes();
  costs.index_bytes = topology.narrow_indices.empty() ? 8 : 4;
  if (topology.draws_by_weight()) {
    costs.index_bytes += sizeof(kernels::AliasColumn);
  }
  costs.row_saves_s = costs.list_saves_s = 1;
  return costs;
}

EntryCosts with_savings(EntryCosts sizes, const graph::Graph& graph, const plan::Cache& cache,
                        std::int64_t bytes, std::uint64_t seed, const PrepareWith& prepare) {
  if (cache.policy != plan::CachePolicy::value_weight || !cache.features || !cache.topology) {
    return sizes;
  }
  const auto saved_by = [&](bool rows) {
    plan::Cache sample;
    sample.policy = plan::CachePolicy::random;
    sample.features = rows;
    sample.topology = !rows;
    const double alone_s = prepare({}).seconds;
    const auto cached = prepare(choose_content(graph, sample, {}, sizes, bytes / 2, seed));
    const std::int64_t hits = rows ? cached.use.row_hits : cached.use.list_hits;
    return hits > 0 ? std::max(0.0, alone_s - cached.seconds) / static_cast<double>(hits) : 0;
  };
  const double by_row_s = saved_by(true);
  const double by_list_s = saved_by(false);
  if (by_row_s > 0 || by_list_s > 0) {
    sizes.row_saves_s = by_row_s;
    sizes.list_saves_s = by_list_s;
  }
  return sizes;
}

}  // namespace gnomon::runtime
