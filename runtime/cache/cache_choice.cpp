#include "runtime/cache/cache_choice.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "base/philox.h"
#include "graph/out_degrees.h"

namespace gnomon::runtime {
namespace {

using graph::VertexId;
using plan::CachePolicy;

using base::at;

/// A candidate entry of a cache.
struct Entry {
  VertexId vertex;
  bool is_row;
  std::int64_t bytes;
  double value;  ///< entries of higher value are cached first
};

/// The value that the policy assigns to each vertex.
std::vector<double> wishes(const graph::Graph& graph, CachePolicy policy,
                           const std::vector<std::uint32_t>& visits, std::uint64_t seed) {
  std::vector<double> wish(at(graph.num_vertices()));
  switch (policy) {
    case CachePolicy::random: {
      base::RandomStream random({.seed = seed, .purpose = base::Purpose::shuffle, .level = 1});
      std::generate(wish.begin(), wish.end(), [&] { return random.uniform(); });
      return wish;
    }
    case CachePolicy::out_degree:
      return graph::out_degrees<double>(graph);
    case CachePolicy::presample:
    case CachePolicy::optimal:
    case CachePolicy::value_weight:
      std::copy(visits.begin(), visits.end(), wish.begin());
      return wish;
    case CachePolicy::none:
    case CachePolicy::recent:
      break;
  }
  throw base::InputError("cache.policy", "\"" + std::string(base::name_of(policy)) +
                                             "\" chooses what to hold while training, not beforehand");
}

bool is_by_visits(CachePolicy policy) {
  return policy == CachePolicy::presample || policy == CachePolicy::optimal ||
         policy == CachePolicy::value_weight;
}

bool is_before(const Entry& a, const Entry& b) {
  return a.value != b.value ? a.value > b.value : a.vertex < b.vertex;
}

/// The entries of one kind in descending order of value, which is per byte for "value_weight". Rows are of
/// equal size, so no more are returned than fit `bytes_to_fill`.
std::vector<Entry> entries_of(const graph::Graph& graph, const plan::Cache& cache,
                              const std::vector<std::uint32_t>& visits, const EntryCosts& costs, bool rows,
                              std::int64_t bytes_to_fill, std::uint64_t seed) {
  const auto wish = wishes(graph, cache.policy, visits, seed);
  std::vector<Entry> entries;
  for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
    if (is_by_visits(cache.policy) && wish[at(vertex)] == 0) {
      continue;
    }
    const std::int64_t bytes = rows ? costs.row_bytes : list_bytes(graph.degree(vertex), costs.index_bytes);
    const double saves_s = rows ? costs.row_saves_s : costs.list_saves_s;
    const bool by_byte = cache.policy == CachePolicy::value_weight;
    entries.push_back(
        {vertex, rows, bytes,
         by_byte ? wish[at(vertex)] * saves_s / static_cast<double>(std::max<std::int64_t>(bytes, 1))
                 : wish[at(vertex)]});
  }
  if (rows && bytes_to_fill / costs.row_bytes < std::ssize(entries)) {
    const auto last = entries.begin() + std::max<std::int64_t>(0, bytes_to_fill / costs.row_bytes);
    std::nth_element(entries.begin(), last, entries.end(), is_before);
    entries.erase(last, entries.end());
  }
  std::sort(entries.begin(), entries.end(), is_before);
  return entries;
}

/// Takes entries in order, skipping those that no longer fit.
void take(const std::vector<Entry>& entries, std::int64_t bytes, CacheContent& content) {
  for (const Entry& entry : entries) {
    if (entry.bytes <= bytes) {
      (entry.is_row ? content.rows : content.lists).push_back(entry.vertex);
      bytes -= entry.bytes;
    }
  }
}

}  // namespace

CacheContent choose_content(const graph::Graph& graph, const plan::Cache& cache, const Visits& visits,
                            const EntryCosts& costs, std::int64_t bytes, std::uint64_t seed) {
  CacheContent content;
  std::vector<Entry> rows, lists;
  if (cache.features && costs.row_bytes > 0) {
    rows = entries_of(graph, cache, visits.rows, costs, true, bytes, seed);
  }
  if (cache.topology) {
    lists = entries_of(graph, cache, visits.lists, costs, false, bytes, seed);
  }
  if (cache.policy == CachePolicy::value_weight) {
    std::vector<Entry> all;
    std::merge(rows.begin(), rows.end(), lists.begin(), lists.end(), std::back_inserter(all),
               [](const Entry& a, const Entry& b) { return a.value > b.value; });
    take(all, bytes, content);
    return content;
  }
  const double all_rows = rows.empty() ? 0 : static_cast<double>(graph.num_vertices() * costs.row_bytes);
  const double all_lists =
      lists.empty() ? 0
                    : static_cast<double>(graph.num_edges() * costs.index_bytes + 8 * graph.num_vertices());
  if (all_rows + all_lists > 0) {
    const auto for_rows =
        static_cast<std::int64_t>(static_cast<double>(bytes) * all_rows / (all_rows + all_lists));
    take(rows, for_rows, content);
    take(lists, bytes - for_rows, content);
  }
  return content;
}

}  // namespace gnomon::runtime
