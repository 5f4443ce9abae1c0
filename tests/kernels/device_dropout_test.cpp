#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/cpu/dropout.h"
#include "kernels/device/dropout-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

/// Whole blocks of aligned arrays take another path than the last one, and than arrays that begin anywhere.
TEST(DeviceDropout, HasTheBitsOfTheCpuWhereverArraysBegin) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  HostExecutor executor;
  for (const std::int64_t count : {0, 1, 7, 8, 9, 64, 1001}) {
    for (const std::size_t offset : {0, 1, 2, 4}) {
      const auto size = static_cast<std::size_t>(count);
      std::vector<float> from(size + 4), expected(size), to(size + 8, -1);
      for (auto& value : from) {
        value = static_cast<float>(random() % 2001) - 1000;
      }
      const DropoutRule rule{{random(), base::Purpose::dropout, 1, 2, 3, 0},
                             static_cast<std::uint32_t>(random() % 65536)};
      const auto expect_same = [&](const char* what) {
        for (std::size_t i = 0; i < size; ++i) {
          ASSERT_EQ(to[offset + i], expected[i]) << what << " of element " << i << " of " << count;
        }
        ASSERT_EQ(to[offset + size], -1) << "nothing is written behind the end";
      };
      cpu::dropout(rule, 0, count, from.data() + offset, expected.data());
      device::dropout(executor, rule, count, from.data() + offset, to.data() + offset);
      expect_same("dropout");
      cpu::relu_dropout(rule, 0, count, from.data() + offset, expected.data());
      device::relu_dropout(executor, rule, count, from.data() + offset, to.data() + offset);
      expect_same("relu and dropout");
    }
  }
}

}  // namespace
}  // namespace gnomon::kernels
