#include "base/pcie.h"

#include <gtest/gtest.h>

#include <fstream>

namespace gnomon::base {
namespace {

class Pcie : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::filesystem::path& directory, const char* speed, const char* width) {
    std::filesystem::create_directories(root_ / directory);
    std::ofstream(root_ / directory / "max_link_speed") << speed;
    std::ofstream(root_ / directory / "max_link_width") << width;
  }
  /// Of one test alone: they run side by side.
  const std::filesystem::path root_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("gnomon_pcie_") + testing::UnitTest::GetInstance()->current_test_info()->name());
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
