#include "bench/memory_floor.h"

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

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
    throw std::runtime_error("no memory for the floor's buffer");
  }
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  auto* first = static_cast<std::byte*>(memory);
  for (std::size_t at = 0; at < bytes; at += line_bytes) {
    first[at] = static_cast<std::byte>(at >> 6);
  }
  return Buffer(first, Unmap{bytes});
}

// Addresses come from a counter alone, so that no read waits for another.
std::uint64_t read_lines(const std::byte* buffer, int log2_lines, std::int64_t lines, std::uint64_t seed) {
  std::uint64_t sum = 0;
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < lines; ++i) {
    state += 0x9E3779B97F4A7C15U;
    const std::uint64_t mixed = (state ^ (state >> 29)) * 0xBF58476D1CE4E5B9U;
    sum += static_cast<std::uint64_t>(buffer[(mixed >> (64 - log2_lines)) * line_bytes]);
  }
  return sum;
}

}  // namespace

double random_lines_per_s(std::size_t buffer_bytes, std::int64_t lines, int threads) {
  const Buffer buffer = touched_buffer(buffer_bytes);
  const int log2_lines = std::countr_zero(buffer_bytes / line_bytes);
  std::atomic<std::uint64_t> sink{0};
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::jthread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&, t] {
      sink +=
          read_lines(buffer.get(), log2_lines, lines, 0x123456789ABCDEFU * static_cast<std::uint64_t>(t + 1));
    });
  }
  team.clear();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return static_cast<double>(lines) * threads / seconds.count();
}

}  // namespace gnomon::bench
