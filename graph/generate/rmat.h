#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/document.h"
#include "base/progress.h"
#include "graph/import/source.h"

namespace gnomon::graph {

/// An R-MAT graph (Chakrabarti, Zhan, Faloutsos, SDM'04) with 2^scale vertices, permuted ids, and edge_factor
/// edges per vertex before duplicates and self-loops are removed. Features (uniform in [-1, 1)) and labels
/// are random: the graph is for measuring speed, there is nothing to learn.
struct Rmat {
  std::string name = "rmat";
  std::int32_t scale = 18;
  double edge_factor = 16;
  double a = 0.57, b = 0.19, c = 0.19;  ///< probabilities of the quadrants; d = 1 - a - b - c
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

/// Generates a graph and writes its store to `directory`. Memory in addition to the mapped output is that of
/// write_source. Throws InputError for invalid options or an existing directory, and Failure on I/O errors.
void generate(const Rmat& options, const std::filesystem::path& directory,
              const base::Progress& progress = {}, const Resources& resources = {});

/// Generates a graph in memory. Throws InputError for invalid options.
Graph generate_in_memory(const Rmat& options);

}  // namespace gnomon::graph
