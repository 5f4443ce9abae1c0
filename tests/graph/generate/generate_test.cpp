#include "graph/generate/generate.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>

#include "base/usable.h"
#include "graph/generate/gaussian.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::graph {
namespace {

float feature(const Graph& graph, VertexId vertex, std::int64_t column) {
  return reinterpret_cast<const float*>(graph.features.row(vertex))[column];
}

/// The class means as the generator's documentation defines them, found from the features: average by class.
std::vector<std::vector<double>> class_averages(const Graph& graph) {
  const auto columns = static_cast<std::size_t>(graph.features.columns);
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(graph.num_classes),
                                        std::vector<double>(columns));
  std::vector<double> counts(sums.size());
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    const auto label = static_cast<std::size_t>(graph.labels[static_cast<std::size_t>(v)]);
    ++counts[label];
    for (std::size_t j = 0; j < columns; ++j) {
      sums[label][j] += feature(graph, v, static_cast<std::int64_t>(j));
    }
  }
  for (std::size_t label = 0; label < sums.size(); ++label) {
    for (double& sum : sums[label]) {
      sum /= counts[label];
    }
  }
  return sums;
}

double dot(const std::vector<double>& one, const std::vector<double>& other) {
  return std::inner_product(one.begin(), one.end(), other.begin(), 0.0);
}

/// The share of the edges between vertices whose ids are equal modulo `groups`.
double share_within(const Graph& graph, VertexId groups) {
  std::int64_t within = 0;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    for (const VertexId u : graph.neighbours(v)) {
      within += u % groups == v % groups ? 1 : 0;
    }
  }
  return static_cast<double>(within) / static_cast<double>(graph.num_edges());
}

TEST(PlantedPartition, IsUndirectedWithTheAskedDegreeAndShare) {
  const PlantedPartition options{.vertices = 20000,
                                 .average_degree = 12,
                                 .classes = 7,
                                 .intra_share = 0.6,
                                 .feature_columns = 8,
                                 .seed = 3};
  const Graph graph = generate_in_memory(options);
  validate(graph, true);
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    for (const VertexId u : graph.neighbours(v)) {
      ASSERT_NE(u, v);
      const auto back = graph.neighbours(u);
      ASSERT_TRUE(std::binary_search(back.begin(), back.end(), v));
    }
  }
  const auto edges = static_cast<double>(graph.num_edges());
  EXPECT_NEAR(edges / 20000, 12, 0.05);
  // Half as many independent draws as stored edges; four deviations.
  EXPECT_NEAR(share_within(graph, 7), 0.6, 4 * std::sqrt(0.24 / (edges / 2)));
  EXPECT_EQ(graph.train.size(), 12000U);
  EXPECT_EQ(graph.valid.size(), 4000U);
  EXPECT_EQ(graph.test.size(), 4000U);
}

TEST(PlantedPartition, CommunitiesArePartsOfClasses) {
  const PlantedPartition options{.vertices = 20000,
                                 .average_degree = 12,
                                 .classes = 4,
                                 .communities = 20,
                                 .intra_share = 0.6,
                                 .feature_columns = 8,
                                 .seed = 6};
  const Graph graph = generate_in_memory(options);
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    ASSERT_EQ(graph.labels[static_cast<std::size_t>(v)], v % 4);
  }
  const auto edges = static_cast<double>(graph.num_edges());
  // Half as many independent draws as stored edges; four deviations. In a community of 1,000 vertices 0.4 %
  // of the pairs are drawn twice and stored once.
  EXPECT_NEAR(share_within(graph, 20), 0.6, 4 * std::sqrt(0.24 / (edges / 2)) + 0.002);
  EXPECT_NEAR(share_within(graph, 4), 0.6 + 0.4 * 4 / 19, 4 * std::sqrt(0.24 / (edges / 2)) + 0.002);
}

TEST(PlantedPartition, MeansAreOrthonormalAndNoiseAsAsked) {
  const PlantedPartition options{.vertices = 40000,
                                 .average_degree = 0,
                                 .classes = 5,
                                 .feature_columns = 11,
                                 .feature_noise = 0.5,
                                 .seed = 4};
  const Graph graph = generate_in_memory(options);
  const auto means = class_averages(graph);
  // Each average errs by noise / sqrt(8000) = 0.006 a column.
  for (std::size_t one = 0; one < means.size(); ++one) {
    for (std::size_t other = 0; other < means.size(); ++other) {
      EXPECT_NEAR(dot(means[one], means[other]), one == other ? 1 : 0, 0.03);
    }
  }
  double squares = 0;
  double cubes = 0;
  double fourths = 0;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    const auto& mean = means[static_cast<std::size_t>(v % 5)];
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const double noise = (feature(graph, v, static_cast<std::int64_t>(j)) - mean[j]) / 0.5;
      squares += noise * noise;
      cubes += noise * noise * noise;
      fourths += noise * noise * noise * noise;
    }
  }
  const double count = 40000.0 * 11;
  EXPECT_NEAR(squares / count, 1, 4 * std::sqrt(2 / count) + 5.0 / 40000);
  EXPECT_NEAR(cubes / count, 0, 4 * std::sqrt(15 / count));
  EXPECT_NEAR(fourths / count, 3, 4 * std::sqrt(96 / count) + 0.002);
}

