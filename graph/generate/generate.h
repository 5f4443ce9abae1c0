#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "graph/import/source.h"

/// Graphs made from a seed. The same options give the same bytes, on any machine.
namespace gnomon::graph {

/// Planted partition with features: class of vertex v is v mod classes; each undirected edge joins a random
/// vertex with one of its own class (with probability intra_share) or of another. Features are the class's
/// mean, a vector of length 1 at right angles to the other means, plus independent Gaussian noise. Both the
/// edges and the features tell the class, neither alone for sure.
struct PlantedPartition {
  std::string name = "planted_partition";
  std::int64_t vertices = 200000;
  double average_degree = 20;  ///< stored edges a vertex, before the few duplicates go
  std::int32_t classes = 16;
  double intra_share = 0.3;
  std::int64_t feature_columns = 128;  ///< the largest power of two in it must hold the classes
  double feature_noise = 0.7;          ///< standard deviation of the noise in each column
  FeatureType feature_type = FeatureType::fp32;
  SplitOptions split{};
  std::uint64_t seed = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("name", self.name);
    f("vertices", self.vertices, base::Range{2, 0x1p40});
    f("average_degree", self.average_degree, base::Range{0, 1e6});
    f("classes", self.classes, base::Range{1, 1e6});
    f("intra_share", self.intra_share, base::Range{0, 1});
    f("feature_columns", self.feature_columns, base::Range{1, 1e6});
    f("feature_noise", self.feature_noise, base::Range{1e-6, 1e6});
    f("feature_type", self.feature_type);
    f("split", self.split);
    f("seed", self.seed);
  }
};

/// R-MAT (Chakrabarti, Zhan, Faloutsos, SDM'04) with 2^scale vertices, edge_factor edges a vertex before
/// duplicates and self-loops go, ids permuted. Features are uniform in [-1, 1) and labels random: there is
/// nothing to learn; it is for speed.
struct Rmat {
  std::string name = "rmat";
  std::int32_t scale = 18;
  double edge_factor = 16;
  double a = 0.57, b = 0.19, c = 0.19;  ///< chances of the quadrants; the fourth has the rest
  EdgeOptions edges{true, SelfLoops::remove, Duplicates::remove};
  std::int64_t feature_columns = 128;
  std::int32_t classes = 16;
  FeatureType feature_type = FeatureType::fp32;
  SplitOptions split{};
  std::uint64_t seed = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("name", self.name);
    f("scale", self.scale, base::Range{1, 40});
    f("edge_factor", self.edge_factor, base::Range{0, 1e6});
    f("a", self.a, base::Range{0, 1});
    f("b", self.b, base::Range{0, 1});
    f("c", self.c, base::Range{0, 1});
    f("edges", self.edges);
    f("feature_columns", self.feature_columns, base::Range{0, 1e6});
    f("classes", self.classes, base::Range{1, 1e6});
    f("feature_type", self.feature_type);
    f("split", self.split);
    f("seed", self.seed);
  }
};

/// Gives a source what it lacks: features uniform in [-1, 1), labels from 0 to classes - 1; 0 gives none.
void fill_at_random(GraphSource& source, std::int64_t feature_columns, std::int32_t classes,
                    std::uint64_t seed);

/// Write a store. Time grows with edges and features; memory beside the mapped output is that of
/// write_source. Throw InputError (options, directory exists) and Failure (disk).
void generate(const PlantedPartition& options, const std::filesystem::path& directory,
              const base::Progress& progress = {});
void generate(const Rmat& options, const std::filesystem::path& directory,
              const base::Progress& progress = {});

/// The same graphs in memory.
Graph generate_in_memory(const PlantedPartition& options);
Graph generate_in_memory(const Rmat& options);

/// The expected accuracy of the best classifier that sees a vertex's own features only: the mean of class y
/// scores 1/noise higher than the other classes' in independent unit normals, so it is
/// ∫ φ(z − 1/noise) Φ(z)^(classes − 1) dz.
double feature_accuracy(const PlantedPartition& options);

/// The expected accuracy of a classifier that sees a vertex's features and the true classes of all its
/// neighbours and knows the model; no learner can do better in expectation. By simulation of `samples`
/// vertices (standard error under 0.5/√samples), a pure function of its arguments.
double best_accuracy(const PlantedPartition& options, std::int64_t samples = 100000);

/// Edges of small graphs, each once: use with EdgeOptions{.undirected = true} for both directions.
std::vector<Edge> ring_edges(std::int64_t vertices);      ///< v — v+1, and the last to 0
std::vector<Edge> path_edges(std::int64_t vertices);      ///< v — v+1
std::vector<Edge> star_edges(std::int64_t vertices);      ///< v → 0 for all v > 0
std::vector<Edge> complete_edges(std::int64_t vertices);  ///< every pair once

}  // namespace gnomon::graph
