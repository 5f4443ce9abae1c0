#include "runtime/speed/link.h"

#include <gtest/gtest.h>

#include <array>

#include "kernels/device/gather-inl.h"
#include "runtime/speed/link-inl.h"
#include "tests/runtime/preparation/test_device.h"

namespace gnomon::runtime {
namespace {

/// A device whose link is full from an eighth of its thread slots on.
struct SlowLink : TestHardware {
  void run(const std::function<void()>& act) {
    time_s += 1 / std::min(shares.empty() ? 1 : shares.back(), 0.125);
    act();
  }
  double now_s() { return time_s; }
  double time_s = 0;
};

TEST(LinkSaturation, IsTheSmallestShareThatFillsTheLink) {
  const std::array<std::byte, 30> bytes{};
  const graph::Features features{bytes.data(), graph::FeatureType::fp16, 5, 3};
  SlowLink hardware;
  const kernels::device::Rows rows{bytes.data(), 6, nullptr, nullptr};
  EXPECT_EQ(link_saturation_share(hardware, rows, features, 1, 600), 0.125);
  // One executor for the buffers, then each share.
  EXPECT_EQ(hardware.shares, (std::vector<double>{1, 1 / 64., 1 / 32., 1 / 16., 1 / 8., 1 / 4., 1 / 2., 1}));
}

TEST(LinkSaturation, IsUnknownWithoutRows) {
  TestHardware hardware;
  EXPECT_EQ(link_saturation_share(hardware, {}, {}, 1), std::nullopt);
}

}  // namespace
}  // namespace gnomon::runtime
