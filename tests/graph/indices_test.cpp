#include "graph/indices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gnomon::graph {
namespace {

using testing::ElementsAre;

constexpr std::uint32_t last_narrow = 0xFFFFFFFFU;

TEST(Indices, ReadAlikeOfEitherWidth) {
  const std::vector<VertexId> wide{5, 0, std::int64_t{last_narrow}, 7};
  const std::vector<std::uint32_t> narrow{5, 0, last_narrow, 7};
  for (const Indices& ids : {Indices(wide), Indices(std::span(narrow))}) {
    EXPECT_THAT(ids, ElementsAre(5, 0, 4294967295, 7));
    EXPECT_EQ(ids[2], 4294967295);
    EXPECT_THAT(ids.subspan(1, 2), ElementsAre(0, 4294967295));
    EXPECT_EQ(ids.end() - ids.begin(), 4);
    EXPECT_EQ(*std::max_element(ids.begin(), ids.end()), 4294967295);
    EXPECT_EQ(ids.visit([](auto span) { return static_cast<VertexId>(span.back()); }), 7);
  }
  EXPECT_EQ(Indices(wide).bytes().size(), 32U);
  EXPECT_EQ(Indices(std::span(narrow)).bytes().size(), 16U);
  EXPECT_TRUE(Indices(std::span(narrow)).is_narrow());
  EXPECT_TRUE(Indices().empty());
}

TEST(Indices, IteratorsOutliveTheView) {
  const std::vector<VertexId> wide{3, 4};
  const auto begin = Indices(wide).begin();
  EXPECT_EQ(begin[1], 4);
}

}  // namespace
}  // namespace gnomon::graph
