#include "bench/memory_floor.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/cpu/prefetch.h"

namespace gnomon::bench {
namespace {

constexpr std::size_t line_bytes = 64;

struct Unmap {
  std::size_t bytes;
  void operator()(std::byte* memory) const { ::munmap(memory, bytes); }
};
using Buffer = std::unique_ptr<std::byte, Unmap>;

Buffer touched_buffer(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::runtime_error("cannot allocate the buffer");
  }
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  auto* first = static_cast<std::byte*>(memory);
  for (std::size_t at = 0; at < bytes; at += line_bytes) {
    first[at] = static_cast<std::byte>(at >> 6);
  }
  return Buffer(first, Unmap{bytes});
}

/// Random positions in a buffer, computed from a counter, so that no read depends on another.
struct Places {
  const std::byte* buffer;
  int log2_lines;
  std::uint64_t seed;

  const std::byte* at(std::int64_t i) const {
    const std::uint64_t state = seed + static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15U;
    const std::uint64_t mixed = (state ^ (state >> 29)) * 0xBF58476D1CE4E5B9U;
    return buffer + (mixed >> (64 - log2_lines)) * line_bytes;
  }
};

/// As many reads in flight as the core's out-of-order window allows.
std::uint64_t read_lines(const Places& places, std::int64_t lines) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < lines; ++i) {
    sum += static_cast<std::uint64_t>(*places.at(i));
  }
  return sum;
}

/// Prefetches each line into the L2 cache, which allows more outstanding misses than L1.
std::uint64_t read_lines_asked_for(const Places& places, std::int64_t lines) {
  constexpr std::int64_t ahead = 96;
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < lines; ++i) {
    kernels::cpu::prefetch_far(places.at(i + ahead));
    sum += static_cast<std::uint64_t>(*places.at(i));
  }
  return sum;
}

using Read = std::uint64_t (*)(const Places& places, std::int64_t lines);

double lines_per_s(Read read, const Places& places, std::int64_t lines, int threads) {
  std::atomic<std::uint64_t> sink{0};
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::jthread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      Places own = places;
      own.seed *= static_cast<std::uint64_t>(t + 1);
      sink += read(own, lines);
    });
  }
  team.clear();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(lines) * threads / seconds.count();
}

}  // namespace

double random_lines_per_s(std::size_t buffer_bytes, std::int64_t lines, int threads) {
  const Buffer buffer = touched_buffer(buffer_bytes);
  const Places places{buffer.get(), std::countr_zero(buffer_bytes / line_bytes), 0x123456789ABCDEFU};
  return std::max(lines_per_s(read_lines, places, lines, threads),
                  lines_per_s(read_lines_asked_for, places, lines, threads));
}

}  // namespace gnomon::bench
