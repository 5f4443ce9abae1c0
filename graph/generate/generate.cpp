#include "graph/generate/generate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>

#include "base/error.h"
#include "base/philox.h"
#include "graph/generate/gaussian.h"
#include "graph/workers.h"

namespace gnomon::graph {
namespace {

/// The independent random streams of one seed.
enum class Part : std::uint8_t { edges, features, labels, permutation, accuracy };

base::StreamKey key_of(std::uint64_t seed, Part part, std::int64_t block = 0) {
  return {
      seed, base::Purpose::generate, static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(block), 0,
      0};
}

/// Fills consecutive ranges of `count` elements, on all cores, each range in blocks of `block_elements`:
/// fill(block number, first element, span). Calls visit(span) for each range.
template <class T, class Fill, class Visit>
void fill_blocks(std::int64_t count, std::int64_t block_elements, Fill fill, Visit visit) {
  Workers workers(count <= block_elements ? 1 : 0);
  std::vector<T> range;
  for (std::int64_t begin = 0; begin < count;) {
    const std::int64_t size = std::min(workers.count() * block_elements, count - begin);
    range.resize(static_cast<std::size_t>(size));
    workers.for_each((size + block_elements - 1) / block_elements, [&](std::int64_t i) {
      const std::int64_t first = i * block_elements;
      fill((begin + first) / block_elements, begin + first,
           std::span<T>(range).subspan(static_cast<std::size_t>(first),
                                       static_cast<std::size_t>(std::min(block_elements, size - first))));
    });
    visit(std::span<const T>(range));
    begin += size;
  }
}

/// Returns a stream of `count` edges from draw(random). Each block of edges has its own random stream.
template <class Draw>
EdgeStream drawn_edges(std::uint64_t seed, std::int64_t count, Draw draw) {
  return [=](const EdgeVisitor& visit) {
    constexpr std::int64_t block_edges = 1 << 16;
    const auto fill = [&](std::int64_t block, std::int64_t, std::span<Edge> edges) {
      base::RandomStream random(key_of(seed, Part::edges, block));
      for (Edge& edge : edges) {
        edge = draw(random);
      }
    };
    fill_blocks<Edge>(count, block_edges, fill, visit);
  };
}

/// Returns a stream of rows that fill(first vertex, rows, block number) writes block by block.
template <class Fill>
RowStream drawn_rows(std::int64_t vertices, std::int64_t columns, Fill fill) {
  return [=](const RowVisitor& visit) {
    constexpr std::int64_t block_rows = 1 << 10;
    const auto fill_rows = [&](std::int64_t block, std::int64_t first, std::span<float> rows) {
      fill(first / columns, rows, block);
    };
    fill_blocks<float>(vertices * columns, block_rows * columns, fill_rows, visit);
  };
}

/// Checks the ranges in the options' field table.
template <class Options>
void check_ranges(const Options& options, const std::string& where) {
  Options ignored;
  base::read_value(base::write_value(options), ignored, where, {});
}

// Planted partition

VertexId class_size(const PlantedPartition& options, std::int64_t label) {
  return (options.vertices - label + options.classes - 1) / options.classes;
}

/// Length of the ±1 patterns (rows of a Hadamard matrix) that make the class means orthogonal.
std::int64_t pattern_length(const PlantedPartition& options) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(options.feature_columns)));
}

void check(const PlantedPartition& options) {
  const std::string where = "planted_partition";
  check_ranges(options, where);
  if (options.classes > pattern_length(options)) {
    throw base::InputError(where + ": feature_columns",
                           std::to_string(options.feature_columns) + " columns cannot separate " +
                               std::to_string(options.classes) + " classes; use at least " +
                               std::to_string(std::bit_ceil(static_cast<std::uint64_t>(options.classes))));
  }
  if (options.vertices < std::int64_t{2} * options.classes) {
    throw base::InputError(where + ": classes", "leaves fewer than two vertices per class; use at most " +
                                                    std::to_string(options.vertices / 2));
  }
}

