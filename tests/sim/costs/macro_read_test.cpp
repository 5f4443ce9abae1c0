#include "sim/costs/macro_read.h"

#include <gtest/gtest.h>

#include "graph/partition/macro_batches.h"
#include "plan/plan.h"

namespace gnomon::sim {
namespace {

TEST(MacroRead, IsTheResidentPartsShareOfTheStore) {
  profiles::WorkloadProfile
      workload;  // 8 * 101 bytes of row pointers, 4 * 1,798 of ids, 100 * 40 of features
  workload.vertices = 100;
  workload.edges = 1798;
  workload.train_vertices = 12;
  workload.feature_row_bytes = 40;
  plan::Macro macro;
  macro.partitions = 8;
  macro.resident = 2;
  const auto read = macro_read(workload, macro);
  EXPECT_DOUBLE_EQ(read.vertices, 25);
  EXPECT_DOUBLE_EQ(read.bytes, 3000);
  EXPECT_DOUBLE_EQ(read.train_vertices, 3);
  const auto reads = macro_reads(workload, macro, 0);
  ASSERT_EQ(reads.size(), 4U) << "not of a store with parts";
  EXPECT_DOUBLE_EQ(reads[3].bytes, 3000);
}

TEST(MacroReads, AreThoseOfTheStoresParts) {
  profiles::WorkloadProfile workload;
  workload.vertices = 60;
  workload.edges = 210;
  workload.feature_row_bytes = 40;
  workload.job.seed = 5;
  workload.store_parts = {plan::Partitioner::gnn_aware, {10, 20, 30}, {100, 70, 40}, {5, 4, 3}};
  plan::Macro macro;
  macro.partitioner = plan::Partitioner::gnn_aware;
  macro.partitions = 3;
  macro.resident = 2;
  const auto groups = graph::macro_batches(3, 2, 5, 7);
  const auto reads = macro_reads(workload, macro, 7);
  ASSERT_EQ(reads.size(), 2U);
  for (std::size_t group = 0; group < 2; ++group) {
    MacroRead sum;
    for (const auto part : groups[group]) {
      const double vertices = 10 * (part + 1);
      const double edges = 100 - 30 * part;
      sum.vertices += vertices;
      sum.bytes += 8 * (vertices + 1) + 4 * edges + 40 * vertices;
      sum.train_vertices += 5 - part;
    }
    EXPECT_DOUBLE_EQ(reads[group].vertices, sum.vertices);
    EXPECT_DOUBLE_EQ(reads[group].bytes, sum.bytes);
    EXPECT_DOUBLE_EQ(reads[group].feature_bytes, 40 * sum.vertices);
    EXPECT_DOUBLE_EQ(reads[group].train_vertices, sum.train_vertices);
  }
  macro.partitioner = plan::Partitioner::random;
  EXPECT_DOUBLE_EQ(macro_reads(workload, macro, 7)[0].vertices, 40) << "other parts";
}

}  // namespace
}  // namespace gnomon::sim
