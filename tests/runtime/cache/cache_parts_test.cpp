#include "runtime/cache/cache_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/graphs.h"

namespace gnomon::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const graph::Graph& hundred_vertices() {
  static const auto graph = test::planted_graph(100, 4);
  return graph;
}

TEST(CacheParts, EqualDevicesTakeTurns) {
  const EntryCosts sizes{.row_bytes = 10};
  const CacheContent content{.rows = {9, 3, 7, 1, 5}, .lists = {}};
  const auto parts = distribute(content, hundred_vertices(), sizes, {1000, 1000});
  EXPECT_THAT(parts[0].rows, ElementsAre(9, 7, 5));
  EXPECT_THAT(parts[1].rows, ElementsAre(3, 1));
  EXPECT_THAT(parts[0].lists, IsEmpty());
}

TEST(CacheParts, NoneHoldsMoreThanItHasRoomFor) {
  const EntryCosts sizes{.row_bytes = 10};
  // 25 bytes: vertex 9, then 7 where 15 are left; 1 where 10 are left of the other's. Then no room is left.
  const CacheContent content{.rows = {9, 3, 7, 1, 5}, .lists = {}};
  const auto parts = distribute(content, hundred_vertices(), sizes, {25, 20, 5});
  EXPECT_THAT(parts[0].rows, ElementsAre(9, 7));
  EXPECT_THAT(parts[1].rows, ElementsAre(3, 1));
  EXPECT_THAT(parts[2].rows, IsEmpty());
}

TEST(CacheParts, ListsFollowTheRowsBySize) {
  const auto& graph = hundred_vertices();
  const EntryCosts sizes{.row_bytes = 1, .index_bytes = 4};
  const std::int64_t bytes = list_bytes(graph.degree(2), 4);
  const auto parts = distribute({.rows = {0}, .lists = {2, 2}}, graph, sizes, {bytes + 1, bytes});
  EXPECT_THAT(parts[0].rows, ElementsAre(0));
  EXPECT_THAT(parts[0].lists, ElementsAre(2));
  EXPECT_THAT(parts[1].lists, ElementsAre(2));
}

}  // namespace
}  // namespace gnomon::runtime
