#include "graph/feature_form.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "tests/fixtures/graphs.h"
#include "tests/fixtures/sparse_features.h"

namespace gnomon::graph {
namespace {

using test::Values;

Graph graph_with(const std::vector<float>& values, std::int64_t columns,
                 FeatureType type = FeatureType::fp32) {
  const auto rows = std::ssize(values) / columns;
  return test::with_features(
      test::graph_of(std::vector<std::vector<VertexId>>(static_cast<std::size_t>(rows))), values, columns,
      type);
}

TEST(FeatureForm, ThereAndBackAreTheSameBytes) {
  for (const auto type : {FeatureType::fp32, FeatureType::fp16, FeatureType::bf16}) {
    for (const auto values : {Values::normal, Values::ones}) {
      for (const std::uint64_t rarity : {1, 3, 50}) {
        const Graph dense = graph_with(test::mostly_zero(61, 37, rarity, values, 8), 37, type);
        const Graph sparse = with_features_in(dense, FeatureForm::sparse);
        validate(sparse, false);
        ASSERT_TRUE(sparse.features.is_sparse());
        EXPECT_EQ(sparse.features.data == nullptr, values == Values::ones);
        const Graph back = with_features_in(sparse, FeatureForm::dense);
        ASSERT_EQ(back.features.data_bytes().size(), dense.features.data_bytes().size());
        EXPECT_EQ(std::memcmp(back.features.data, dense.features.data, dense.features.data_bytes().size()),
                  0);
      }
    }
  }
}

TEST(FeatureForm, EntriesAreWhatIsNotZero) {
  const Graph sparse =
      with_features_in(graph_with({0, -0.0F, 2, 0, 0, 0, -1, 0.5F, 0}, 3), FeatureForm::sparse);
  const auto& features = sparse.features;
  EXPECT_EQ(std::vector(features.indptr.begin(), features.indptr.end()),
            (std::vector<std::int64_t>{0, 1, 1, 3}));
  EXPECT_EQ(std::vector(features.entry_columns.begin(), features.entry_columns.end()),
            (std::vector<std::int32_t>{2, 0, 1}));
  EXPECT_EQ(features.bytes(), 4 * 8 + 3 * 8);
  EXPECT_EQ(test::dense_values(features), (std::vector<float>{0, 0, 2, 0, 0, 0, -1, 0.5F, 0}));
}

TEST(FeatureForm, FeaturesOfZerosHaveNoEntries) {
  const Graph sparse = with_features_in(graph_with(std::vector<float>(20, 0.0F), 5), FeatureForm::sparse);
  validate(sparse, false);
  EXPECT_EQ(sparse.features.num_entries(), 0);
  EXPECT_TRUE(sparse.features.any());
  EXPECT_EQ(test::dense_values(sparse.features), std::vector<float>(20, 0.0F));
}

TEST(FeatureForm, AutomaticIsTheSmaller) {
  // 20 rows of 100 columns are 8,000 bytes dense; sparse they are 168 bytes and 8 an entry, or 4 if all
  // are 1.
  const auto form_of = [](std::size_t entries, float value) {
    std::vector<float> values(2000, 0.0F);
    std::fill(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(entries), value);
    const Graph dense = graph_with(values, 100);
    const Graph found = with_features_in(dense, FeatureForm::automatic);
    const Graph again =
        with_features_in(with_features_in(dense, FeatureForm::sparse), FeatureForm::automatic);
    EXPECT_EQ(found.features.is_sparse(), again.features.is_sparse());
    return found.features.is_sparse();
  };
  EXPECT_TRUE(form_of(978, 2.0F));
  EXPECT_FALSE(form_of(979, 2.0F));
  EXPECT_TRUE(form_of(1957, 1.0F));
  EXPECT_FALSE(form_of(1958, 1.0F));
}

TEST(FeatureForm, AGraphWithoutFeaturesStaysWithout) {
  for (const auto form : {FeatureForm::automatic, FeatureForm::dense, FeatureForm::sparse}) {
    EXPECT_FALSE(with_features_in(test::hub_graph(3), form).features.any());
  }
}

}  // namespace
}  // namespace gnomon::graph
