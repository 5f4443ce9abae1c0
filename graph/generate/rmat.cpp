#include "graph/generate/rmat.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "graph/fill_blocks.h"
#include "graph/generate/drawn.h"
#include "graph/generate/random_data.h"

namespace gnomon::graph {
namespace {

void check(const Rmat& options) {
  const std::string where = "rmat";
  drawn::check_ranges(options, where);
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
    base::RandomStream random(drawn::key_of(seed, drawn::Part::permutation));
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
        draw_words(drawn::key_of(seed, drawn::Part::edges, block), begin * words_each / 2, words);
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

}  // namespace

void generate(const Rmat& options, const std::filesystem::path& directory, const base::Progress& progress,
              const Resources& resources) {
  drawn::write(source_of(options), store_options(options), options, "rmat", directory, resources, progress);
}

Graph generate_in_memory(const Rmat& options) {
  return load_source(source_of(options), store_options(options));
}

}  // namespace gnomon::graph
