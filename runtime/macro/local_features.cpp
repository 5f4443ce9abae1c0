#include "runtime/macro/local_features.h"

#include <cstring>
#include <numeric>
#include <utility>

#include "base/index.h"
#include "base/index_range.h"
#include "base/interleave.h"
#include "kernels/cpu/gather.h"
#include "runtime/macro/reserve_more.h"

namespace gnomon::runtime {
namespace {

using base::at;
using graph::VertexId;

/// Calls act(first, end) for the ranges of wanted vertices in the team's shares of `count` vertices.
template <class Act>
void share_wanted(base::Team& team, std::int64_t count, std::span<const std::uint8_t> is_wanted,
                  const Act& act) {
  team.step([&](int member) {
    const auto [begin, end] = base::chunk_of(count, member, team.size());
    for (std::int64_t first = begin; first < end;) {
      if (!is_wanted.empty() && is_wanted[at(first)] == 0) {
        ++first;
        continue;
      }
      std::int64_t last = first + 1;
      while (last < end && (is_wanted.empty() || is_wanted[at(last)] != 0)) {
        ++last;
      }
      act(first, last);
      first = last;
    }
  });
  team.park();
}

}  // namespace

graph::Features LocalFeatures::view(std::int64_t rows) const {
  graph::Features features = form;
  features.rows = rows;
  features.data = form.data == nullptr ? nullptr : data.data();
  features.indptr = indptr;
  features.entry_columns = {};
  if (!indptr.empty()) {
    features.entry_columns = {entry_columns.data(), at(indptr.back())};
  }
  return features;
}

LocalFeatures gather_locally(const graph::Features& features, std::span<const VertexId> vertices,
                             std::span<const std::uint8_t> is_wanted, base::Team& team,
                             kernels::cpu::HugeArray<std::byte> memory) {
  LocalFeatures local;
  local.data = std::move(memory);
  local.form = features;
  const auto of = [&](std::int64_t first, std::int64_t end) {
    return vertices.subspan(at(first), at(end - first));
  };
  if (!features.is_sparse()) {
    reserve_more(local.data, vertices.size() * at(features.row_bytes()));
    share_wanted(team, std::ssize(vertices), is_wanted, [&](std::int64_t first, std::int64_t end) {
      kernels::cpu::gather_rows(features, of(first, end), local.data.data() + first * features.row_bytes());
    });
    return local;
  }
  local.indptr.assign(vertices.size() + 1, 0);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const bool has_entries = is_wanted.empty() || is_wanted[i] != 0;
    const std::int64_t first = features.indptr[at(vertices[i])];
    local.indptr[i + 1] = local.indptr[i] + (has_entries ? features.indptr[at(vertices[i]) + 1] - first : 0);
  }
  const auto entries = at(local.indptr.back());
  reserve_more(local.entry_columns, entries);
  reserve_more(local.data, features.data == nullptr ? 0 : entries * at(bytes_of(features.type)));
  share_wanted(team, std::ssize(vertices), is_wanted, [&](std::int64_t first, std::int64_t end) {
    const std::int64_t entry = local.indptr[at(first)];
    std::byte* const values = features.data == nullptr ? nullptr : local.data.data();
    kernels::cpu::gather_entries(features, of(first, end), local.entry_columns.data() + entry,
                                 values == nullptr ? nullptr : values + entry * bytes_of(features.type));
  });
  return local;
}

}  // namespace gnomon::runtime
