#include "sim/costs/macro_read.h"

#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace gnomon::sim