Edge draw_edge(const PlantedPartition& options, base::RandomStream& random) {
  const auto source = static_cast<VertexId>(random.below(static_cast<std::uint64_t>(options.vertices)));
  const VertexId own = source % options.classes;
  if (options.classes == 1 || random.uniform() < options.intra_share) {
    // Any other vertex of the class: the source's own rank is skipped.
    const VertexId own_rank = source / options.classes;
    auto rank = static_cast<VertexId>(random.below(static_cast<std::uint64_t>(class_size(options, own) - 1)));
    rank += rank >= own_rank ? 1 : 0;
    return {source, own + rank * options.classes};
  }
  auto label = static_cast<VertexId>(random.below(static_cast<std::uint64_t>(options.classes - 1)));
  label += label >= own ? 1 : 0;
  const auto rank =
      static_cast<VertexId>(random.below(static_cast<std::uint64_t>(class_size(options, label))));
  return {source, label + rank * options.classes};
}

/// Writes the features of vertices `first` …: the class means are rows of a Sylvester-Hadamard matrix, scaled
/// to length 1.
void fill_planted_rows(const PlantedPartition& options, VertexId first, std::span<float> rows,
                       std::int64_t block) {
  Gaussian gaussian(key_of(options.seed, Part::features, block));
  const std::int64_t columns = options.feature_columns;
  const std::int64_t pattern = pattern_length(options);
  const double height = 1 / std::sqrt(static_cast<double>(pattern));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto label =
        static_cast<std::uint64_t>((first + static_cast<std::int64_t>(i) / columns) % options.classes);
    const auto column = static_cast<std::int64_t>(i) % columns;
    double mean = 0;
    if (column < pattern) {
      mean = std::popcount(label & static_cast<std::uint64_t>(column)) % 2 == 0 ? height : -height;
    }
    rows[i] = static_cast<float>(mean + options.feature_noise * gaussian());
  }
}

GraphSource source_of(const PlantedPartition& options) {
  check(options);
  GraphSource source;
  source.name = options.name;
  source.where = options.name;
  source.num_vertices = options.vertices;
  const auto pairs = std::llround(static_cast<double>(options.vertices) * options.average_degree / 2);
  source.edges = drawn_edges(options.seed, pairs,
                             [options](base::RandomStream& random) { return draw_edge(options, random); });
  source.feature_columns = options.feature_columns;
  source.features_where = options.name + ": features";
  source.features = drawn_rows(options.vertices, options.feature_columns,
                               [options](VertexId first, std::span<float> rows, std::int64_t block) {
                                 fill_planted_rows(options, first, rows, block);
                               });
  source.labels.resize(static_cast<std::size_t>(options.vertices));
  for (std::size_t vertex = 0; vertex < source.labels.size(); ++vertex) {
    source.labels[vertex] = static_cast<std::int32_t>(vertex % static_cast<std::size_t>(options.classes));
  }
  return source;
}

SourceOptions store_options(const PlantedPartition& options) {
  SourceOptions result;
  result.edges.undirected = true;
  result.feature_type = options.feature_type;
  result.feature_form = FeatureForm::dense;  // drawn numbers are not 0
  result.split = options.split;
  return result;
}

// R-MAT

void check(const Rmat& options) {
  const std::string where = "rmat";
  check_ranges(options, where);
  if (options.a + options.b + options.c > 1 + 1e-9) {
    throw base::InputError(where + ": a + b + c", "must be at most 1");
  }
}