/// Classifies every vertex by its features (nearest true mean) and, if asked, its neighbours' classes.
double measured_accuracy(const PlantedPartition& options, bool with_neighbours) {
  const Graph graph = generate_in_memory(options);
  const double communities = static_cast<double>(options.num_communities());
  const double same = options.intra_share +
                      (1 - options.intra_share) * (communities / options.classes - 1) / (communities - 1);
  const double per_neighbour = std::log(same * (options.classes - 1) / (1 - same));
  const auto means = class_averages(graph);
  std::int64_t right = 0;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    std::vector<double> scores;
    for (const auto& mean : means) {
      double score = -0.5 * dot(mean, mean);
      for (std::size_t j = 0; j < mean.size(); ++j) {
        score += mean[j] * feature(graph, v, static_cast<std::int64_t>(j));
      }
      scores.push_back(score / (options.feature_noise * options.feature_noise));
    }
    for (const VertexId u : graph.neighbours(v)) {
      scores[static_cast<std::size_t>(u % options.classes)] += with_neighbours ? per_neighbour : 0;
    }
    right += std::max_element(scores.begin(), scores.end()) - scores.begin() == v % options.classes ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(options.vertices);
}

TEST(PlantedPartition, BestAccuraciesAreReachedAndMeasured) {
  PlantedPartition options{.vertices = 30000,
                           .average_degree = 6,
                           .classes = 6,
                           .intra_share = 0.45,
                           .feature_columns = 16,
                           .feature_noise = 0.9,
                           .seed = 5};
  // Two samples of 30,000 and 100,000: deviations of 0.0029 and 0.0016; the means are estimated too.
  EXPECT_NEAR(measured_accuracy(options, false), feature_accuracy(options), 0.012);
  EXPECT_NEAR(measured_accuracy(options, true), best_accuracy(options), 0.014);
  EXPECT_GT(best_accuracy(options), feature_accuracy(options) + 0.05);
  options.communities = 60;
  EXPECT_NEAR(measured_accuracy(options, true), best_accuracy(options), 0.014);
}

TEST(PlantedPartition, FeatureAccuracyInClosedForm) {
  // Two classes: the probability that a normal of mean 1/noise and variance 2 is positive, Φ(1/(noise·√2)).
  for (const double noise : {0.3, 1.0, 4.0}) {
    EXPECT_NEAR(feature_accuracy({.classes = 2, .feature_noise = noise}), 0.5 * std::erfc(-0.5 / noise),
                1e-9);
  }
  EXPECT_NEAR(feature_accuracy({.classes = 10, .feature_noise = 1e5}), 0.1, 1e-4);
  EXPECT_NEAR(feature_accuracy({.classes = 1}), 1, 1e-9);
}

TEST(PlantedPartition, BestAccuracyAtTheEnds) {
  EXPECT_EQ(best_accuracy({.classes = 1}, 1000), 1);
  // Without edges it is the features' accuracy.
  const PlantedPartition bare{.average_degree = 0, .classes = 4, .feature_noise = 1};
  EXPECT_NEAR(best_accuracy(bare), feature_accuracy(bare), 4 * 0.5 / std::sqrt(100000));
}

TEST(Generate, SameSeedSameBytes) {
  const test::TemporaryDirectory directory;
  PlantedPartition planted{.vertices = 3000, .classes = 3, .feature_columns = 5};
  Rmat rmat{.scale = 9, .feature_columns = 5};
  for (const char* name : {"a", "b", "other"}) {
    if (std::string(name) == "other") {
      planted.seed = 1;
      planted.split.seed = 1;
      rmat.seed = 1;
      rmat.split.seed = 1;
    }
    generate(planted, directory / ("planted-" + std::string(name)));
    generate(rmat, directory / ("rmat-" + std::string(name)));
  }
  for (const std::string kind : {"planted-", "rmat-"}) {
    for (const auto& entry : std::filesystem::directory_iterator(directory / (kind + "a"))) {
      const auto file = entry.path().filename();
      const auto bytes = base::read_file(entry.path());
      EXPECT_EQ(bytes, base::read_file(directory / (kind + "b") / file)) << file;
      if (file != "labels.npy" || kind == "rmat-") {
        EXPECT_NE(bytes, base::read_file(directory / (kind + "other") / file)) << file;
      }
    }
  }
}

TEST(Generate, TheStoreIsTheGraphInMemory) {
  const test::TemporaryDirectory directory;
  const PlantedPartition options{
      .vertices = 1000, .classes = 4, .feature_columns = 6, .feature_type = FeatureType::fp16};
  generate(options, directory / "g");
  const Graph stored = open_store(directory / "g");
  validate(stored, true);
  const Graph memory = generate_in_memory(options);
  EXPECT_TRUE(std::ranges::equal(stored.indptr, memory.indptr));
  EXPECT_TRUE(std::ranges::equal(stored.indices, memory.indices));
  EXPECT_TRUE(std::ranges::equal(stored.labels, memory.labels));
  EXPECT_TRUE(std::ranges::equal(stored.train, memory.train));
  EXPECT_EQ(std::memcmp(stored.features.data, memory.features.data, 12000), 0);
}

