#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/cpu/sparse/sparse.h"
#include "tests/kernels/instruction_set.h"
#include "tests/random_seed.h"

namespace gnomon::kernels::cpu {
namespace {

class SpmmTransposed : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!choose_instruction_set(GetParam())) {
      GTEST_SKIP() << "this machine lacks the instruction set";
    }
  }
};

TEST_P(SpmmTransposed, AddsTheProductsOfItsRowsAndColumnsAndWritesNothingElse) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  for (const std::int64_t width : {1, 3, 8, 16, 40, 64, 129, 200}) {
    constexpr std::int64_t num_rows = 50;
    constexpr std::int64_t num_columns = 31;
    std::vector<std::int64_t> indptr{0};
    std::vector<std::int32_t> columns;
    std::vector<float> values;
    for (std::int64_t row = 0; row < num_rows; ++row) {
      for (std::int32_t column = 0; column < num_columns; ++column) {
        if (row % 6 != 2 && random() % 3 == 0) {
          columns.push_back(column);
          values.push_back(normal(random));
        }
      }
      indptr.push_back(std::ssize(columns));
    }
    std::vector<float> x(static_cast<std::size_t>(num_rows * width));
    std::vector<float> before(static_cast<std::size_t>(num_columns * width));
    std::generate(x.begin(), x.end(), [&] { return normal(random); });
    std::generate(before.begin(), before.end(), [&] { return normal(random); });
    for (const bool has_values : {true, false}) {
      auto y = before;
      const RowRange own_rows{4, 47};
      const RowRange own_columns{5, 29};
      spmm_transposed({indptr, columns, {}}, own_rows, own_columns,
                      has_values ? std::span<const float>(values) : std::span<const float>(), x, width, y);
      std::vector<double> expected(before.begin(), before.end());
      for (std::int64_t row = own_rows.first; row < own_rows.last; ++row) {
        for (auto e = static_cast<std::size_t>(indptr[static_cast<std::size_t>(row)]);
             e < static_cast<std::size_t>(indptr[static_cast<std::size_t>(row) + 1]); ++e) {
          for (std::int64_t i = 0;
               columns[e] >= own_columns.first && columns[e] < own_columns.last && i < width; ++i) {
            expected[static_cast<std::size_t>(columns[e] * width + i)] +=
                double{has_values ? values[e] : 1.0F} * x[static_cast<std::size_t>(row * width + i)];
          }
        }
      }
      for (std::size_t i = 0; i < y.size(); ++i) {
        const auto column = static_cast<std::int64_t>(i) / width;
        if (column < own_columns.first || column >= own_columns.last) {
          ASSERT_EQ(y[i], before[i]);
        }
        ASSERT_NEAR(y[i], expected[i], 2e-5) << "width " << width << ", element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, SpmmTransposed, testing::Values(HWY_AVX3, HWY_AVX2, HWY_SCALAR));

TEST(BalancedColumns, HoldNearlyEqualNumbersOfEntries) {
  // Column c has 40 - c entries.
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> columns;
  for (std::int32_t row = 0; row < 40; ++row) {
    for (std::int32_t column = 0; column < 40 - row; ++column) {
      columns.push_back(column);
    }
    indptr.push_back(std::ssize(columns));
  }
  const SparseRows rows{indptr, columns, {}};
  EXPECT_EQ(balanced_columns(rows, 45, 1).front().last, 45);
  const auto ranges = balanced_columns(rows, 45, 4);
  ASSERT_EQ(ranges.size(), 4U);
  std::int64_t next = 0;
  for (const auto& range : ranges) {
    EXPECT_EQ(range.first, next);
    next = range.last;
    std::int64_t entries = 0;
    for (std::int64_t column = range.first; column < std::min<std::int64_t>(range.last, 40); ++column) {
      entries += 40 - column;
    }
    EXPECT_NEAR(static_cast<double>(entries), 820 / 4.0, 45);
  }
  EXPECT_EQ(next, 45);
}

}  // namespace
}  // namespace gnomon::kernels::cpu
