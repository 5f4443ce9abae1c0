#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/document.h"
#include "base/progress.h"
#include "graph/import/source.h"

namespace gnomon::graph {

/// A planted-partition graph (stochastic block model) with features. The community of vertex v is
/// v mod communities and its class v mod classes: each community is part of one class. Each undirected edge
/// joins a random vertex to one of its own community, with probability intra_share, or of another community.
/// A vertex's features are its class mean plus independent Gaussian noise; the class means are orthogonal
/// vectors of length 1. Both edges and features are informative of the class; neither determines it.
struct PlantedPartition {
  std::string name = "planted_partition";
  std::int64_t vertices = 200000;
  double average_degree = 20;  ///< stored edges per vertex, before the few duplicates are removed
  std::int32_t classes = 16;
  std::int64_t communities = 0;  ///< a multiple of `classes`; 0: each class is one community
  double intra_share = 0.3;
  std::int64_t feature_columns = 128;  ///< rounded down to a power of two, at least `classes`
  double feature_noise = 0.7;          ///< standard deviation of the noise in each column
  FeatureType feature_type = FeatureType::fp32;
  SplitOptions split{};
  std::uint64_t seed = 0;

  std::int64_t num_communities() const { return communities > 0 ? communities : classes; }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("name", self.name);
    f("vertices", self.vertices, base::Range{2, 0x1p40});
    f("average_degree", self.average_degree, base::Range{0, 1e6});
    f("classes", self.classes, base::Range{1, 1e6});
    f("communities", self.communities, base::Range{0, 0x1p40});
    f("intra_share", self.intra_share, base::Range{0, 1});
    f("feature_columns", self.feature_columns, base::Range{1, 1e6});
    f("feature_noise", self.feature_noise, base::Range{1e-6, 1e6});
    f("feature_type", self.feature_type);
    f("split", self.split);
    f("seed", self.seed);
  }
};

/// Generates a graph and writes its store to `directory`. Memory in addition to the mapped output is that of
/// write_source. Throws InputError for invalid options or an existing directory, and Failure on I/O errors.
void generate(const PlantedPartition& options, const std::filesystem::path& directory,
              const base::Progress& progress = {}, const Resources& resources = {});

/// Generates a graph in memory. Throws InputError for invalid options.
Graph generate_in_memory(const PlantedPartition& options);

/// Returns the expected accuracy of the optimal classifier that sees only a vertex's own features. The scores
/// of the classes are independent unit normals, and that of the true class is shifted by 1/noise, so the
/// accuracy is ∫ φ(z − 1/noise) Φ(z)^(classes − 1) dz.
double feature_accuracy(const PlantedPartition& options);

/// Returns the expected accuracy of the optimal classifier that knows the model, a vertex's features and the
/// true classes of all its neighbours: an upper bound for one layer of any learner. It is estimated from
/// `samples` simulated vertices (standard error below 0.5/√samples) and is a pure function of its arguments.
double best_accuracy(const PlantedPartition& options, std::int64_t samples = 100000);

}  // namespace gnomon::graph
