#include "tests/kernels/sample/sampler_contract.h"
#include "tests/kernels/sample/sampler_paths.h"

namespace gnomon::kernels {
namespace {

INSTANTIATE_TYPED_TEST_SUITE_P(Portable32, SamplerContract, Portable32);
INSTANTIATE_TYPED_TEST_SUITE_P(Portable64, SamplerContract, Portable64);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx2With32, SamplerContract, Avx2With32);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx2With64, SamplerContract, Avx2With64);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx512With32, SamplerContract, Avx512With32);
INSTANTIATE_TYPED_TEST_SUITE_P(Avx512With64, SamplerContract, Avx512With64);
INSTANTIATE_TYPED_TEST_SUITE_P(Split32, SamplerContract, Split32);
INSTANTIATE_TYPED_TEST_SUITE_P(Split64, SamplerContract, Split64);

INSTANTIATE_TYPED_TEST_SUITE_P(Wide, SamplerContract, WideOnSmallIds);

TEST(SamplerPaths, ThisMachineHasThemAll) {
  if (!choose_instruction_set(HWY_AVX2) || !choose_instruction_set(HWY_AVX3)) {
    GTEST_SKIP() << "without AVX2 or AVX-512 the best path stands for those that are missing";
  }
  EXPECT_TRUE(choose_instruction_set(HWY_SCALAR));
}

__extension__ using Bits128 = unsigned __int128;

/// Floyd's draws by their definition: products of 128 bits, words by their number, a set.
std::vector<std::int64_t> floyd(const BatchKey& key, std::uint32_t hop, std::int64_t vertex,
                                std::int64_t degree, int fanout) {
  const base::StreamKey stream{key.seed, base::Purpose::neighbours,         key.epoch, key.batch,
                               hop,      static_cast<std::uint64_t>(vertex)};
  const auto word = [&](int i) {
    return base::random_words(stream, static_cast<std::uint32_t>(i / 4)).word[i % 4];
  };
  std::vector<std::int64_t> positions;
  std::set<std::int64_t> taken;
  for (int i = 0; i < fanout; ++i) {
    const std::int64_t last = degree - fanout + i;
    const bool wide = degree > 65536;
    const Bits128 bits = wide ? (Bits128{word(2 * i)} << 32) + word(2 * i + 1) : Bits128{word(i)};
    const auto drawn =
        static_cast<std::int64_t>((bits * static_cast<std::uint64_t>(last + 1)) >> (wide ? 64 : 32));
    positions.push_back(taken.insert(drawn).second ? drawn : last);
    taken.insert(positions.back());
  }
  return positions;
}

TEST(SamplingRule, DrawsByItsDefinition) {
  for (const std::int64_t degree : {2L, 3L, 9L, 513L, 65536L, 65537L, 3000000L, 1L << 39}) {
    for (const int fanout : {1, 2, 8, 15, 512}) {
      if (degree > fanout) {
        std::vector<std::int64_t> positions(static_cast<std::size_t>(fanout));
        draw_positions({5, 6, 7}, 2, 1L << 35, degree, fanout, positions.data());
        EXPECT_EQ(positions, floyd({5, 6, 7}, 2, 1L << 35, degree, fanout)) << fanout << " of " << degree;
      }
    }
  }
}

constexpr std::int64_t first_position(std::int64_t degree) {
  std::int64_t position = -1;
  draw_positions({5, 6, 7}, 2, 9, degree, 1, &position);
  return position;
}

// Devices compile the rule as C++17 constexpr functions.
TEST(SamplingRule, IsTheSameAtCompileTime) {
  constexpr std::int64_t narrow = first_position(1000);
  constexpr std::int64_t wide = first_position(100000);
  EXPECT_EQ(narrow, floyd({5, 6, 7}, 2, 9, 1000, 1)[0]);
  EXPECT_EQ(wide, floyd({5, 6, 7}, 2, 9, 100000, 1)[0]);
}

TEST(ChiSquare, KnownQuantiles) {
  EXPECT_NEAR(chi_square_p(3.841458820694124, 1), 0.05, 1e-9);
  EXPECT_NEAR(chi_square_p(10.827566170662733, 1), 1e-3, 1e-9);
  EXPECT_NEAR(chi_square_p(149.4492528, 100), 1e-3, 1e-8);
}

}  // namespace
}  // namespace gnomon::kernels
