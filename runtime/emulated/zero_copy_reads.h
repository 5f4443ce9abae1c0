#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/device/gather.h"

namespace gnomon::runtime::emulated {

/// Reads over the link by kernels: requests of one or more sectors of 32 bytes of one aligned line of memory,
/// as neighbouring threads ask for them.
struct ZeroCopyReads {
  std::int64_t requests = 0;
  std::int64_t bytes = 0;

  ZeroCopyReads& operator+=(const ZeroCopyReads& more) {
    requests += more.requests;
    bytes += more.bytes;
    return *this;
  }
  bool operator==(const ZeroCopyReads&) const = default;
};

/// The host memory that a device reads over its link.
class MappedRanges {
 public:
  void add(const void* data, std::size_t bytes);
  void remove(const void* data);
  bool contains(const void* address) const;

 private:
  struct Range {
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  std::vector<Range> ranges_;
};

/// What a kernel reads beside its device's own memory.
struct LinkReads {
  ZeroCopyReads host;   ///< over the link
  ZeroCopyReads peers;  ///< of the parts of a cache that linked devices hold
};

/// Turns the addresses that a kernel's neighbouring threads read, in the order of the threads, into requests:
/// threads that read one line ask for it together. Reads of the device's own memory ask for nothing.
/// `line_bytes`, the maximum of a request, is 32, 64 or 128.
class Coalescer {
 public:
  /// `mapped` is the host's memory, `peers` that of linked devices. Both must outlive it.
  Coalescer(const MappedRanges& mapped, const MappedRanges& peers, int line_bytes)
      : mapped_(mapped), peers_(peers), line_bytes_(static_cast<std::uintptr_t>(line_bytes)) {}

  /// Threads that read `bytes` from `address` on.
  void read(const void* address, std::int64_t bytes);
  /// One row, read by a warp: `shifted` so that only its first and last request are of a part of a line, or
  /// `straight`, where a row that begins within a line splits each read of a warp in two
  /// (PyTorch-Direct, arXiv 2103.03330, section 4.4).
  void read_row(const void* address, std::int64_t bytes, kernels::device::Reads reads);
  /// What was read so far.
  LinkReads finish();

 private:
  /// What memory lies beside the device's own; null for its own.
  ZeroCopyReads* reads_of(const void* address);
  void read_lines(std::uintptr_t begin, std::uintptr_t end, ZeroCopyReads& reads);
  void flush();

  const MappedRanges& mapped_;
  const MappedRanges& peers_;
  std::uintptr_t line_bytes_;
  LinkReads reads_;
  ZeroCopyReads* line_reads_ = nullptr;  ///< to which the line belongs
  std::uintptr_t line_ = 0;
  unsigned sectors_ = 0;  ///< of the line that is not counted yet, one bit each
};

}  // namespace gnomon::runtime::emulated
