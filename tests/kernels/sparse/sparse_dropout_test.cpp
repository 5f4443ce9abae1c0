#include "kernels/cpu/sparse/sparse_dropout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "graph/feature_bits.h"
#include "tests/kernels/instruction_set.h"
#include "tests/random_seed.h"

namespace gnomon::kernels::cpu {
namespace {

/// A CSR matrix of random ascending columns.
struct Matrix {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> columns;
  SparseRows rows() const { return {indptr, columns, {}}; }
};

Matrix random_matrix(std::mt19937_64& random, std::int64_t num_rows, std::int64_t num_columns) {
  Matrix matrix;
  for (std::int64_t r = 0; r < num_rows; ++r) {
    const auto rarity = 1 + random() % 40;
    for (std::int32_t c = 0; c < num_columns; ++c) {
      if (r % 4 != 1 && random() % rarity == 0) {
        matrix.columns.push_back(c);
      }
    }
    matrix.indptr.push_back(std::ssize(matrix.columns));
  }
  return matrix;
}

bool is_kept(const DropoutRule& rule, std::int64_t element) {
  return !rule.is_dropped(rule.words(element / dropout_block), element % dropout_block);
}

class SparseDropout : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!choose_instruction_set(GetParam())) {
      GTEST_SKIP() << "this machine lacks the instruction set";
    }
  }
};

TEST_P(SparseDropout, KeepsTheElementsThatTheDenseMatrixKeeps) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    const auto num_columns = static_cast<std::int64_t>(1 + random() % 900);
    const auto matrix = random_matrix(random, 12, num_columns);
    const DropoutRule rule{{random(), base::Purpose::dropout, random() % 100, random() % 1000,
                            static_cast<std::uint32_t>(random() % 8), 0},
                           static_cast<std::uint32_t>(1 + random() % 65535)};
    std::vector<std::uint8_t> kept(matrix.columns.size(), 9);
    std::vector<std::int64_t> counts(12, -1);
    const RowRange range{2, 11};
    kept_entries(rule, matrix.rows(), range, num_columns, kept.data(), counts.data());
    for (std::int64_t r = 0; r < 12; ++r) {
      const bool is_inside = r >= range.first && r < range.last;
      std::int64_t total = 0;
      for (auto e = static_cast<std::size_t>(matrix.indptr[static_cast<std::size_t>(r)]);
           e < static_cast<std::size_t>(matrix.indptr[static_cast<std::size_t>(r) + 1]); ++e) {
        const bool expected = is_kept(rule, r * num_columns + matrix.columns[e]);
        ASSERT_EQ(kept[e], is_inside ? (expected ? 1 : 0) : 9) << "row " << r << ", entry " << e;
        total += expected ? 1 : 0;
      }
      ASSERT_EQ(counts[static_cast<std::size_t>(r)], is_inside ? total : -1);
    }
  }
}

TEST_P(SparseDropout, ElementsOfMoreThan35BitsFollowTheRuleToo) {
  // Rows of 2^31 - 1 columns: the counters of row 15's blocks end within 2^32, those of row 16's pass it.
  constexpr std::int64_t num_columns = (std::int64_t{1} << 31) - 1;
  Matrix matrix;
  matrix.indptr.assign(16, 0);
  for (int row = 15; row < 19; ++row) {
    for (const std::int64_t column :
         {std::int64_t{0}, std::int64_t{5}, std::int64_t{8}, std::int64_t{15}, std::int64_t{16},
          std::int64_t{17}, std::int64_t{100}, num_columns - 1}) {
      matrix.columns.push_back(static_cast<std::int32_t>(column));
    }
    matrix.indptr.push_back(std::ssize(matrix.columns));
  }
  const DropoutRule rule{{5, base::Purpose::dropout, 1, 2, 3, 0}, 30000};
  std::vector<std::uint8_t> kept(matrix.columns.size());
  std::vector<std::int64_t> counts(19);
  kept_entries(rule, matrix.rows(), {0, 19}, num_columns, kept.data(), counts.data());
  for (std::size_t e = 0; e < kept.size(); ++e) {
    const auto row = 15 + static_cast<std::int64_t>(e / 8);
    ASSERT_EQ(kept[e], is_kept(rule, row * num_columns + matrix.columns[e]) ? 1 : 0) << "entry " << e;
  }
}

TEST_P(SparseDropout, CopiesWhatIsKeptAndNothingElse) {
  const test::RandomSeed seed(4);
  std::mt19937_64 random(seed);
  const auto matrix = random_matrix(random, 30, 300);
  std::vector<std::uint8_t> kept(matrix.columns.size());
  std::generate(kept.begin(), kept.end(), [&] { return static_cast<std::uint8_t>(random() % 2); });
  std::vector<float> values(kept.size());
  for (float& value : values) {
    value = static_cast<float>(random() % 256) - 128;  // exact in all types
  }
  std::vector<std::uint16_t> halves, bf16;
  graph::round_features(graph::FeatureType::fp16, values, halves);
  graph::round_features(graph::FeatureType::bf16, values, bf16);
  std::vector<std::int64_t> indptr{0};
  for (std::size_t r = 0; r < 30; ++r) {
    indptr.push_back(
        std::accumulate(kept.begin() + matrix.indptr[r], kept.begin() + matrix.indptr[r + 1], indptr.back()));
  }
  const auto copied = [&](const EntryValues& of_entries) {
    std::vector<std::int32_t> columns(static_cast<std::size_t>(indptr.back()));
    std::vector<float> to(columns.size());
    for (const RowRange range : {RowRange{17, 30}, {0, 17}}) {
      copy_kept(matrix.rows(), range, of_entries, 1.5F, kept.data(), indptr.data(), columns.data(),
                to.data());
    }
    for (std::size_t e = 0, at = 0; e < kept.size(); ++e) {
      if (kept[e] != 0) {
        EXPECT_EQ(columns[at], matrix.columns[e]);
        EXPECT_EQ(to[at++], of_entries.data == nullptr ? 1.5F : values[e] * 1.5F);
      }
    }
  };
  copied({reinterpret_cast<const std::byte*>(values.data()), graph::FeatureType::fp32});
  copied({reinterpret_cast<const std::byte*>(halves.data()), graph::FeatureType::fp16});
  copied({reinterpret_cast<const std::byte*>(bf16.data()), graph::FeatureType::bf16});
  copied({});
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, SparseDropout, testing::Values(HWY_AVX3, HWY_AVX2, HWY_SCALAR));

}  // namespace
}  // namespace gnomon::kernels::cpu
