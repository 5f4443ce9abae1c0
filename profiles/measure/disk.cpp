#include "profiles/measure/disk.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "plan/host_cache.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
#include "runtime/disk/block_reader.h"
#include "runtime/disk/direct_file.h"

namespace gnomon::profiles {
namespace {

using runtime::BlockReader;
using runtime::DirectFile;
using runtime::Extent;

constexpr std::size_t block_bytes = 4096;
constexpr std::size_t large_bytes = std::size_t{1} << 20;
constexpr int large_reads_in_flight = 4;
constexpr double as_good = 0.95;

// What an earlier measurement has read may be cached below the disk, by the host of a virtual machine: the
// places are not the same in each.

/// Consecutive chunks of a file from a random one on, wrapping around at its end.
class InOrder {
 public:
  std::vector<Extent> next(std::uint64_t pieces, std::size_t bytes, std::size_t count) {
    std::vector<Extent> extents;
    for (next_ %= pieces; extents.size() < count && next_ < pieces; ++next_) {
      extents.push_back({next_ * bytes, bytes});
    }
    return extents;
  }

 private:
  std::uint64_t next_ = std::random_device()();
};

/// Distinct random chunks in ascending order, as a row reader requests them.
class AtRandom {
 public:
  std::vector<Extent> next(std::uint64_t pieces, std::size_t bytes, std::size_t count) {
    std::vector<std::uint64_t> chosen(count);
    std::generate(chosen.begin(), chosen.end(), [&] { return engine_() % pieces; });
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    std::vector<Extent> extents;
    for (const std::uint64_t piece : chosen) {
      extents.push_back({piece * bytes, bytes});
    }
    return extents;
  }

 private:
  std::mt19937_64 engine_{std::random_device()()};
};

/// Chunks read per second at a given queue depth; 0 if the file is smaller than a chunk.
template <class Order>
double rate(const std::shared_ptr<const DirectFile>& file, std::size_t bytes, int depth, double seconds) {
  // reads per call and queue slot, so that ramp-up and drain are negligible
  constexpr std::size_t rounds = 16;
  const std::uint64_t pieces = file->size() / bytes;
  if (pieces == 0) {
    return 0;
  }
  BlockReader reader({file}, {.depth = depth, .buffer_bytes = bytes, .max_gap_bytes = 0});
  Order order;
  std::int64_t reads = 0;
  const Stopwatch watch;
  while (watch.seconds() < seconds) {
    const auto extents = order.next(pieces, bytes, rounds * static_cast<std::size_t>(depth));
    reader.read(extents, [&](std::size_t, std::uint64_t, std::span<const std::byte>) { ++reads; });
  }
  return static_cast<double>(reads) / watch.seconds();
}

Disk measure(const std::shared_ptr<const DirectFile>& file, double time_limit_s,
             const std::atomic<bool>* stop) {
  std::vector<std::pair<int, double>> rates;  // by queue depth
  constexpr double slices = 9;                // sequential reads of two sizes, and seven depths
  const double slice_s = time_limit_s / slices;
  throw_if_stopped(stop);
  const double large = rate<InOrder>(file, large_bytes, large_reads_in_flight, slice_s) * large_bytes;
  throw_if_stopped(stop);
  const double many = rate<InOrder>(file, plan::disk_buffer_bytes, plan::disk_reads_in_flight, slice_s) *
                      plan::disk_buffer_bytes;
  for (int depth = 1; depth <= plan::disk_reads_in_flight; depth *= 2) {
    throw_if_stopped(stop);
    rates.emplace_back(depth, rate<AtRandom>(file, block_bytes, depth, slice_s));
  }
  const auto slower = [](const auto& a, const auto& b) { return a.second < b.second; };
  const double best = std::max_element(rates.begin(), rates.end(), slower)->second;
  if (std::max(large, many) <= 0 || best <= 0) {
    return {};
  }
  const auto enough = std::find_if(rates.begin(), rates.end(),
                                   [best](const auto& entry) { return entry.second >= as_good * best; });
  return {.bandwidth_bytes_per_s = std::max(large, many),
          .random_reads_per_s = best,
          .block_bytes = static_cast<double>(block_bytes),
          .queue_depth = enough->first};
}

}  // namespace

Disk measure_disk(const std::filesystem::path& path, double time_limit_s, const std::atomic<bool>* stop) {
  try {
    const auto file = std::make_shared<const DirectFile>(path);
    const bool is_readable = file->is_direct() && file->size() >= large_bytes;
    return is_readable ? measure(file, time_limit_s, stop) : Disk{};
  } catch (const base::InputError&) {
  } catch (const base::Failure&) {
  }
  return {};
}

}  // namespace gnomon::profiles
