#include "base/pcie.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

class Pcie : public testing::Test {
 protected:
  void write(const std::string& directory, const char* speed, const char* width) const {
    directory_.write(directory + "/max_link_speed", speed);
    directory_.write(directory + "/max_link_width", width);
  }

  const test::TemporaryDirectory directory_;
  const std::filesystem::path& root_ = directory_.path();
};

TEST_F(Pcie, IsWhatTheDeviceAndItsSlotBothCan) {
  write("bridge", "16.0 GT/s PCIe\n", "8\n");
  write("bridge/0000:3b:00.0", "32.0 GT/s PCIe\n", "16\n");
  std::filesystem::create_directories(root_ / "devices");
  std::filesystem::create_directory_symlink(root_ / "bridge/0000:3b:00.0", root_ / "devices/0000:3b:00.0");
  EXPECT_EQ(pcie_link("0000:3B:00.0", root_ / "devices"), (PcieLink{16e9, 8}));
}

TEST_F(Pcie, IsTheDevicesOwnWhereTheSlotSaysNothing) {
  write("devices/0000:01:00.0", "8.0 GT/s PCIe\n", "16\n");
  EXPECT_EQ(pcie_link("0000:01:00.0", root_ / "devices"), (PcieLink{8e9, 16}));
}

TEST_F(Pcie, IsNotKnownWhereTheSystemIsSilent) {
  EXPECT_EQ(pcie_link("0000:01:00.0", root_ / "devices"), PcieLink{});
  write("devices/0000:02:00.0", "Unknown\n", "Unknown\n");
  EXPECT_EQ(pcie_link("0000:02:00.0", root_ / "devices"), PcieLink{});
}

}  // namespace
}  // namespace gnomon::base