/// Ends the process with code 0 when a graph of 130 MB was made within 24 MB of memory beside its files and
/// the stacks of its threads, 1 when it needed more, 2 when the system does not hold to the limit.
[[noreturn]] void generate_within_limit(const std::filesystem::path& directory) {
  const rlim_t stacks = static_cast<rlim_t>(base::usable_cores()) * (9 << 20);
  const rlimit limit{(24 << 20) + stacks, (24 << 20) + stacks};
  ::setrlimit(RLIMIT_DATA, &limit);
  try {
    const std::vector<char> too_much((32 << 20) + stacks, 'x');
    std::_Exit(too_much.back() == 'x' ? 2 : 3);
  } catch (const std::bad_alloc&) {
  }
  try {
    generate(PlantedPartition{}, directory, {}, {.memory_bytes = 8 << 20});
    std::_Exit(0);
  } catch (const std::bad_alloc&) {
    std::_Exit(1);
  }
}

TEST(GenerateDeathTest, MemoryIsBounded) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need more memory than the limit leaves";
#endif
  const test::TemporaryDirectory directory;
  EXPECT_EXIT(generate_within_limit(directory / "g"), testing::ExitedWithCode(0), "");
  EXPECT_EQ(open_store(directory / "g").num_vertices(), 200000);
}

TEST(Rmat, QuadrantsHaveTheirShares) {
  // One level: four possible edges. Ids may be permuted, so compare the four counts sorted.
  const Rmat options{.scale = 1,
                     .edge_factor = 50000,
                     .a = 0.5,
                     .b = 0.25,
                     .c = 0.15,
                     .edges = {false, SelfLoops::keep, Duplicates::keep},
                     .feature_columns = 0,
                     .classes = 2};
  const Graph graph = generate_in_memory(options);
  std::vector<double> shares;
  for (VertexId v = 0; v < 2; ++v) {
    const auto zeros = std::ranges::count(graph.neighbours(v), 0);
    shares.push_back(static_cast<double>(zeros) / 1e5);
    shares.push_back(static_cast<double>(graph.degree(v) - zeros) / 1e5);
  }
  std::ranges::sort(shares);
  const double expected[] = {0.1, 0.15, 0.25, 0.5};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(shares[i], expected[i], 4 * std::sqrt(expected[i] * (1 - expected[i]) / 1e5));
  }
}

TEST(Rmat, IsSkewedAndItsIdsArePermuted) {
  const Rmat options{.scale = 14, .feature_columns = 3};
  const Graph graph = generate_in_memory(options);
  validate(graph, true);
  EXPECT_EQ(graph.num_vertices(), 1 << 14);
  VertexId hub = 0;
  std::int64_t low_half = 0;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    hub = graph.degree(v) > graph.degree(hub) ? v : hub;
    low_half += v < graph.num_vertices() / 2 ? graph.degree(v) : 0;
  }
  EXPECT_GT(graph.degree(hub), 20 * graph.num_edges() / graph.num_vertices());
  // Unpermuted, the low half of the ids would hold three quarters of the edges.
  EXPECT_NEAR(static_cast<double>(low_half) / static_cast<double>(graph.num_edges()), 0.5, 0.1);
}

TEST(Generate, OptionsOutOfRangeAreNamed) {
  const auto planted = [](PlantedPartition options) {
    return test::message_of("", [&] { generate_in_memory(options); });
  };
  EXPECT_EQ(planted({.intra_share = 1.5}), "planted_partition: intra_share: 1.5 is out of range; use 0 to 1");
  EXPECT_EQ(planted({.classes = 65, .feature_columns = 127}),
            "planted_partition: feature_columns: 127 columns cannot separate 65 classes; use at least 128");
  EXPECT_EQ(planted({.vertices = 20, .classes = 16}),
            "planted_partition: classes: leaves fewer than two vertices per class; use at most 10");
  EXPECT_EQ(planted({.vertices = 20, .classes = 4, .communities = 6}),
            "planted_partition: communities: 6 is not a multiple of the 4 classes");
  EXPECT_EQ(planted({.vertices = 20, .classes = 4, .communities = 12}),
            "planted_partition: communities: leaves fewer than two vertices per community; use at most 10");
  EXPECT_EQ(test::message_of("", [] { generate_in_memory(Rmat{.a = 0.9, .b = 0.2}); }),
            "rmat: a + b + c: must be at most 1");
}

TEST(Gaussian, LogarithmIsTheLogarithm) {
  for (double x = 1e-300; x < 1e300; x *= 1.37) {
    EXPECT_NEAR(portable_log(x), std::log(x), 2e-15 * std::max(1.0, std::fabs(std::log(x))));
  }
}

}  // namespace
}  // namespace gnomon::graph
