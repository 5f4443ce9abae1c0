#include "base/process_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <vector>

#include "tests/fixtures/temporary_directory.h"

namespace gnomon::base {
namespace {

TEST(ProcessMemory, ParsesAStatusFile) {
  const auto memory = parse_status(
      "Name:\tgnomon\nVmPeak:\t  900 kB\nVmHWM:\t     812 kB\nVmRSS:\t     700 kB\nRssAnon:\t     100 kB\n"
      "RssFile:\t     590 kB\nRssShmem:\t      10 kB\n");
  EXPECT_EQ(memory.peak_bytes, 812 * 1024);
  EXPECT_EQ(memory.anonymous_bytes, 100 * 1024);
  EXPECT_EQ(memory.file_bytes, 590 * 1024);
  EXPECT_EQ(parse_status("").peak_bytes, 0);
  EXPECT_EQ(parse_status("VmHWM").peak_bytes, 0);
}

TEST(ProcessMemory, CountsMappingsOfADirectoryOnly) {
  constexpr std::string_view smaps =
      "7f00-7f10 r--p 00000000 fe:00 12   /data/stores/cora/features.npy\nSize:  64 kB\nRss:  40 kB\n"
      "Rss_other: 9 kB\n"
      "7f20-7f30 r--p 00000000 fe:00 13   /data/stores/cora2/features.npy\nRss:  8 kB\n"
      "7f40-7f50 rw-p 00000000 00:00 0 \nRss:  16 kB\n"
      "7f60-7f70 r--p 00000000 fe:00 14   /data/stores/cora/labels.npy\nRss:  4 kB\n";
  EXPECT_EQ(parse_mapped_bytes(smaps, "/data/stores/cora"), 44 * 1024);
  EXPECT_EQ(parse_mapped_bytes(smaps, "/data/stores"), 52 * 1024);
  EXPECT_EQ(parse_mapped_bytes(smaps, "/elsewhere"), 0);
}

TEST(ProcessMemory, GrowsWithWhatIsTouched) {
  constexpr std::int64_t bytes = std::int64_t{64} << 20;
  const auto before = process_memory();
  EXPECT_GT(before.peak_bytes, 0);
  const std::vector<char> touched(bytes, 1);
  const auto after = process_memory();
  EXPECT_GE(after.anonymous_bytes, before.anonymous_bytes + bytes / 2);
  EXPECT_GE(after.peak_bytes, after.anonymous_bytes);
  EXPECT_EQ(touched.back(), 1);
}

TEST(ProcessMemory, SeesAMappedFile) {
  const test::TemporaryDirectory directory;
  constexpr std::size_t bytes = std::size_t{1} << 20;
  std::ofstream(directory / "data") << std::string(bytes, 'x');
  EXPECT_EQ(mapped_bytes(directory.path()), 0);
  const int file = ::open((directory / "data").c_str(), O_RDONLY);
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_EQ(mapped_bytes(directory.path()), static_cast<std::int64_t>(bytes));
  release_file_pages({static_cast<const std::byte*>(memory), bytes});
  EXPECT_EQ(mapped_bytes(directory.path()), 0);
  EXPECT_EQ(static_cast<const char*>(memory)[bytes - 1], 'x') << "the content is read again";
  ::munmap(memory, bytes);
  ::close(file);
}

TEST(ProcessMemory, ReleasesNothingButFiles) {
  const std::vector<std::byte> memory(std::size_t{1} << 22, std::byte{7});
  release_file_pages(memory);
  EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{7}), std::ssize(memory));
}

}  // namespace
}  // namespace gnomon::base
