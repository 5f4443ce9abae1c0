#include "runtime/disk/block_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "runtime/disk/thread_queue.h"
#include "tests/fixtures/message_of.h"
#include "tests/random_seed.h"
#include "tests/runtime/disk/disk_directory.h"

namespace gnomon::runtime {
namespace {

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

/// Ascending extents that do not overlap: some touch, most are apart, a few are longer than any buffer.
std::vector<Extent> random_extents(std::uint64_t file_bytes, std::mt19937_64& random) {
  std::vector<Extent> extents;
  std::uint64_t at = random() % 5000;
  while (at + 1 < file_bytes) {
    const std::uint64_t longest = random() % 50 == 0 ? 100'000 : 700;
    const std::uint64_t bytes = std::min(1 + random() % longest, file_bytes - at);
    extents.push_back({at, bytes});
    at += bytes + (random() % 4 == 0 ? 0 : random() % 20'000);
  }
  return extents;
}

class EveryBackend : public testing::TestWithParam<ReadBackend> {
 protected:
  void SetUp() override {
    if (GetParam() == ReadBackend::io_uring && !has_io_uring()) {
      GTEST_SKIP() << "this system or this build has no io_uring";
    }
  }
  std::unique_ptr<BlockReader> reader_of(const std::filesystem::path& path, int depth = 8,
                                         std::uint64_t max_gap_bytes = 4096) {
    return std::make_unique<BlockReader>(
        std::vector<std::shared_ptr<const DirectFile>>{std::make_shared<const DirectFile>(path)},
        ReaderOptions{
            .backend = GetParam(), .depth = depth, .buffer_bytes = 16384, .max_gap_bytes = max_gap_bytes});
  }
  DiskDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(BlockReader, EveryBackend,
                         testing::Values(ReadBackend::io_uring, ReadBackend::threads),
                         [](const auto& tested) {
                           return std::string(tested.param == ReadBackend::threads ? "Threads" : "IoUring");
                         });

/// The bytes of the extents, one behind the other.
std::vector<std::byte> read_all(BlockReader& reader, const std::vector<Extent>& extents) {
  std::vector<std::size_t> begins;
  std::size_t total = 0;
  for (const auto& extent : extents) {
    begins.push_back(total);
    total += extent.bytes;
  }
  std::vector<std::byte> bytes(total);
  std::size_t arrived = 0;
  reader.read(extents, [&](std::size_t i, std::uint64_t from, std::span<const std::byte> piece) {
    std::copy(piece.begin(), piece.end(), bytes.begin() + static_cast<std::ptrdiff_t>(begins[i] + from));
    arrived += piece.size();
  });
  EXPECT_EQ(arrived, total) << "each byte once";
  return bytes;
}

/// The same by pread() through the page cache.
std::vector<std::byte> plain_read(const std::vector<std::byte>& content, const std::vector<Extent>& extents) {
  std::vector<std::byte> bytes;
  for (const auto& extent : extents) {
    const auto begin = content.begin() + static_cast<std::ptrdiff_t>(extent.offset);
    bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(extent.bytes));
  }
  return bytes;
}

TEST_P(EveryBackend, ReadsWhatTheFileHolds) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (const std::size_t file_bytes : {1UL, 511UL, 4096UL, 300'001UL, 1'000'003UL}) {
    const auto content = random_bytes(file_bytes, random());
    write_bytes(directory_ / "data", content);
    for (const int depth : {1, 3, 64}) {
      for (const std::uint64_t gap : {0UL, 4096UL}) {
        const auto reader = reader_of(directory_ / "data", depth, gap);
        const auto extents = random_extents(file_bytes, random);
        EXPECT_EQ(read_all(*reader, extents), plain_read(content, extents)) << file_bytes << ", " << depth;
        EXPECT_EQ(read_all(*reader, extents), plain_read(content, extents)) << "a second time";
      }
    }
  }
}

TEST_P(EveryBackend, MergesNeighbours) {
  write_bytes(directory_ / "data", random_bytes(1 << 16, 1));
  const auto reader = reader_of(directory_ / "data", 8, 0);
  const std::uint64_t block = reader->file(0).block_bytes();
  // Three rows in two blocks that touch, one block apart from them, and a whole buffer of four.
  const std::vector<Extent> extents = {
      {10, 20}, {100, 20}, {block + 5, 20}, {10 * block, 8}, {1 << 15, 16384}};
  read_all(*reader, extents);
  EXPECT_EQ(reader->counts().reads, 3);
  EXPECT_EQ(reader->counts().bytes, static_cast<std::int64_t>(3 * block + 16384));
  const auto bridging = reader_of(directory_ / "data", 8, 10 * block);
  read_all(*bridging, {{10, 20}, {10 * block, 8}});
  EXPECT_EQ(bridging->counts().reads, 1);
  EXPECT_EQ(bridging->counts().bytes, static_cast<std::int64_t>(11 * block));
}

TEST_P(EveryBackend, ReadsSeveralFilesAtOnce) {
  const auto one = random_bytes(100'001, 4);
  const auto other = random_bytes(70'003, 5);
  write_bytes(directory_ / "one", one);
  write_bytes(directory_ / "other", other);
  BlockReader reader({std::make_shared<const DirectFile>(directory_ / "one"),
                      std::make_shared<const DirectFile>(directory_ / "other")},
                     {.backend = GetParam(), .depth = 4, .buffer_bytes = 16384});
  // Neighbours in offset, but not in one file.
  const std::vector<Extent> extents = {
      {500, 40'000, 1}, {40'500, 50'000, 0}, {0, 300, 1}, {60'000, 10'003, 1}};
  std::vector<std::byte> expected;
  for (const auto& extent : extents) {
    const auto& content = extent.file == 0 ? one : other;
    const auto begin = content.begin() + static_cast<std::ptrdiff_t>(extent.offset);
    expected.insert(expected.end(), begin, begin + static_cast<std::ptrdiff_t>(extent.bytes));
  }
  EXPECT_EQ(read_all(reader, extents), expected);
}

TEST_P(EveryBackend, ReadsNothing) {
  write_bytes(directory_ / "data", random_bytes(100, 1));
  const auto reader = reader_of(directory_ / "data");
  read_all(*reader, {});
  EXPECT_EQ(reader->counts(), ReadCounts{});
}

// A file that is cut while it is open; the reader remains usable for what is left.
TEST_P(EveryBackend, NamesFileAndOffsetWhereAFileEnds) {
  const auto content = random_bytes(200'000, 3);
  write_bytes(directory_ / "data", content);
  const auto reader = reader_of(directory_ / "data", 4, 0);
  ASSERT_EQ(::truncate((directory_ / "data").c_str(), 100'100), 0);
  std::vector<Extent> extents;
  for (std::uint64_t at = 0; at < 200'000; at += 10'000) {
    extents.push_back({at, 300});
  }
  const auto message = test::message_of<base::Failure>(directory_ / "", [&] { read_all(*reader, extents); });
  EXPECT_TRUE(message.ends_with("the file was changed")) << message;
  EXPECT_NE(message.find("data: ends at byte 100100; "), std::string::npos) << message;
  EXPECT_NE(message.find("300 bytes at offset "), std::string::npos) << message;
  extents.resize(10);
  EXPECT_EQ(read_all(*reader, extents), plain_read(content, extents));
}

TEST_P(EveryBackend, NamesTheErrorOfARead) {
  write_bytes(directory_ / "data", random_bytes(5000, 3));
  const auto file = std::make_shared<const DirectFile>(directory_ / "data");
  const int other = ::open((directory_ / "data").c_str(), O_WRONLY);
  ASSERT_GE(other, 0);
  ASSERT_GE(::dup2(other, file->descriptor()), 0);  // which cannot be read from any more
  ::close(other);
  BlockReader reader({file}, {.backend = GetParam(), .depth = 2, .buffer_bytes = 4096});
  const auto message = test::message_of<base::Failure>({}, [&] { read_all(reader, {{4500, 100}}); });
  EXPECT_NE(message.find("data: cannot read "), std::string::npos) << message;
  EXPECT_NE(message.find(" bytes at offset "), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("Bad file descriptor")) << message;
}

TEST(DirectFile, MustExist) {
  const DiskDirectory directory;
  EXPECT_THROW(DirectFile(directory / "none"), base::InputError);
}

/// Reads by threads, of which many are interrupted or end early: what a short read leaves of its buffer is
/// overwritten.
class FaultyQueue final : public ReadQueue {
 public:
  FaultyQueue(const std::vector<int>& descriptors, const ReadBuffers& buffers, int depth, std::uint64_t seed,
              std::map<std::int64_t, int>& faults)
      : queue_(descriptors, buffers, depth), buffers_(buffers), random_(seed), faults_(faults) {}

  void submit(const BlockRead& read) override {
    reads_[read.buffer] = read;
    queue_.submit(read);
  }

  BlockReadEnd wait() override {
    constexpr std::int64_t block_bytes = 4096;
    BlockReadEnd end = queue_.wait();
    const BlockRead& read = reads_[end.buffer];
    std::byte* const to = buffers_[read.buffer] + read.within;
    const auto kind = random_() % 4;
    if (kind == 0 || kind == 1) {
      end.result = kind == 0 ? -EINTR : -EAGAIN;
      ++faults_[end.result];
      std::memset(to, 0xee, read.bytes);
    } else if (kind == 2 && end.result > block_bytes) {
      const auto rest = static_cast<std::uint64_t>(end.result - block_bytes);
      end.result = block_bytes + static_cast<std::int64_t>(random_() % rest);
      ++faults_[0];
      std::memset(to + end.result, 0xee, read.bytes - static_cast<std::size_t>(end.result));
    }
    return end;
  }

 private:
  ThreadQueue queue_;
  const ReadBuffers& buffers_;
  std::mt19937_64 random_;
  std::map<int, BlockRead> reads_;  ///< by buffer
  std::map<std::int64_t, int>& faults_;
};

/// The exit code of a process without room for the stacks of all threads.
constexpr int told = 7;

void open_queue_without_room() {
  alarm(30);  // ends a process that hangs
  std::ifstream statm("/proc/self/statm");
  rlim_t used_pages = 0;
  statm >> used_pages;
  const rlim_t limit = used_pages * static_cast<rlim_t>(getpagesize()) + (rlim_t{64} << 20);
  const rlimit limits{limit, limit};
  setrlimit(RLIMIT_AS, &limits);
  const ReadBuffers buffers(1, 4096);
  try {
    const ThreadQueue queue({}, buffers, 32);
  } catch (const base::Failure& failure) {
    _exit(std::string_view(failure.what()).find("cannot start threads") == std::string_view::npos ? 1 : told);
  }
  _exit(0);
}

TEST(ThreadQueue, ThreadsThatCannotStartAreAFailure) {
  EXPECT_EXIT(open_queue_without_room(), ::testing::ExitedWithCode(told), "");
}

TEST(BlockReader, RepeatsReadsThatAreInterruptedOrShort) {
  const DiskDirectory directory;
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto content = random_bytes(1'000'003, random());
  write_bytes(directory / "data", content);
  std::map<std::int64_t, int> faults;  // by result; 0: short reads
  ReaderOptions options{.depth = 8, .buffer_bytes = 65536};
  options.open = [&](const std::vector<int>& descriptors, const ReadBuffers& buffers, int depth) {
    return std::make_unique<FaultyQueue>(descriptors, buffers, depth, random(), faults);
  };
  BlockReader reader({std::make_shared<const DirectFile>(directory / "data")}, options);
  for (int round = 0; round < 5; ++round) {
    const auto extents = random_extents(content.size(), random);
    ASSERT_EQ(read_all(reader, extents), plain_read(content, extents)) << round;
    const std::vector<Extent> whole = {{0, content.size()}};
    ASSERT_EQ(read_all(reader, whole), content) << round;
  }
  for (const std::int64_t result : {-EINTR, -EAGAIN, 0}) {
    EXPECT_GT(faults[result], 10) << result;
  }
}

/// Lets io_uring_setup() fail in this thread and those that it starts, as container runtimes do. False if the
/// system has no seccomp filters.
bool refuse_io_uring() {
  std::array<sock_filter, 4> program = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(BlockReader, ReadsByThreadsWhereIoUringIsRefused) {
  const DiskDirectory directory;
  const auto content = random_bytes(50'000, 9);
  write_bytes(directory / "data", content);
  const std::vector<Extent> extents = {{7, 40'000}};
  bool is_refused = false;
  std::thread([&] {  // the filter ends with the thread
    is_refused = refuse_io_uring();
    if (!is_refused) {
      return;
    }
    EXPECT_FALSE(has_io_uring());
    const auto file = std::make_shared<const DirectFile>(directory / "data");
    BlockReader reader({file});
    EXPECT_EQ(read_all(reader, extents), plain_read(content, extents));
    EXPECT_THROW(BlockReader({file}, {.backend = ReadBackend::io_uring}), base::Failure);
  })
      .join();
  if (!is_refused) {
    GTEST_SKIP() << "this system has no seccomp filters";
  }
}

}  // namespace
}  // namespace gnomon::runtime
