#include "profiles/measure/disk.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"

namespace gnomon::profiles {
namespace {

namespace fs = std::filesystem;

/// The running test's own file of so many bytes on the build's disk, removed again. Tests run side by side.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : path_(fs::path(BINARY_DIR) /
              (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".bin")) {
    std::ofstream(path_, std::ios::binary) << std::string(bytes, 'x');
  }
  ~Scratch() { fs::remove(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(Disk, IsWithinPhysicalBounds) {
  const Scratch file(std::size_t{8} << 20);
  const Disk disk = measure_disk(file.path(), 0.35);
  if (!disk.random_reads_per_s) {
    GTEST_SKIP() << "the build's file system cannot be read past the page cache";
  }
  EXPECT_GT(disk.bandwidth_bytes_per_s.value(), 1e5);
  EXPECT_LT(disk.bandwidth_bytes_per_s.value(), 1e12);
  // Blocks at random are at most as fast as the largest caches, and never slower than a head's seek.
  EXPECT_GT(disk.random_reads_per_s.value(), 10);
  EXPECT_LT(disk.random_reads_per_s.value(), 1e8);
  EXPECT_EQ(disk.block_bytes, 4096);
  EXPECT_GE(disk.queue_depth, 1);
  EXPECT_LE(disk.queue_depth, 32);
}

TEST(Disk, IsNotKnownWhereNothingCanBeRead) {
  EXPECT_EQ(measure_disk(fs::path(BINARY_DIR) / "no such file", 0.1).random_reads_per_s, std::nullopt);
  const Scratch small(4096);
  EXPECT_EQ(measure_disk(small.path(), 0.1).bandwidth_bytes_per_s, std::nullopt);
}

TEST(Disk, StopsWhenAsked) {
  const Scratch file(std::size_t{2} << 20);
  const std::atomic<bool> stop = true;
  EXPECT_THROW(measure_disk(file.path(), 0.1, &stop), base::Interrupted);
}

}  // namespace
}  // namespace gnomon::profiles
