// Reads past the page cache of a file of 1 GiB in the working directory, or of the file that
// GNOMON_BENCH_FILE names: BlockReader beside plain threads that call pread(), at the same block size and
// queue depth.

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/disk/block_reader.h"
#include "runtime/disk/direct_file.h"
#include "runtime/disk/read_buffers.h"

namespace gnomon::runtime {
namespace {

constexpr std::size_t made_bytes = std::size_t{1} << 30;

/// The file to read; one that was made goes away with the program.
class BenchFile {
 public:
  BenchFile() {
    if (const char* given = std::getenv("GNOMON_BENCH_FILE")) {
      path_ = given;
      return;
    }
    path_ = "bench_disk." + std::to_string(::getpid());
    is_made_ = true;
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const std::vector<char> block(std::size_t{1} << 20, 'x');
    for (std::size_t written = 0; written < made_bytes; written += block.size()) {
      if (::write(file, block.data(), block.size()) != std::ssize(block)) {
        std::abort();
      }
    }
    ::fsync(file);
    ::close(file);
  }
  ~BenchFile() {
    if (is_made_) {
      std::filesystem::remove(path_);
    }
  }
  BenchFile(const BenchFile&) = delete;
  BenchFile& operator=(const BenchFile&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  bool is_made_ = false;
};

const std::filesystem::path& bench_path() {
  static const BenchFile file;
  return file.path();
}

/// Ascending offsets of different blocks: random ones, or those from a random one on. What was read before
/// may be cached below the disk.
std::vector<Extent> extents_of(std::uint64_t file_bytes, std::uint64_t bytes, std::size_t count,
                               bool at_random, std::uint64_t seed) {
  const std::uint64_t blocks = file_bytes / bytes;
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> chosen(std::min<std::uint64_t>(count, blocks));
  const std::uint64_t first = random() % (blocks - chosen.size() + 1);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    chosen[i] = at_random ? random() % blocks : first + i;
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  std::vector<Extent> extents;
  for (const auto block : chosen) {
    extents.push_back({block * bytes, bytes});
  }
  return extents;
}

void set_counts(benchmark::State& state, std::int64_t reads, std::uint64_t bytes) {
  state.SetItemsProcessed(reads);
  state.SetBytesProcessed(reads * static_cast<std::int64_t>(bytes));
}

constexpr std::size_t reads_at_once = 4096;

/// Arguments: block size, queue depth, whether at random.
void by_reader(benchmark::State& state, ReadBackend backend) {
  if (backend == ReadBackend::io_uring && !has_io_uring()) {
    state.SkipWithError("no io_uring here");
    return;
  }
  const auto bytes = static_cast<std::uint64_t>(state.range(0));
  const auto file = std::make_shared<const DirectFile>(bench_path());
  BlockReader reader({file}, {.backend = backend,
                              .depth = static_cast<int>(state.range(1)),
                              .buffer_bytes = std::max<std::size_t>(bytes, 4096),
                              .max_gap_bytes = 0});
  std::uint64_t seed = std::random_device()();
  std::int64_t reads = 0;
  for (auto _ : state) {
    const auto extents = extents_of(file->size(), bytes, reads_at_once, state.range(2) != 0, ++seed);
    reader.read(extents, [](std::size_t, std::uint64_t, std::span<const std::byte> block) {
      benchmark::DoNotOptimize(block.data());
    });
    reads += std::ssize(extents);
  }
  set_counts(state, reads, bytes);
}

/// As many threads as the queue would be deep, which share the same reads.
void by_plain_threads(benchmark::State& state) {
  const auto bytes = static_cast<std::uint64_t>(state.range(0));
  const auto depth = static_cast<int>(state.range(1));
  const DirectFile file(bench_path());
  std::uint64_t seed = std::random_device()();
  std::int64_t reads = 0;
  for (auto _ : state) {
    const auto extents = extents_of(file.size(), bytes, reads_at_once, state.range(2) != 0, ++seed);
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < depth; ++thread) {
      threads.emplace_back([&] {
        const ReadBuffers buffer(1, bytes);
        for (std::size_t i = next++; i < extents.size(); i = next++) {
          if (::pread(file.descriptor(), buffer[0], bytes, static_cast<off_t>(extents[i].offset)) < 0) {
            std::abort();
          }
        }
      });
    }
    threads.clear();
    reads += std::ssize(extents);
  }
  set_counts(state, reads, bytes);
}

void random_and_sequential(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"block", "depth", "random"});
  for (const std::int64_t depth : {1, 8, 32, 64}) {
    bench->Args({4096, depth, 1});
  }
  bench->Args({65536, 32, 1})->Args({65536, 16, 0})->Args({65536, 64, 0})->Args({1 << 20, 4, 0});
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(by_reader, io_uring, ReadBackend::io_uring)->Apply(random_and_sequential);
BENCHMARK_CAPTURE(by_reader, threads, ReadBackend::threads)->Apply(random_and_sequential);
BENCHMARK(by_plain_threads)->Apply(random_and_sequential);

}  // namespace
}  // namespace gnomon::runtime
