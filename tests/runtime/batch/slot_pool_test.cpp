#include "runtime/batch/slot_pool.h"

#include <gtest/gtest.h>

#include <memory_resource>
#include <set>

namespace gnomon::runtime {
namespace {

TEST(SlotPool, GivesTheSlotThatWasReturnedLastWithWhatItHeld) {
  SlotPool pool;
  auto first = pool.take();
  auto second = pool.take();
  EXPECT_NE(first.get(), second.get());
  first->labels = {1, 2, 3};
  const BatchData* const address = first.get();
  second.reset();
  first.reset();
  const auto again = pool.take();
  EXPECT_EQ(again.get(), address);
  EXPECT_EQ(again->labels.size(), 3U);
}

TEST(SlotPool, TakesBackASlotThatAnotherReplaces) {
  SlotPool pool;
  auto slot = pool.take();
  const BatchData* const address = slot.get();
  slot = pool.take();
  EXPECT_EQ(pool.take().get(), address);
}

TEST(SlotPool, PutsFeaturesIntoItsMemory) {
  std::pmr::monotonic_buffer_resource nothing_else(std::pmr::null_memory_resource());
  SlotPool pool(&nothing_else);
  const auto slot = pool.take();
  EXPECT_THROW(slot->features.resize(1 << 20), std::bad_alloc);
}

}  // namespace
}  // namespace gnomon::runtime
