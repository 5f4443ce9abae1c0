#include "graph/partition/parted_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"
#include "base/index.h"
#include "graph/partition/hubs.h"
#include "graph/partition/parts.h"
#include "graph/store/npy.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {
namespace {

using base::at;

/// A planted graph, divided at random, and its store by part.
class PartedStore : public testing::Test {
 protected:
  PartedStore() : graph_(test::planted_graph(600, 5)), part_of_(partition(graph_, request_)) {
    PartedStoreWriter(here_ / "store").commit(graph_, part_of_, request_, {.ratio = 0.1, .steps = 2});
  }

  const PartitionRequest request_{.method = PartitionMethod::random, .parts = 7, .seed = 3};
  test::TemporaryDirectory here_;
  Graph graph_;
  PartOf part_of_;
};

TEST_F(PartedStore, IsTheSameGraphInTheOrderOfItsParts) {
  const auto parted = open_store(here_ / "store");
  ASSERT_NE(parted.parts, nullptr);
  EXPECT_EQ(parted.parts->request, request_);
  ASSERT_EQ(parted.parts->count(), 7);
  ASSERT_EQ(parted.num_vertices(), graph_.num_vertices());
  for (std::int64_t part = 0; part < 7; ++part) {
    for (auto id = parted.parts->bounds[at(part)]; id < parted.parts->bounds[at(part) + 1]; ++id) {
      const auto vertex = parted.original_id(id);
      ASSERT_EQ(part_of_[at(vertex)], part);
      ASSERT_EQ(parted.labels[at(id)], graph_.labels[at(vertex)]);
      ASSERT_EQ(
          std::memcmp(parted.features.row(id), graph_.features.row(vertex), at(graph_.features.row_bytes())),
          0);
      std::multiset<VertexId> neighbours;
      for (const auto neighbour : parted.neighbours(id)) {
        neighbours.insert(parted.original_id(neighbour));
      }
      const auto expected = graph_.neighbours(vertex);
      ASSERT_EQ(neighbours, std::multiset<VertexId>(expected.begin(), expected.end()));
    }
  }
}

TEST_F(PartedStore, HasTheHubsWithTheLargestInfluenceFirst) {
  const auto parted = open_store(here_ / "store");
  const auto influence = influence_on_training(graph_, 2);
  ASSERT_EQ(parted.parts->hubs.size(), 60U);
  EXPECT_EQ(parted.parts->hub_steps, 2);
  double last = influence[at(parted.original_id(parted.parts->hubs.front()))];
  EXPECT_EQ(last, *std::max_element(influence.begin(), influence.end()));
  for (const auto hub : parted.parts->hubs) {
    const double own = influence[at(parted.original_id(hub))];
    EXPECT_LE(own, last);
    last = own;
  }
  const auto larger =
      std::count_if(influence.begin(), influence.end(), [&](double each) { return each > last; });
  EXPECT_LE(larger, 60);
}

TEST_F(PartedStore, KeepsItsPartsWhenItIsCopiedAndLosesThemInAnotherOrder) {
  write_store(open_store(here_ / "store"), here_ / "copy");
  const auto copy = open_store(here_ / "copy");
  const auto parted = open_store(here_ / "store");
  ASSERT_NE(copy.parts, nullptr);
  EXPECT_TRUE(std::equal(copy.parts->bounds.begin(), copy.parts->bounds.end(), parted.parts->bounds.begin(),
                         parted.parts->bounds.end()));
  EXPECT_TRUE(std::equal(copy.parts->hubs.begin(), copy.parts->hubs.end(), parted.parts->hubs.begin(),
                         parted.parts->hubs.end()));
  EXPECT_EQ(reordered(parted, vertices_in_order(parted, VertexOrder::degree)).parts, nullptr);
  write_in_order(VertexOrder::degree, here_ / "ordered",
                 [&](const std::filesystem::path& store) { write_store(parted, store); });
  EXPECT_EQ(open_store(here_ / "ordered").parts, nullptr);
}

TEST_F(PartedStore, FaultsOfItsPartsAreNamed) {
  const auto replace = [&](const char* file, std::vector<VertexId> values) {
    NpyWriter writer(here_ / "store" / file, DType::int64);
    writer.write(std::span<const VertexId>(values));
    writer.finish();
    return test::message_of(here_ / "store", [&] { open_store(here_ / "store"); });
  };
  EXPECT_EQ(replace("parts.npy", {0, 100, 90, 200, 300, 400, 500, 600}),
            "parts.npy: must ascend from 0 to num_vertices 600");
  EXPECT_EQ(replace("parts.npy", {0, 80, 90, 200, 300, 400, 500, 601}),
            "parts.npy: must ascend from 0 to num_vertices 600");
  EXPECT_EQ(replace("parts.npy", {0, 80, 90, 200, 300, 400, 500, 600}), "no error");
  std::vector<VertexId> hubs(60, 5);
  hubs[7] = 600;
  EXPECT_EQ(replace("hubs.npy", hubs), "hubs.npy: vertex 600 is out of range; use 0 to 599");
}

}  // namespace
}  // namespace gnomon::graph
