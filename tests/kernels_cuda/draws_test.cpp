#include "kernels/cuda/draws.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

class CudaDraws : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = cuda::why_no_device(); !why.empty()) {
      GTEST_SKIP() << "needs a CUDA device: " << why;
    }
  }
};

std::vector<std::int64_t> draws_of_cpu(const BatchKey& key, std::uint32_t hop,
                                       const std::vector<std::int64_t>& vertices,
                                       const std::vector<std::int64_t>& degrees, int fanout) {
  std::vector<std::int64_t> positions(vertices.size() * static_cast<std::size_t>(fanout));
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    draw_positions(key, hop, vertices[i], degrees[i], fanout,
                   positions.data() + i * static_cast<std::size_t>(fanout));
  }
  return positions;
}

TEST_F(CudaDraws, AreTheCpusBitForBit) {
  const test::RandomSeed seed(20240607);
  std::mt19937_64 random(seed);
  for (const int fanout : {1, 2, 5, 15, 512}) {
    const BatchKey key{random(), random() >> 33, random() >> 33};
    const auto hop = static_cast<std::uint32_t>(random() % 4);
    std::vector<std::int64_t> vertices;
    std::vector<std::int64_t> degrees;
    // Degrees from just above the fanout to hubs, on both sides of 2^16, where the rule changes its words.
    for (int i = 0; i < 1000; ++i) {
      vertices.push_back(static_cast<std::int64_t>(random() >> 24));
      degrees.push_back(fanout + 1 + static_cast<std::int64_t>(random() >> (40 + random() % 24)));
    }
    degrees[0] = 1 << 16;
    degrees[1] = (1 << 16) + 1;
    EXPECT_EQ(cuda::draw_positions(key, hop, vertices, degrees, fanout),
              draws_of_cpu(key, hop, vertices, degrees, fanout))
        << "fanout " << fanout;
  }
}

TEST_F(CudaDraws, NoVerticesNoDraws) { EXPECT_TRUE(cuda::draw_positions(BatchKey{}, 0, {}, {}, 3).empty()); }

// Checked on the host, so that these run without a device too.
TEST(CudaDrawsInput, IsChecked) {
  EXPECT_THROW(cuda::draw_positions(BatchKey{}, 0, {1}, {5}, 0), base::InputError);
  EXPECT_THROW(cuda::draw_positions(BatchKey{}, 0, {1}, {5}, max_fanout + 1), base::InputError);
  EXPECT_THROW(cuda::draw_positions(BatchKey{}, 0, {1}, {3}, 3), base::InputError);
  EXPECT_THROW(cuda::draw_positions(BatchKey{}, 0, {1, 2}, {5}, 3), base::InputError);
}

}  // namespace
}  // namespace gnomon::kernels
