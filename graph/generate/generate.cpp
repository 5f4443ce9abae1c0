#include "graph/generate/generate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>

#include "base/error.h"
#include "base/philox.h"
#include "graph/fill_blocks.h"
#include "graph/generate/gaussian.h"

namespace gnomon::graph {
namespace {

/// The independent random streams of one seed.
enum class Part : std::uint8_t { edges, features, labels, permutation, accuracy };

base::StreamKey key_of(std::uint64_t seed, Part part, std::int64_t block = 0) {
  return {
      seed, base::Purpose::generate, static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(block), 0,
      0};
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

/// Returns a stream of rows that are written block by block by fill(first vertex, rows, block number).
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

/// Computes words 2·first … of the sequence that a RandomStream of the key yields. Unlike the stream, it
/// computes several cipher blocks independently, which the processor overlaps.
void draw_words(base::StreamKey key, std::uint64_t first, std::span<std::uint64_t> words) {
  for (std::size_t i = 0; i < words.size() / 2; ++i) {
    key.item = first + i;
    const base::Words4 block = base::random_words(key, 0);
    words[2 * i] = (std::uint64_t{block.word[0]} << 32) | block.word[1];
    words[2 * i + 1] = (std::uint64_t{block.word[2]} << 32) | block.word[3];
  }
}

/// Descends the quadrants of the adjacency matrix, using 16 random bits a level: four levels a word.
class Quadrants {
 public:
  explicit Quadrants(const Rmat& options) : scale_(options.scale) {
    const auto share = [](double of) { return static_cast<std::uint64_t>(std::lround(of * 65536)); };
    const std::uint64_t a = share(options.a);
    const std::uint64_t b = a + share(options.b);
    const std::uint64_t c = b + share(options.c);
    // Added to a level's 16 bits, they carry into the next bit if the level lies behind the quadrant.
    behind_a_ = (65536 - std::min<std::uint64_t>(a, 65536)) * both_lanes;
    behind_b_ = (65536 - std::min<std::uint64_t>(b, 65536)) * both_lanes;
    behind_c_ = (65536 - std::min<std::uint64_t>(c, 65536)) * both_lanes;
  }

  int words() const { return words_of(scale_); }
  /// Returns row and column, from words() words.
  std::pair<std::uint64_t, std::uint64_t> descend(const std::uint64_t* words) const {
    std::uint64_t source = 0;
    std::uint64_t destination = 0;
    for (int level = 0; level < scale_; level += 4) {
      const std::uint64_t even = *words & low_halves;
      const std::uint64_t odd = (*words++ >> 16) & low_halves;
      source = 16 * source + bits_of(is_below(even), is_below(odd));
      destination = 16 * destination + bits_of(is_right(even), is_right(odd));
    }
    const int unused = 4 * words_of(scale_) - scale_;  // levels of the last word
    return {source >> unused, destination >> unused};
  }

 private:
  static constexpr std::uint64_t both_lanes = 0x0000'0001'0000'0001;
  static constexpr std::uint64_t low_halves = 0x0000'FFFF'0000'FFFF;
  static int words_of(int scale) { return (scale + 3) / 4; }

  // For the levels in two lanes of 32 bits, of which bit 16 is set if it holds.
  std::uint64_t is_below(std::uint64_t lanes) const { return lanes + behind_b_; }
  std::uint64_t is_right(std::uint64_t lanes) const {
    return ((lanes + behind_a_) & ~(lanes + behind_b_)) | (lanes + behind_c_);
  }
  /// Joins the levels 0 and 2 in `even` and 1 and 3 in `odd`, the first as the highest bit.
  static std::uint64_t bits_of(std::uint64_t even, std::uint64_t odd) {
    const std::uint64_t first = (even >> 16) & both_lanes;
    const std::uint64_t second = (odd >> 16) & both_lanes;
    return (((first << 3) | (first >> 31)) & 0xA) | (((second << 2) | (second >> 32)) & 0x5);
  }

  int scale_;
  std::uint64_t behind_a_, behind_b_, behind_c_;
};

/// A stream of the graph's edges. Each block of edges has its own random stream.
EdgeStream rmat_edges(const Rmat& options, std::int64_t count) {
  return [count, seed = options.seed, quadrants = Quadrants(options),
          permutation = Permutation(options.scale, options.seed)](const EdgeVisitor& visit) {
    constexpr std::int64_t block_edges = 1 << 16;
    constexpr std::size_t drawn_at_once = 256;  // an even number, as blocks of the cipher are two words
    const auto words_each = static_cast<std::size_t>(quadrants.words());
    const auto fill = [&](std::int64_t block, std::int64_t, std::span<Edge> edges) {
      std::vector<std::uint64_t> words(drawn_at_once * words_each);
      for (std::size_t begin = 0; begin < edges.size(); begin += drawn_at_once) {
        draw_words(key_of(seed, Part::edges, block), begin * words_each / 2, words);
        const auto some = edges.subspan(begin, std::min(drawn_at_once, edges.size() - begin));
        for (std::size_t i = 0; i < some.size(); ++i) {
          const auto [source, destination] = quadrants.descend(words.data() + i * words_each);
          some[i] = {permutation(source), permutation(destination)};
        }
      }
    };
    fill_blocks<Edge>(count, block_edges, fill, visit);
  };
}

GraphSource source_of(const Rmat& options) {
  check(options);
  GraphSource source;
  source.name = options.name;
  source.where = options.name;
  source.num_vertices = std::int64_t{1} << options.scale;
  const auto count = std::llround(static_cast<double>(source.num_vertices) * options.edge_factor);
  source.edges = rmat_edges(options, count);
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
