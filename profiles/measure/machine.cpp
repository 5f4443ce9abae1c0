#include "profiles/measure/machine.h"

#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "base/cache_bytes.h"
#include "base/error.h"
#include "base/host.h"
#include "base/usable.h"
#include "kernels/cpu/huge_array.h"
#include "profiles/measure/power.h"

namespace gnomon::profiles {
namespace {

constexpr std::size_t max_brief_bytes = std::size_t{64} << 20;  ///< that a core reads

/// Sums the words, so that the compiler cannot eliminate the reads.
std::uint64_t sum_of(const std::uint64_t* words, std::size_t count) {
  return std::accumulate(words, words + count, std::uint64_t{0});
}

/// Writes a word of every page, so that the system provides the memory.
void touch(std::uint64_t* words, std::size_t count) {
  constexpr std::size_t words_of_page = 4096 / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count; i += words_of_page) {
    words[i] = i;
  }
}

/// Threads that each read a buffer, concurrently, on request.
class Readers {
 public:
  Readers(int threads, std::size_t bytes_each, bool huge_pages)
      : words_(bytes_each / sizeof(std::uint64_t)),
        has_huge_pages_(huge_pages),
        gate_(threads + 1),
        sums_(static_cast<std::size_t>(threads)) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i] { loop(static_cast<std::size_t>(i)); });
    }
    gate_.arrive_and_wait();  // first touch by each thread, for NUMA placement
  }
  ~Readers() {
    ending_ = true;
    gate_.arrive_and_wait();
    for (auto& thread : threads_) {
      thread.join();
    }
  }
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  /// The time until all threads have read their buffers once.
  double read_once() {
    gate_.arrive_and_wait();
    const Stopwatch watch;
    gate_.arrive_and_wait();
    return watch.seconds();
  }
  double bytes() const {
    return static_cast<double>(words_ * sizeof(std::uint64_t)) * static_cast<double>(threads_.size());
  }

 private:
  void loop(std::size_t index) {
    const std::vector<std::uint64_t> small(has_huge_pages_ ? 0 : words_, index + 1);
    kernels::cpu::HugeArray<std::uint64_t> huge(has_huge_pages_ ? words_ : 0);
    if (has_huge_pages_) {
      touch(huge.data(), words_);
    }
    const std::uint64_t* words = has_huge_pages_ ? huge.data() : small.data();
    gate_.arrive_and_wait();
    while (true) {
      gate_.arrive_and_wait();
      if (ending_) {
        return;
      }
      sums_[index] += sum_of(words, words_);
      gate_.arrive_and_wait();
    }
  }
  std::size_t words_;
  bool has_huge_pages_;
  std::barrier<> gate_;
  std::vector<std::uint64_t> sums_;
  std::atomic<bool> ending_ = false;
  std::vector<std::thread> threads_;
};

/// The bandwidth of all cores reading uncached memory, in bytes per second.
double read_bandwidth(int cores, const MachineOptions& options, bool& converged) {
  const std::size_t last_cache = base::cache_bytes(_SC_LEVEL3_CACHE_SIZE, std::size_t{32} << 20);
  const auto room = static_cast<std::size_t>(base::usable_memory_bytes() / 8);
  const std::size_t total = std::min(std::max(2 * last_cache, std::size_t{32} << 20), room);
  const std::size_t of_core = total / static_cast<std::size_t>(cores);
  Readers readers(cores, options.brief ? std::min(of_core, max_brief_bytes) : of_core, options.brief);
  readers.read_once();
  const auto time = measure_until(options.rule, [&] {
    throw_if_stopped(options.stop);
    return readers.read_once();
  });
  converged = converged && time.converged;
  return readers.bytes() / time.mean_s;
}

/// The bandwidth of one core copying chunks larger than its cache, in bytes per second.
double copy_bandwidth(const MachineOptions& options, bool& converged) {
  const std::size_t own_cache = base::cache_bytes(_SC_LEVEL2_CACHE_SIZE, std::size_t{1} << 20);
  const std::size_t bytes = std::max({options.copy_bytes, 4 * own_cache, std::size_t{4} << 20});
  const std::vector<std::byte> source(bytes, std::byte{1});
  std::vector<std::byte> target(bytes);
  const auto copy = [&] {
    throw_if_stopped(options.stop);
    const Stopwatch watch;
    std::memcpy(target.data(), source.data(), bytes);
    return watch.seconds();
  };
  copy();
  const auto time = measure_until(options.rule, copy);
  converged = converged && time.converged;
  return static_cast<double>(bytes) / time.mean_s;
}

}  // namespace

void throw_if_stopped(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load()) {
    throw base::Interrupted();
  }
}

std::string cpu_name() {
  const auto model = base::cpu_model();
  return model.empty() ? "unknown CPU" : model;
}

MachineProfile measure_machine(const MachineOptions& options, bool& converged) {
  MachineProfile machine;
  std::string host(256, '\0');
  if (gethostname(host.data(), host.size() - 1) == 0) {
    machine.name = host.c_str();
  }
  machine.cpu.name = cpu_name();
  machine.cpu.cores = base::usable_cores();
  const double memory_bytes = base::usable_memory_bytes();
  machine.cpu.memory_bytes = memory_bytes > 0 ? std::optional(memory_bytes) : std::nullopt;
  base::report(options.progress, "memory bandwidth", 0, 2);
  machine.cpu.memory_bandwidth_bytes_per_s = read_bandwidth(machine.cpu.cores, options, converged);
  base::report(options.progress, "copy bandwidth", 1, 2);
  machine.cpu.copy_bandwidth_bytes_per_s = copy_bandwidth(options, converged);
  if (!options.brief) {
    machine.running = measure_power_here(machine.cpu.cores, options.stop);
  }
  machine.device.kind = DeviceKind::host;
  machine.device.name = machine.cpu.name;
  machine.device.memory_bytes = machine.cpu.memory_bytes;
  return machine;
}

}  // namespace gnomon::profiles
