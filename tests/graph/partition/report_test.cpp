#include "graph/partition/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "communities.h"
#include "graph/partition/hubs.h"
#include "tests/fixtures/message_of.h"

namespace gnomon::graph {
namespace {

const PartitionRequest report_request{PartitionMethod::random, 6, 9};

TEST(PartitionReport, IsOfTheFirstEpochsMacroBatchesAndTheirHubs) {
  const auto graph = test::with_labels(test::community_graph(300, 5, 8, 4), 3, 4);
  const auto part_of = partition(graph, report_request);
  const auto report = report_on(graph, part_of, report_request, {2, 0.1, 2});
  EXPECT_EQ(report.quality.cut_share, quality_of(graph, part_of, 6).cut_share);
  const auto expected =
      working_sets(graph, part_of, macro_batches(6, 2, 9, 0), hubs_of(influence_on_training(graph, 2), 30));
  const auto without = report_on(graph, part_of, report_request, {2, 0, 2});
  ASSERT_EQ(report.macro_batches.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report.macro_batches[i].edges_within, expected[i].edges_within);
    EXPECT_EQ(report.macro_batches[i].vertices, expected[i].vertices);
    EXPECT_GT(report.macro_batches[i].edges_within, without.macro_batches[i].edges_within);
  }
}

TEST(PartitionReport, RefusesMoreResidentPartsThanThereAre) {
  const auto graph = test::community_graph(30, 5, 4, 4);
  EXPECT_EQ(test::message_of("",
                             [&] {
                               report_on(graph, PartOf(30, 0), report_request, {7, 0, 1});
                             }),
            "resident: 7 is out of range; use 1 to 6, the number of parts");
}

}  // namespace
}  // namespace gnomon::graph
