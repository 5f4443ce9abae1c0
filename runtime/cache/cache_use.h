#pragma once

#include <cstdint>
#include <optional>

namespace gnomon::runtime {

/// Reads of rows and lists while a device held caches of them, and the cache hits.
struct CacheUse {
  std::int64_t rows = 0;  ///< gathered while rows were cached
  std::int64_t row_hits = 0;
  std::int64_t lists = 0;  ///< read while lists were cached, in all hops
  std::int64_t list_hits = 0;
  /// Hits in the caches of linked devices, a subset of the hits.
  std::int64_t row_peer_hits = 0, list_peer_hits = 0;

  /// Hit rate; none without a read.
  std::optional<double> row_hit_share() const { return share_of(row_hits, rows); }
  std::optional<double> list_hit_share() const { return share_of(list_hits, lists); }

  /// Share of reads answered by linked devices; none if there were none.
  std::optional<double> row_peer_share() const {
    return share_of(row_peer_hits, row_peer_hits == 0 ? 0 : rows);
  }
  std::optional<double> list_peer_share() const {
    return share_of(list_peer_hits, list_peer_hits == 0 ? 0 : lists);
  }

  CacheUse& operator+=(const CacheUse& other) {
    rows += other.rows;
    row_hits += other.row_hits;
    lists += other.lists;
    list_hits += other.list_hits;
    row_peer_hits += other.row_peer_hits;
    list_peer_hits += other.list_peer_hits;
    return *this;
  }
  bool operator==(const CacheUse&) const = default;

 private:
  static std::optional<double> share_of(std::int64_t hits, std::int64_t uses) {
    return uses == 0 ? std::nullopt : std::optional(static_cast<double>(hits) / static_cast<double>(uses));
  }
};

}  // namespace gnomon::runtime
