#include "profiles/measure/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

constexpr std::size_t block_bytes = 4096;  ///< also what O_DIRECT asks buffers and offsets to be aligned to
constexpr std::size_t large_bytes = std::size_t{1} << 20;
constexpr int large_reads_in_flight = 4;
constexpr int most_depth = 32;
constexpr double as_good = 0.95;

class File {
 public:
  explicit File(const std::filesystem::path& path) : number_(::open(path.c_str(), O_RDONLY | O_DIRECT)) {}
  ~File() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Whole pieces of `bytes`.
  std::uint64_t pieces(std::size_t bytes) const {
    return static_cast<std::uint64_t>(std::max<off_t>(0, ::lseek(number_, 0, SEEK_END))) / bytes;
  }

 private:
  int number_;
};

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// Threads read one behind the other.
class InOrder {
 public:
  InOrder(int thread, int threads)
      : next_(static_cast<std::uint64_t>(thread)), step_(static_cast<std::uint64_t>(threads)) {}
  std::uint64_t next(std::uint64_t pieces) { return std::exchange(next_, next_ + step_) % pieces; }

 private:
  std::uint64_t next_;
  std::uint64_t step_;
};

class AtRandom {
 public:
  AtRandom(int thread, int) : engine_(static_cast<std::uint64_t>(thread)) {}
  std::uint64_t next(std::uint64_t pieces) { return engine_() % pieces; }

 private:
  std::mt19937_64 engine_;
};

/// Pieces a second that so many threads read together; 0 when a read fails, or nothing is left of the file.
template <class Order>
double rate(const File& file, std::size_t bytes, int threads, double seconds) {
  const std::uint64_t pieces = file.pieces(bytes);
  if (pieces == 0) {
    return 0;
  }
  std::atomic<std::int64_t> reads = 0;
  std::atomic<bool> failed = false;
  const Stopwatch watch;
  const auto read = [&](int thread) {
    const std::unique_ptr<void, Free> buffer(std::aligned_alloc(block_bytes, bytes));
    Order order(thread, threads);
    while (watch.seconds() < seconds && !failed) {
      const auto offset = static_cast<off_t>(order.next(pieces) * bytes);
      if (::pread(file.number(), buffer.get(), bytes, offset) == static_cast<ssize_t>(bytes)) {
        ++reads;
      } else {
        failed = true;
      }
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) {
    others.emplace_back(read, thread);
  }
  read(0);
  for (auto& thread : others) {
    thread.join();
  }
  return failed ? 0 : static_cast<double>(reads) / watch.seconds();
}

}  // namespace

Disk measure_disk(const std::filesystem::path& path, double time_limit_s, const std::atomic<bool>* stop) {
  const File file(path);
  if (!file.is_open() || file.pieces(large_bytes) == 0) {
    return {};
  }
  std::vector<std::pair<int, double>> rates;  // by the number of threads
  constexpr double slices = 7;                // reads in order, and six depths
  const double slice_s = time_limit_s / slices;
  throw_if_stopped(stop);
  const double large = rate<InOrder>(file, large_bytes, large_reads_in_flight, slice_s);
  for (int depth = 1; depth <= most_depth; depth *= 2) {
    throw_if_stopped(stop);
    rates.emplace_back(depth, rate<AtRandom>(file, block_bytes, depth, slice_s));
  }
  const auto slower = [](const auto& a, const auto& b) { return a.second < b.second; };
  const double best = std::max_element(rates.begin(), rates.end(), slower)->second;
  if (large <= 0 || best <= 0) {
    return {};
  }
  const auto enough = std::find_if(rates.begin(), rates.end(),
                                   [best](const auto& entry) { return entry.second >= as_good * best; });
  return {.bandwidth_bytes_per_s = large * static_cast<double>(large_bytes),
          .random_reads_per_s = best,
          .block_bytes = static_cast<double>(block_bytes),
          .queue_depth = enough->first};
}

}  // namespace gnomon::profiles
