#include "graph/splits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"

namespace gnomon::graph {
namespace {

std::vector<std::int32_t> cyclic_labels(std::size_t count, std::int32_t classes) {
  std::vector<std::int32_t> labels(count);
  for (std::size_t i = 0; i < count; ++i) {
    labels[i] = static_cast<std::int32_t>(i) % (classes + 1) - 1;  // some are not known
  }
  return labels;
}

/// Ascending, disjoint, and together all labelled vertices.
void expect_partition(const Split& split, const std::vector<std::int32_t>& labels) {
  std::set<VertexId> seen;
  for (const auto* set : {&split.train, &split.valid, &split.test}) {
    EXPECT_TRUE(std::ranges::is_sorted(*set));
    for (const VertexId vertex : *set) {
      EXPECT_TRUE(seen.insert(vertex).second);
      EXPECT_GE(labels[static_cast<std::size_t>(vertex)], 0);
    }
  }
  EXPECT_EQ(seen.size(), labels.size() - static_cast<std::size_t>(std::ranges::count(labels, -1)));
}

TEST(Splits, TakeSoManyOfEachClass) {
  const auto labels = cyclic_labels(1000, 4);
  const SplitOptions options{.method = SplitMethod::per_class, .train_per_class = 5, .valid_per_class = 7};
  const Split split = draw_split(labels, 4, options, "x");
  expect_partition(split, labels);
  for (std::int32_t label = 0; label < 4; ++label) {
    const auto is_label = [&](VertexId vertex) { return labels[static_cast<std::size_t>(vertex)] == label; };
    EXPECT_EQ(std::ranges::count_if(split.train, is_label), 5);
    EXPECT_EQ(std::ranges::count_if(split.valid, is_label), 7);
  }
}

TEST(Splits, HaveTheAskedRatioAndFollowTheSeed) {
  const auto labels = cyclic_labels(1000, 4);
  const SplitOptions options{
      .method = SplitMethod::ratio, .train_share = 0.5, .valid_share = 0.25, .seed = 9};
  const Split split = draw_split(labels, 4, options, "x");
  expect_partition(split, labels);
  EXPECT_EQ(split.train.size(), 400U);
  EXPECT_EQ(split.valid.size(), 200U);
  EXPECT_EQ(draw_split(labels, 4, options, "x").train, split.train);
  SplitOptions other = options;
  other.seed = 10;
  EXPECT_NE(draw_split(labels, 4, other, "x").train, split.train);
}

TEST(Splits, EveryVertexIsEquallyLikely) {
  const std::vector<std::int32_t> labels(20, 0);
  std::vector<int> counts(20, 0);
  constexpr int rounds = 4000;
  for (int seed = 0; seed < rounds; ++seed) {
    const SplitOptions options{
        .method = SplitMethod::ratio, .train_share = 0.25, .seed = static_cast<unsigned>(seed)};
    for (const VertexId vertex : draw_split(labels, 1, options, "x").train) {
      ++counts[static_cast<std::size_t>(vertex)];
    }
  }
  // Chi-square with 19 degrees of freedom; each round draws 5 of 20 without replacement, which shrinks the
  // variance by (20 - 5) / 19. The bound is the quantile at 1e-3.
  double chi_square = 0;
  for (const int count : counts) {
    chi_square += (count - rounds / 4.0) * (count - rounds / 4.0) / (rounds / 4.0);
  }
  EXPECT_LT(chi_square / (15.0 / 19.0), 43.8);
}

TEST(Splits, FaultsAreNamed) {
  const std::vector<std::int32_t> labels{0, 0, 0, 1};
  const auto message = [&](SplitOptions options) {
    try {
      draw_split(labels, 2, options, "f.npz: labels");
    } catch (const base::InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(
      message({.method = SplitMethod::per_class, .train_per_class = 1, .valid_per_class = 1}),
      "f.npz: labels: class 1 has 1 vertices; a per_class split needs train_per_class + valid_per_class = 2");
  EXPECT_EQ(message({.method = SplitMethod::ratio, .train_share = 0.8, .valid_share = 0.3}),
            "f.npz: labels: train_share + valid_share must be at most 1");
}

}  // namespace
}  // namespace gnomon::graph
