#include "kernels/cpu/features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "base/process_memory.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/random_seed.h"

namespace gnomon::kernels::cpu {
namespace {

TEST(CopiedFeatures, AreTheSameBytesAndOutliveTheirSource) {
  const test::RandomSeed seed(5);
  std::mt19937_64 random(seed);
  // One that a thread copies, and one with a rest that does not divide among several.
  for (const std::int64_t rows : {300, 600'001}) {
    auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(rows * 33));
    std::generate(values->begin(), values->end(), [&] { return static_cast<float>(random() % 1000); });
    const auto expected = *values;
    auto graph = test::skewed_graph(300, 4);
    graph.features = {reinterpret_cast<const std::byte*>(values->data()), graph::FeatureType::fp32, rows, 33};
    graph.storage = values;
    ASSERT_TRUE(can_copy_features(graph));
    auto copied = with_copied_features(graph);
    graph = {};
    std::fill(values->begin(), values->end(), -1.0F);
    values.reset();
    ASSERT_EQ(copied.features.rows, rows);
    EXPECT_EQ(std::memcmp(copied.features.data, expected.data(), expected.size() * sizeof(float)), 0);
  }
}

TEST(CopiedFeatures, ReleaseTheFileThatTheyWereIn) {
  const test::TemporaryDirectory directory;
  graph::generate(test::tiny_partition(), directory / "store");
  const auto graph = graph::open_store(directory / "store");
  graph::validate(graph, true);  // reads all of it
  const auto before = base::mapped_bytes(directory / "store");
  const auto copied = with_copied_features(graph);
  const std::int64_t bytes = graph.features.rows * graph.features.row_bytes();
  ASSERT_GT(bytes, 1 << 15);
  EXPECT_LE(base::mapped_bytes(directory / "store"), before - bytes + (2 << 12));
  EXPECT_EQ(std::memcmp(copied.features.data, graph.features.data, static_cast<std::size_t>(bytes)), 0);
}

TEST(CopiedFeatures, OfSparseFormHaveAllArrays) {
  for (const auto kind : {test::Values::normal, test::Values::ones}) {
    const auto dense = test::with_features(test::skewed_graph(90, 4), test::mostly_zero(90, 40, 5, kind, 3),
                                           40, graph::FeatureType::fp16);
    auto sparse = test::in_sparse_form(dense);
    ASSERT_TRUE(can_copy_features(sparse));
    const auto copied = with_copied_features(sparse);
    EXPECT_NE(copied.features.entry_columns.data(), sparse.features.entry_columns.data());
    const auto bytes = sparse.features.bytes();
    sparse = {};
    EXPECT_EQ(copied.features.bytes(), bytes);
    EXPECT_EQ(test::dense_values(copied.features), test::dense_values(dense.features));
  }
}

TEST(CopiedFeatures, LeaveRoomForWhatElseIsNeeded) {
  const auto graph = test::planted_graph(300, 4);
  EXPECT_TRUE(can_copy_features(graph, 1 << 20));
  EXPECT_FALSE(can_copy_features(graph, std::int64_t{1} << 50));
}

TEST(CopiedFeatures, AreNotMadeOfNoneOrOfMoreThanFits) {
  auto graph = test::skewed_graph(300, 4);
  EXPECT_FALSE(can_copy_features(graph));
  const float value = 0;
  graph.features = {reinterpret_cast<const std::byte*>(&value), graph::FeatureType::fp32,
                    std::int64_t{1} << 40, 64};
  EXPECT_FALSE(can_copy_features(graph));
}

}  // namespace
}  // namespace gnomon::kernels::cpu
