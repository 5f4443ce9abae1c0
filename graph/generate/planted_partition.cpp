#include "graph/generate/planted_partition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "graph/generate/drawn.h"
#include "graph/generate/gaussian.h"

namespace gnomon::graph {
namespace {

VertexId community_size(const PlantedPartition& options, std::int64_t community) {
  const std::int64_t count = options.num_communities();
  return (options.vertices - community + count - 1) / count;
}

/// Length of the ±1 patterns (rows of a Hadamard matrix) that make the class means orthogonal.
std::int64_t pattern_length(const PlantedPartition& options) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(options.feature_columns)));
}

void check(const PlantedPartition& options) {
  const std::string where = "planted_partition";
  drawn::check_ranges(options, where);
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
  if (options.communities % options.classes != 0) {
    throw base::InputError(where + ": communities", std::to_string(options.communities) +
                                                        " is not a multiple of the " +
                                                        std::to_string(options.classes) + " classes");
  }
  if (options.vertices < 2 * options.communities) {
    throw base::InputError(
        where + ": communities",
        "leaves fewer than two vertices per community; use at most " + std::to_string(options.vertices / 2));
  }
}

Edge draw_edge(const PlantedPartition& options, base::RandomStream& random) {
  const std::int64_t communities = options.num_communities();
  const auto source = static_cast<VertexId>(random.below(static_cast<std::uint64_t>(options.vertices)));
  const VertexId own = source % communities;
  if (communities == 1 || random.uniform() < options.intra_share) {
    // Any other vertex of the community: the source's own rank is skipped.
    const VertexId own_rank = source / communities;
    auto rank =
        static_cast<VertexId>(random.below(static_cast<std::uint64_t>(community_size(options, own) - 1)));
    rank += rank >= own_rank ? 1 : 0;
    return {source, own + rank * communities};
  }
  auto other = static_cast<VertexId>(random.below(static_cast<std::uint64_t>(communities - 1)));
  other += other >= own ? 1 : 0;
  const auto rank =
      static_cast<VertexId>(random.below(static_cast<std::uint64_t>(community_size(options, other))));
  return {source, other + rank * communities};
}

/// The probability that an edge joins vertices of one class.
double share_within_classes(const PlantedPartition& options) {
  const auto communities = static_cast<double>(options.num_communities());
  if (options.classes == 1) {
    return 1;
  }
  const double others_of_class = communities / options.classes - 1;
  return options.intra_share + (1 - options.intra_share) * others_of_class / (communities - 1);
}

/// Writes the features of vertices `first` …: the class means are rows of a Sylvester-Hadamard matrix, scaled
/// to length 1.
void fill_planted_rows(const PlantedPartition& options, VertexId first, std::span<float> rows,
                       std::int64_t block) {
  Gaussian gaussian(drawn::key_of(options.seed, drawn::Part::features, block));
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
  source.edges = drawn::edges(options.seed, pairs,
                              [options](base::RandomStream& random) { return draw_edge(options, random); });
  source.feature_columns = options.feature_columns;
  source.features_where = options.name + ": features";
  source.features = drawn::rows(options.vertices, options.feature_columns,
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

}  // namespace

void generate(const PlantedPartition& options, const std::filesystem::path& directory,
              const base::Progress& progress, const Resources& resources) {
  drawn::write(source_of(options), store_options(options), options, "planted_partition", directory, resources,
               progress);
}

Graph generate_in_memory(const PlantedPartition& options) {
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
  const double intra = options.classes == 1 ? 1.0 : std::clamp(share_within_classes(options), 1e-9, 1 - 1e-9);
  const double per_neighbour =
      options.classes == 1 ? 0.0 : std::log(intra * (options.classes - 1) / (1 - intra));
  const double shift = 1 / options.feature_noise;
  base::RandomStream random(drawn::key_of(options.seed, drawn::Part::accuracy));
  Gaussian gaussian(drawn::key_of(options.seed, drawn::Part::accuracy, 1));
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

}  // namespace gnomon::graph
