#include "runtime/emulated/device_arena.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "runtime/emulated/tensor_count.h"

namespace gnomon::runtime::emulated {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(DeviceArena, CountsWhatIsInUse) {
  DeviceArena arena(1000);
  {
    const auto first = arena.allocate(600);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.get()) % 256, 0U);
    const auto second = arena.allocate(400);
    std::memset(first.get(), 1, 600);
    std::memset(second.get(), 2, 400);
    EXPECT_EQ(static_cast<const char*>(first.get())[599], 1);
    EXPECT_EQ(arena.used_bytes(), 1000);
  }
  EXPECT_EQ(arena.used_bytes(), 0);
  EXPECT_EQ(arena.peak_bytes(), 1000);
  EXPECT_NE(arena.allocate(0), nullptr);
}

TEST(DeviceArena, SaysWhatIsMissing) {
  DeviceArena arena(1000);
  const auto held = arena.allocate(700);
  EXPECT_THAT([&] { arena.allocate(400); }, ThrowsMessage<ArenaIsFull>(HasSubstr("100 bytes are missing")));
  EXPECT_THAT([&] { arena.take(301); }, ThrowsMessage<ArenaIsFull>(HasSubstr("1 bytes are missing")));
  EXPECT_EQ(arena.used_bytes(), 700);
  arena.limit(1100);
  EXPECT_NO_THROW(arena.allocate(400));
}

TEST(DeviceArena, ItsMemoryMayOutliveIt) {
  std::shared_ptr<void> memory;
  {
    DeviceArena arena(1 << 20);
    memory = arena.allocate(1 << 20);
  }
  std::memset(memory.get(), 1, 1 << 20);
}

TEST(DeviceArena, KeepsFreedMemoryUpToFiveQuartersOfThePeakUse) {
  constexpr std::size_t bytes = 1 << 20;
  DeviceArena arena(4 * bytes);
  const auto other = arena.allocate(bytes / 2);
  auto freed = arena.allocate(bytes);
  const void* const address = freed.get();
  freed.reset();
  EXPECT_EQ(arena.kept_bytes(), bytes);
  freed = arena.allocate(bytes - bytes / 16);  // of a similar size
  EXPECT_EQ(freed.get(), address);
  EXPECT_EQ(arena.kept_bytes(), 0);
  freed.reset();
  const auto small = arena.allocate(bytes / 4);  // that block is much larger, and there is room for both
  EXPECT_NE(small.get(), address);
  EXPECT_EQ(arena.kept_bytes(), bytes);
  const auto large = arena.allocate(bytes / 2);  // no room for all
  EXPECT_EQ(arena.kept_bytes(), 0);
  EXPECT_EQ(arena.peak_bytes(), bytes + bytes / 2);
}

TEST(TensorCount, CountsTheTensorsOfTheThread) {
  const auto arena = std::make_shared<DeviceArena>(1 << 20);
  const auto before = at::zeros({1000});
  at::Tensor kept;
  {
    const TensorCount count(arena);
    kept = at::zeros({1000});
    EXPECT_EQ(arena->used_bytes(), 4000);
    { const auto gone = at::zeros({500}); }
    EXPECT_EQ(arena->used_bytes(), 4000);
    EXPECT_EQ(arena->peak_bytes(), 6000);
    std::thread([] { (void)at::zeros({100000}); }).join();
    EXPECT_EQ(arena->peak_bytes(), 6000) << "of another thread";
  }
  const auto after = at::zeros({1000});
  EXPECT_EQ(arena->used_bytes(), 4000);
  std::thread([tensor = std::move(kept)]() mutable { tensor.reset(); }).join();
  EXPECT_EQ(arena->used_bytes(), 0);
}

TEST(TensorCount, RefusesWhatTheArenaLacks) {
  const auto arena = std::make_shared<DeviceArena>(1000);
  const TensorCount count(arena);
  EXPECT_THROW(at::zeros({1000}), ArenaIsFull);
  EXPECT_EQ(arena->used_bytes(), 0);
  EXPECT_NO_THROW(at::zeros({250}));
}

}  // namespace
}  // namespace gnomon::runtime::emulated
