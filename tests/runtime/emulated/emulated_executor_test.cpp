#include "runtime/emulated/emulated_executor.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <vector>

#include "tests/kernels/gather_contract.h"
#include "tests/kernels/gather_on_device.h"
#include "tests/random_seed.h"
#include "tests/runtime/emulated/test_clock.h"

namespace gnomon {
namespace {

struct QueueWorld {
  runtime::emulated::TestClock clock;
  runtime::emulated::SharedLink link{{}, clock};
  runtime::emulated::DeviceQueue queue{
      .arena = std::make_shared<runtime::emulated::DeviceArena>(std::int64_t{1} << 30),
      .link = link,
      .threads = 2};
  runtime::emulated::EmulatedExecutor executor{queue, 1};
};

using kernels::device::Reads;
template <Reads How, bool Cached, bool ByPlace>
using Gather = kernels::GatherOnDevice<QueueWorld, How, Cached, ByPlace>;
using Plain = Gather<Reads::shifted, false, false>;
using Cached = Gather<Reads::straight, true, false>;
using CachedByPlace = Gather<Reads::shifted, true, true>;

}  // namespace

namespace kernels {
INSTANTIATE_TYPED_TEST_SUITE_P(Emulated, GatherContract, Plain);
INSTANTIATE_TYPED_TEST_SUITE_P(EmulatedCached, GatherContract, Cached);
INSTANTIATE_TYPED_TEST_SUITE_P(EmulatedCachedByPlace, GatherContract, CachedByPlace);
}  // namespace kernels

namespace runtime::emulated {
namespace {

/// Enough rows for two threads, of which the device knows fewer: the others keep what they had.
TEST(EmulatedExecutor, GathersOnlyTheKnownRows) {
  constexpr std::size_t count = 1000;
  constexpr std::size_t columns = 24;
  const test::RandomSeed seed(3);
  std::mt19937_64 random(seed);
  std::vector<std::array<float, columns>> table(count);
  std::vector<std::int64_t> vertices(count);
  for (std::size_t i = 0; i < count; ++i) {
    table[i].fill(static_cast<float>(i));
    vertices[i] = static_cast<std::int64_t>(random() % count);
  }
  const kernels::device::Rows rows{reinterpret_cast<const std::byte*>(table.data()), sizeof(table[0])};
  for (const std::int64_t known : {0, 1, 511, 999, 1000}) {
    for (const bool by_place : {false, true}) {
      QueueWorld world;
      std::vector<std::array<float, columns>> out(count);
      auto* const to = reinterpret_cast<std::byte*>(out.data());
      if (by_place) {
        kernels::device::gather_rows_by_place(world.executor, rows, count, Reads::shifted, vertices.data(),
                                              count, to, &known);
      } else {
        kernels::device::gather_rows(world.executor, rows, Reads::shifted, vertices.data(), count, to,
                                     &known);
      }
      for (std::size_t i = 0; i < count; ++i) {
        std::array<float, columns> expected{};
        expected.fill(static_cast<std::int64_t>(i) < known ? static_cast<float>(vertices[i]) : 0);
        ASSERT_EQ(out[i], expected) << "row " << i << " of " << known << ", by place " << by_place;
      }
    }
  }
}

}  // namespace
}  // namespace runtime::emulated
}  // namespace gnomon