/// A pseudo-random permutation of [0, 2^scale), computed on the fly: three rounds of invertible steps (add a
/// key, multiply by an odd number, xor the high half into the low half).
class Permutation {
 public:
  Permutation(std::int32_t scale, std::uint64_t seed)
      : mask_((std::uint64_t{1} << scale) - 1), fold_(std::max(1, scale / 2)) {
    base::RandomStream random(key_of(seed, Part::permutation));
    for (auto& key : keys_) {
      key = random();
    }
  }
  VertexId operator()(std::uint64_t id) const {
    for (std::size_t round = 0; round < 3; ++round) {
      id = ((id + keys_[2 * round]) * (keys_[2 * round + 1] | 1U)) & mask_;
      id ^= id >> fold_;
    }
    return static_cast<VertexId>(id);
  }

 private:
  std::uint64_t mask_;
  int fold_;
  std::array<std::uint64_t, 6> keys_{};
};

/// Descends the quadrants of the adjacency matrix, using 16 random bits per level.
Edge draw_edge(const Rmat& options, const Permutation& permutation, base::RandomStream& random) {
  const auto after_a = static_cast<std::uint32_t>(std::lround(options.a * 65536));
  const auto after_b = after_a + static_cast<std::uint32_t>(std::lround(options.b * 65536));
  const auto after_c = after_b + static_cast<std::uint32_t>(std::lround(options.c * 65536));
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint64_t word = 0;
  for (std::int32_t level = 0; level < options.scale; ++level) {
    word = level % 4 == 0 ? random() : word >> 16;
    const auto chance = static_cast<std::uint32_t>(word & 0xFFFFU);
    source = 2 * source + (chance >= after_b ? 1 : 0);
    destination = 2 * destination + ((chance >= after_a && chance < after_b) || chance >= after_c ? 1 : 0);
  }
  return {permutation(source), permutation(destination)};
}

GraphSource source_of(const Rmat& options) {
  check(options);
  GraphSource source;
  source.name = options.name;
  source.where = options.name;
  source.num_vertices = std::int64_t{1} << options.scale;
  const auto count = std::llround(static_cast<double>(source.num_vertices) * options.edge_factor);
  source.edges =
      drawn_edges(options.seed, count,
                  [options, permutation = Permutation(options.scale, options.seed)](
                      base::RandomStream& random) { return draw_edge(options, permutation, random); });
  fill_at_random(source, options.feature_columns, options.classes, options.seed);
  return source;
}

SourceOptions store_options(const Rmat& options) {
  SourceOptions result;
  result.edges = options.edges;
  result.feature_type = options.feature_type;
  result.feature_form = FeatureForm::dense;  // drawn numbers are not 0
  result.split = options.split;
  return result;
}

template <class Options>
void write_generated(const Options& options, const char* kind, const std::filesystem::path& directory,
                     const Resources& resources, const base::Progress& progress) {
  Provenance provenance{std::string("generate ") + kind, "", option_texts(options)};
  SourceOptions store = store_options(options);
  store.resources = resources;
  write_source(source_of(options), store, std::move(provenance), directory, progress);
}

}  // namespace

void fill_at_random(GraphSource& source, std::int64_t feature_columns, std::int32_t classes,
                    std::uint64_t seed) {
  if (source.feature_columns == 0 && feature_columns > 0) {
    source.feature_columns = feature_columns;
    source.features_where = source.where + ": features";
    source.features = drawn_rows(source.num_vertices, feature_columns,
                                 [seed](VertexId, std::span<float> rows, std::int64_t block) {
                                   base::RandomStream random(key_of(seed, Part::features, block));
                                   for (float& value : rows) {
                                     const auto bits = static_cast<std::int32_t>(random() >> 40);
                                     value = static_cast<float>(bits - (1 << 23)) * 0x1p-23F;
                                   }
                                 });
  }
  if (source.labels.empty() && classes > 0) {
    source.labels.resize(static_cast<std::size_t>(source.num_vertices));
    base::RandomStream random(key_of(seed, Part::labels));
    for (auto& label : source.labels) {
      label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes)));
    }
  }
}

void generate(const PlantedPartition& options, const std::filesystem::path& directory,
              const base::Progress& progress, const Resources& resources) {
  write_generated(options, "planted_partition", directory, resources, progress);
}

