#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tests/fixtures/graphs.h"
#include "tests/kernels/contract_skip.h"
#include "tests/random_seed.h"

/// The contract of every gather. An implementation has
///     static std::vector<std::byte> rows(const graph::Features&, const std::vector<graph::VertexId>&)
///     static std::vector<std::int64_t> labels(const std::vector<std::int32_t>&, const
///     std::vector<graph::VertexId>&)
namespace gnomon::kernels {

template <class Implementation>
class GatherContract : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_skipped<Implementation>(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
};

TYPED_TEST_SUITE_P(GatherContract);

TYPED_TEST_P(GatherContract, CopiesRowsByteForByte) {
  constexpr std::int64_t rows = 97;
  const test::RandomSeed seed(1);
  std::mt19937_64 random(seed);
  for (const auto type : {graph::FeatureType::fp32, graph::FeatureType::fp16, graph::FeatureType::bf16}) {
    for (const std::int64_t columns : {0, 1, 3, 16, 100, 1433}) {
      graph::Features features{nullptr, type, rows, columns};
      std::vector<std::byte> bytes(static_cast<std::size_t>(rows * features.row_bytes()));
      std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
      features.data = bytes.data();
      std::vector<graph::VertexId> vertices(40);
      std::generate(vertices.begin(), vertices.end(),
                    [&] { return static_cast<graph::VertexId>(random() % rows); });
      std::vector<std::byte> expected;
      for (const auto vertex : vertices) {
        const auto first = bytes.begin() + vertex * features.row_bytes();
        expected.insert(expected.end(), first, first + features.row_bytes());
      }
      EXPECT_EQ(TypeParam::rows(features, vertices), expected) << columns << " columns";
      EXPECT_TRUE(TypeParam::rows(features, {}).empty());
    }
  }
}

TYPED_TEST_P(GatherContract, WidensLabels) {
  const std::vector<std::int32_t> labels{4, -1, 2147483647};
  EXPECT_EQ(TypeParam::labels(labels, {2, 1, 1, 0}), (std::vector<std::int64_t>{2147483647, -1, -1, 4}));
  EXPECT_TRUE(TypeParam::labels(labels, {}).empty());
}

REGISTER_TYPED_TEST_SUITE_P(GatherContract, CopiesRowsByteForByte, WidensLabels);

}  // namespace gnomon::kernels
