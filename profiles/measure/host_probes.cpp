#include "profiles/measure/host_probes.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <random>
#include <span>
#include <utility>

#include "graph/graph.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/huge_array.h"
#include "kernels/cpu/sample/id_table.h"

namespace gnomon::profiles {
namespace {

using kernels::cpu::HugeMemory;

constexpr std::size_t kibi = 1024;
constexpr std::size_t mebi = kibi * kibi;
constexpr std::size_t probe_line_bytes = 64;
constexpr std::int64_t probe_row_bytes = 512;

/// Keeps the compiler from eliminating the computation of `value`.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(value) : "memory");
}

/// The i-th number of a pseudo-random sequence (Weyl sequence with the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t i) {
  i *= 0x9E3779B97F4A7C15U;
  i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9U;
  return i ^ (i >> 31);
}

/// Maps a random number to [0, count) without a division.
std::uint64_t within(std::uint64_t random, std::uint64_t count) { return ((random >> 32) * count) >> 32; }

/// Memory on small pages, even if the system enables transparent huge pages.
class SmallPages {
 public:
  explicit SmallPages(std::size_t bytes)
      : bytes_(bytes),
        memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) {
      throw std::bad_alloc();
    }
    ::madvise(memory_, bytes, MADV_NOHUGEPAGE);
  }
  ~SmallPages() { ::munmap(memory_, bytes_); }
  SmallPages(const SmallPages&) = delete;
  SmallPages& operator=(const SmallPages&) = delete;
  std::byte* get() const { return static_cast<std::byte*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// Runs `work(member)` on one thread, or on all of the team's.
class Crew {
 public:
  Crew(std::shared_ptr<base::Team> team, int threads) : team_(std::move(team)), threads_(threads) {}
  int threads() const { return threads_; }
  template <class Act>
  void run(const Act& act) const {
    if (threads_ == 1) {
      act(0);
    } else {
      team_->step(act);
    }
  }

 private:
  std::shared_ptr<base::Team> team_;
  int threads_;
};

Probe probe_of(Work work, const Crew& crew, std::optional<double> size, double count_each,
               std::function<void()> run) {
  return {
      {.work = work, .threads = crew.threads(), .size = size}, count_each * crew.threads(), std::move(run)};
}

/// Sizes up to the maximum, which replaces all larger ones.
std::vector<std::size_t> sizes_up_to(std::size_t max, std::initializer_list<std::size_t> sizes) {
  std::vector<std::size_t> kept;
  for (const std::size_t size : sizes) {
    if (kept.empty() || std::min(size, max) > kept.back()) {
      kept.push_back(std::min(size, max));
    }
  }
  return kept;
}

std::uint64_t sum_of_lines(const std::byte* memory, std::size_t lines, std::size_t reads,
                           std::uint64_t seed) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < reads; ++i) {
    std::uint64_t word;
    std::memcpy(&word, memory + within(mixed(seed + i), lines) * probe_line_bytes, sizeof word);
    sum += word;
  }
  return sum;
}

Probe lines_probe(const Crew& crew, const std::shared_ptr<HugeMemory>& memory, std::size_t bytes) {
  constexpr std::size_t reads = std::size_t{1} << 16;
  return probe_of(Work::random_lines, crew, static_cast<double>(bytes), static_cast<double>(reads),
                  [crew, memory, bytes, round = std::uint64_t{0}]() mutable {
                    ++round;
                    crew.run([&](int member) {
                      const std::uint64_t seed = (round << 32) + (static_cast<std::uint64_t>(member) << 24);
                      keep(sum_of_lines(memory->get(), bytes / probe_line_bytes, reads, seed));
                    });
                  });
}

Probe copies_probe(const Crew& crew, std::size_t bytes) {
  using Buffers = std::vector<std::pair<HugeMemory, HugeMemory>>;
  auto buffers = std::make_shared<Buffers>(static_cast<std::size_t>(crew.threads()));
  crew.run([&](int member) {  // first touch by the copying thread, for NUMA placement
    auto& [from, to] = (*buffers)[static_cast<std::size_t>(member)];
    from = kernels::cpu::allocate_huge(bytes);
    to = kernels::cpu::allocate_huge(bytes);
    std::memset(from.get(), 1, bytes);
    std::memset(to.get(), 2, bytes);
  });
  return probe_of(Work::copies, crew, static_cast<double>(bytes), static_cast<double>(bytes),
                  [crew, buffers, bytes] {
                    crew.run([&](int member) {
                      const auto& [from, to] = (*buffers)[static_cast<std::size_t>(member)];
                      std::memcpy(to.get(), from.get(), bytes);
                      keep(to.get());
                    });
                  });
}

