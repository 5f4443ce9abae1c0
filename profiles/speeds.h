#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "base/other_load.h"

namespace gnomon::profiles {

/// Kinds of work by which machines are compared; in brackets the unit of their rates and the meaning of
/// Speed::size.
enum class Work : std::uint8_t {
  dense_fp32,       ///< forward and backward pass of a linear layer [flop/s; width of its square weights]
  dense_bf16,       ///< dense_fp32 with operands rounded to bf16 [flop/s; width]
  sparse,           ///< means over sampled neighbours, forward and backward [bytes/s; columns of fp32]
  random_lines,     ///< reads of cache lines at random, on huge pages [lines/s; bytes of the working set]
  copies,           ///< sequential copies [bytes copied/s; bytes of one copy]
  page_rows,        ///< gathers of rows of 512 bytes from small pages [bytes/s; bytes of the working set]
  huge_page_rows,   ///< … from huge pages, where the system grants them [bytes/s; bytes of the working set]
  inserts,          ///< vertices numbered in a hash table [inserts/s; vertices in the table]
  branches,         ///< integer operations with unpredictable branches [operations/s]
  operations,       ///< tiny tensor operations, dominated by call overhead [operations/s]
  disk_random,      ///< reads of one block past the page cache [reads/s; bytes of a block]
  disk_sequential,  ///< large reads in order past the page cache [bytes/s]
  link_copies,      ///< copies from the host's pinned memory to a GPU's [bytes/s; bytes of one copy]
  device_dense_fp32,  ///< as dense_fp32, on a GPU
  device_dense_bf16,  ///< as dense_bf16, on a GPU
  device_copies,      ///< copies within a GPU's memory [bytes copied/s; bytes of one copy]
  device_rows,        ///< gathers of rows in a GPU's memory [bytes/s; bytes of the working set]
  launches,           ///< of almost empty kernels [launches/s]
};

/// The unit of a kind's rates: "flop/s".
std::string_view unit_of(Work work);
/// Whether its rates depend on Speed::size.
bool has_size(Work work);

/// A machine's speed at one kind of work.
struct Speed {
  Work work = Work::copies;
  int threads = 1;               ///< concurrent threads; the rate is their total
  std::optional<double> size{};  ///< see Work
  double per_s = 0;              ///< the median of the samples
  double deviation = 0;          ///< standard deviation of the samples over `per_s`
  double interval = 0;           ///< relative half width of the 95 % confidence interval; 0: not measured
  std::int64_t samples = 0;
  bool converged = false;  ///< whether the interval reached the requested width

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("work", self.work);
    f("threads", self.threads, base::Range{1, 4096});
    f("size", self.size, base::Range{1, 1e15});
    f.required("per_s", self.per_s, base::Range{1e-6, 1e18});
    f("deviation", self.deviation, base::Range{0, 1e6});
    f("interval", self.interval, base::Range{0, 1e6});
    f("samples", self.samples, base::non_negative);
    f("converged", self.converged);
  }
  bool operator==(const Speed&) const = default;
};

/// A machine's speeds, independent of any job.
struct MachineSpeeds {
  double asked_interval = 0.02;  ///< half width of the confidence intervals, relative to the median
  double seconds = 0;            ///< duration of the measurement
  std::optional<base::OtherLoad> other_load{};  ///< what others took of the machine; none if unknown
  std::vector<Speed> speeds{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("asked_interval", self.asked_interval, base::Range{0, 1});
    f("seconds", self.seconds, base::non_negative);
    f("other_load", self.other_load);
    f.required("speeds", self.speeds);
  }
  bool operator==(const MachineSpeeds&) const = default;
};

/// Throws InputError, with a path below `where`, if a kind's size is missing or has no meaning, or if the
/// same work was measured twice.
void check(const MachineSpeeds& speeds, const std::string& where);

/// An amount of one kind of work.
struct Amount {
  Work work = Work::copies;
  double size = 1;   ///< see Work; ignored where rates do not depend on it
  double count = 0;  ///< in the unit of the kind's rates without "/s"

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("work", self.work);
    f("size", self.size, base::Range{1, 1e15});
    f.required("count", self.count, base::non_negative);
  }
  bool operator==(const Amount&) const = default;
};

/// A rate interpolated at a size: log-log linear, constant beyond the measured sizes. The weights are those
/// of each measured speed, by its index in MachineSpeeds::speeds.
struct RateAt {
  double per_s = 0;
  std::map<std::size_t, double> weights;  ///< of the logarithm of each speed; they add up to 1
};

/// None if this kind was not measured with that many threads.
std::optional<RateAt> rate_at(const MachineSpeeds& speeds, Work work, double size, int threads = 1);

}  // namespace gnomon::profiles

namespace gnomon::base {
template <>
struct EnumNames<profiles::Work> {
  using Work = profiles::Work;
  static constexpr std::array<std::pair<Work, std::string_view>, 18> values{
      {{Work::dense_fp32, "dense_fp32"},
       {Work::dense_bf16, "dense_bf16"},
       {Work::sparse, "sparse"},
       {Work::random_lines, "random_lines"},
       {Work::copies, "copies"},
       {Work::page_rows, "page_rows"},
       {Work::huge_page_rows, "huge_page_rows"},
       {Work::inserts, "inserts"},
       {Work::branches, "branches"},
       {Work::operations, "operations"},
       {Work::disk_random, "disk_random"},
       {Work::disk_sequential, "disk_sequential"},
       {Work::link_copies, "link_copies"},
       {Work::device_dense_fp32, "device_dense_fp32"},
       {Work::device_dense_bf16, "device_dense_bf16"},
       {Work::device_copies, "device_copies"},
       {Work::device_rows, "device_rows"},
       {Work::launches, "launches"}}};
};
}  // namespace gnomon::base
