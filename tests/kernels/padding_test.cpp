#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/device/padding-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

struct Padded {
  std::vector<std::byte> from, to, expected;
  std::int64_t fill;
};

/// `bytes` of `room` are copied, the others filled by elements of `width` bytes.
Padded padded(std::size_t bytes, std::size_t room, std::int64_t fill, std::size_t width,
              std::mt19937_64& random) {
  Padded made{std::vector<std::byte>(bytes), std::vector<std::byte>(room), {}, fill};
  std::generate(made.from.begin(), made.from.end(), [&] { return static_cast<std::byte>(random()); });
  made.expected = made.from;
  while (made.expected.size() < room) {
    const auto* element = reinterpret_cast<const std::byte*>(&fill);
    made.expected.insert(made.expected.end(), element, element + width);
  }
  return made;
}

TEST(DevicePadding, CopiesAndFillsArraysOfAnySize) {
  const test::RandomSeed seed(5);
  std::mt19937_64 random(seed);
  for (const std::size_t arrays : {0, 1, 7, 40, 41, 95}) {
    std::vector<Padded> all;
    for (std::size_t i = 0; i < arrays; ++i) {
      const std::size_t width = std::size_t{2} << (random() % 4);  // 2, 4, 8 and 16 bytes
      const std::size_t bytes = width * (random() % 300);
      const std::size_t room = bytes + width * (random() % 50);
      all.push_back(padded(bytes, room, width >= 8 ? static_cast<std::int64_t>(random()) : 0,
                           std::min<std::size_t>(width, 8), random));
    }
    std::vector<device::PaddedCopy> copies;
    for (auto& array : all) {
      copies.push_back(
          {array.from.data(), array.to.data(), std::ssize(array.from), std::ssize(array.to), array.fill});
    }
    device::StepState state;
    const device::StepState value{{3, 4}, 5, {}, 0.5F, 6};
    HostExecutor executor(2, random());
    device::copy_padded(executor, copies, value, &state);
    for (const auto& array : all) {
      EXPECT_EQ(array.to, array.expected);
    }
    EXPECT_EQ(state.number.epoch, 3U);
    EXPECT_EQ(state.number.batch, 4U);
    EXPECT_EQ(state.seeds, 5);
    EXPECT_EQ(state.learning_rate, 0.5F);
    EXPECT_EQ(state.adam_step, 6);
  }
}

}  // namespace
}  // namespace gnomon::kernels