/// `memory` is anything with get().
template <class Memory>
Probe rows_probe(Work work, const Crew& crew, const std::shared_ptr<Memory>& memory, std::size_t bytes) {
  constexpr std::size_t gathered = 4096;
  const auto threads = static_cast<std::size_t>(crew.threads());
  auto out = std::make_shared<std::vector<std::vector<std::byte>>>(
      threads, std::vector<std::byte>(gathered * probe_row_bytes));
  auto drawn = std::make_shared<std::vector<std::vector<graph::VertexId>>>(
      threads, std::vector<graph::VertexId>(gathered));
  const auto all = static_cast<std::uint64_t>(bytes) / probe_row_bytes;
  return probe_of(work, crew, static_cast<double>(bytes), static_cast<double>(gathered * probe_row_bytes),
                  [=, round = std::uint64_t{0}]() mutable {
                    ++round;
                    crew.run([&](int member) {
                      auto& ids = (*drawn)[static_cast<std::size_t>(member)];
                      const std::uint64_t seed = (round << 32) + (static_cast<std::uint64_t>(member) << 24);
                      for (std::size_t i = 0; i < ids.size(); ++i) {
                        ids[i] = static_cast<graph::VertexId>(within(mixed(seed + i), all));
                      }
                      kernels::cpu::gather_rows(memory->get(), probe_row_bytes, ids,
                                                (*out)[static_cast<std::size_t>(member)].data());
                    });
                  });
}

/// Ids with repetitions, as in a mini-batch.
Probe inserts_probe(const Crew& crew, std::size_t vertices) {
  constexpr std::size_t ahead = 8;
  std::vector<graph::VertexId> ids(2 * vertices);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<graph::VertexId>(mixed(within(mixed(i), 5 * vertices / 4)) >> 32);
  }
  const auto count = static_cast<double>(ids.size());
  auto tables =
      std::make_shared<std::vector<kernels::cpu::IdTable>>(static_cast<std::size_t>(crew.threads()));
  return probe_of(Work::inserts, crew, static_cast<double>(vertices), count,
                  [crew, tables, ids = std::move(ids)] {
                    crew.run([&](int member) {
                      auto& table = (*tables)[static_cast<std::size_t>(member)];
                      table.clear();
                      for (std::size_t i = 0; i < ids.size(); ++i) {
                        table.prefetch(ids[std::min(i + ahead, ids.size() - 1)]);
                        keep(table.find_or_add(ids[i]));
                      }
                    });
                  });
}

/// The barriers keep the compiler from replacing the branch by a conditional move.
std::uint64_t wander(std::uint64_t seed, std::size_t steps) {
  std::uint64_t at = seed;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::uint64_t random = mixed(seed + i);
    if ((random & 1) != 0) {
      asm volatile("" : "+r"(at));
      at += random >> 3;
    } else if ((random & 2) != 0) {
      asm volatile("" : "+r"(at));
      at ^= random;
    } else {
      asm volatile("" : "+r"(at));
      at = std::rotl(at, 7) - random;
    }
  }
  return at;
}

Probe branches_probe(const Crew& crew) {
  constexpr std::size_t steps = std::size_t{1} << 16;
  return probe_of(Work::branches, crew, std::nullopt, static_cast<double>(steps),
                  [crew, round = std::uint64_t{0}]() mutable {
                    ++round;
                    crew.run([&](int member) {
                      keep(wander((round << 32) + (static_cast<std::uint64_t>(member) << 24), steps));
                    });
                  });
}

template <class Memory>
std::shared_ptr<Memory> written(Memory memory, std::size_t bytes) {
  std::memset(memory.get(), 1, bytes);
  return std::make_shared<Memory>(std::move(memory));
}

}  // namespace

std::vector<Probe> host_probes(const std::shared_ptr<base::Team>& team, const ProbeSizes& sizes) {
  const std::size_t max_bytes = sizes.max_bytes;
  const std::size_t max_copy_bytes = std::min(max_bytes, sizes.max_copy_bytes);
  const std::size_t max_vertices = std::min(max_bytes / 64, sizes.max_vertices);
  const auto huge = written(kernels::cpu::allocate_huge(max_bytes), max_bytes);
  const auto small = std::make_shared<SmallPages>(max_bytes);
  std::memset(small->get(), 1, max_bytes);
  std::vector<int> thread_counts{1};
  if (team->size() > 1) {
    thread_counts.push_back(team->size());
  }
  std::vector<Probe> probes;
  for (const int threads : thread_counts) {
    const Crew crew(team, threads);
    for (const auto bytes : sizes_up_to(max_bytes, {256 * kibi, 4 * mebi, checked_lines_bytes, 256 * mebi})) {
      probes.push_back(lines_probe(crew, huge, bytes));
    }
    for (const auto bytes : sizes_up_to(max_copy_bytes, {64 * kibi, checked_copy_bytes, 64 * mebi})) {
      probes.push_back(copies_probe(crew, bytes));
    }
    for (const auto bytes : sizes_up_to(max_bytes, {4 * mebi, 32 * mebi, 256 * mebi})) {
      probes.push_back(rows_probe(Work::page_rows, crew, small, bytes));
      probes.push_back(rows_probe(Work::huge_page_rows, crew, huge, bytes));
    }
    for (const auto vertices : sizes_up_to(max_vertices, {kibi, 16 * kibi, 256 * kibi})) {
      probes.push_back(inserts_probe(crew, vertices));
    }
    probes.push_back(branches_probe(crew));
  }
  return probes;
}

std::vector<Probe> check_probes(const std::shared_ptr<base::Team>& team) {
  const Crew alone(team, 1);
  const auto memory = written(kernels::cpu::allocate_huge(checked_lines_bytes), checked_lines_bytes);
  std::vector<Probe> probes{lines_probe(alone, memory, checked_lines_bytes),
                            copies_probe(alone, checked_copy_bytes)};
  if (team->size() > 1) {
    probes.push_back(lines_probe(Crew(team, team->size()), memory, checked_lines_bytes));
  }
  return probes;
}

}  // namespace gnomon::profiles
