#include "profiles/measure/disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/median.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

namespace fs = std::filesystem;

/// The running test's own file on the build's disk, removed with the object: a temporary directory may lie in
/// memory, which no read past the page cache reaches.
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

/// Reads a second that one thread reaches, the median of seven rounds: `bytes` each, past the page cache, one
/// behind the other from the file's beginning.
double direct_rate(const fs::path& path, std::size_t bytes, int reads) {
  const int file = ::open(path.c_str(), O_RDONLY | O_DIRECT);
  const std::unique_ptr<void, decltype(&std::free)> buffer(std::aligned_alloc(4096, bytes), &std::free);
  std::vector<double> rates;
  for (int round = 0; round < 7; ++round) {
    const Stopwatch watch;
    for (int i = 0; i < reads; ++i) {
      EXPECT_EQ(::pread(file, buffer.get(), bytes, static_cast<off_t>(bytes) * i),
                static_cast<ssize_t>(bytes));
    }
    rates.push_back(reads / watch.seconds());
  }
  ::close(file);
  return base::median(rates);
}

TEST(Disk, RatesAgreeWithDirectTimingsAndEachOther) {
  constexpr std::size_t large = std::size_t{1} << 20;
  constexpr std::size_t block = 4096;
  const Scratch file(8 * large);
  if (!measure_disk(file.path(), 0.05).random_reads_per_s) {
    GTEST_SKIP() << "the build's file system cannot be read past the page cache";
  }
  // Neighbours may make a disk several times slower or faster between two timings; a wrong unit, or a read
  // that the page cache answers, is further off.
  constexpr double factor = 8;
  const double large_before = direct_rate(file.path(), large, 8);
  const double block_before = direct_rate(file.path(), block, 64);
  const Disk disk = measure_disk(file.path(), 0.35);
  const double large_after = direct_rate(file.path(), large, 8);
  const double block_after = direct_rate(file.path(), block, 64);
  const double random_reads_per_s = disk.random_reads_per_s.value();
  const double bandwidth_bytes_per_s = disk.bandwidth_bytes_per_s.value();
  const double large_reads_per_s = bandwidth_bytes_per_s / large;
  EXPECT_GT(large_reads_per_s, std::min(large_before, large_after) / factor);
  EXPECT_LT(large_reads_per_s, std::max(large_before, large_after) * factor) << "four in flight";
  EXPECT_GT(random_reads_per_s, std::min(block_before, block_after) / factor);
  EXPECT_LT(random_reads_per_s, std::max(block_before, block_after) * factor * disk.queue_depth);
  // A block is no slower than 256 of them in one read, and they bring no more bytes than large reads do.
  EXPECT_GT(random_reads_per_s, large_reads_per_s / 2);
  EXPECT_LT(random_reads_per_s * disk.block_bytes, 2 * bandwidth_bytes_per_s);
  EXPECT_EQ(disk.block_bytes, block);
  EXPECT_GE(disk.queue_depth, 1);
  EXPECT_LE(disk.queue_depth, 64);
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