void generate(const Rmat& options, const std::filesystem::path& directory, const base::Progress& progress,
              const Resources& resources) {
  write_generated(options, "rmat", directory, resources, progress);
}

Graph generate_in_memory(const PlantedPartition& options) {
  return load_source(source_of(options), store_options(options));
}

Graph generate_in_memory(const Rmat& options) {
  return load_source(source_of(options), store_options(options));
}

double feature_accuracy(const PlantedPartition& options) {
  check(options);
  // Simpson's rule over ten standard deviations to each side, which hold all of the mass.
  constexpr int steps = 4000;
  const double shift = 1 / options.feature_noise;
  const auto integrand = [&](double z) {
    const double density = std::exp(-0.5 * (z - shift) * (z - shift)) / std::sqrt(2 * std::numbers::pi);
    return density * std::pow(0.5 * std::erfc(-z / std::numbers::sqrt2), options.classes - 1);
  };
  const double width = 20.0 / steps;
  double sum = integrand(shift - 10) + integrand(shift + 10);
  for (int i = 1; i < steps; ++i) {
    sum += integrand(shift - 10 + i * width) * (i % 2 == 0 ? 2 : 4);
  }
  return sum * width / 3;
}

double best_accuracy(const PlantedPartition& options, std::int64_t samples) {
  check(options);
  // A neighbour of class c multiplies the likelihood of c by the ratio of the probabilities of an edge within
  // a class and of one to a given other class. Scores are log likelihoods.
  const double intra = options.classes == 1 ? 1.0 : std::clamp(options.intra_share, 1e-9, 1 - 1e-9);
  const double per_neighbour =
      options.classes == 1 ? 0.0 : std::log(intra * (options.classes - 1) / (1 - intra));
  const double shift = 1 / options.feature_noise;
  base::RandomStream random(key_of(options.seed, Part::accuracy));
  Gaussian gaussian(key_of(options.seed, Part::accuracy, 1));
  std::poisson_distribution<int> degree(std::max(options.average_degree, 1e-9));
  std::vector<double> log_likelihoods(static_cast<std::size_t>(options.classes));
  std::int64_t num_correct = 0;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    for (double& score : log_likelihoods) {
      score = shift * gaussian();
    }
    log_likelihoods[0] += shift * shift;  // class 0 is the true one
    for (int left = degree(random); left > 0; --left) {
      const bool same = options.classes == 1 || random.uniform() < intra;
      const auto label = same ? 0 : 1 + random.below(static_cast<std::uint64_t>(options.classes - 1));
      log_likelihoods[label] += per_neighbour;
    }
    const auto best = std::max_element(log_likelihoods.begin(), log_likelihoods.end());
    num_correct += best == log_likelihoods.begin() ? 1 : 0;
  }
  return static_cast<double>(num_correct) / static_cast<double>(samples);
}

std::vector<Edge> path_edges(std::int64_t vertices) {
  std::vector<Edge> edges;
  for (VertexId vertex = 0; vertex + 1 < vertices; ++vertex) {
    edges.push_back({vertex, vertex + 1});
  }
  return edges;
}

std::vector<Edge> ring_edges(std::int64_t vertices) {
  auto edges = path_edges(vertices);
  edges.push_back({vertices - 1, 0});
  return edges;
}

std::vector<Edge> star_edges(std::int64_t vertices) {
  std::vector<Edge> edges;
  for (VertexId vertex = 1; vertex < vertices; ++vertex) {
    edges.push_back({vertex, 0});
  }
  return edges;
}

std::vector<Edge> complete_edges(std::int64_t vertices) {
  std::vector<Edge> edges;
  for (VertexId one = 0; one < vertices; ++one) {
    for (VertexId other = one + 1; other < vertices; ++other) {
      edges.push_back({one, other});
    }
  }
  return edges;
}

}  // namespace gnomon::graph
