#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/device/gather.h"

namespace gnomon::runtime::emulated {

/// Reads by kernels over the link: coalesced requests of neighbouring threads, each for one or more 32-byte
/// sectors of one aligned line.
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

/// The reads of a kernel outside its device's own memory.
struct LinkReads {
  ZeroCopyReads host;   ///< over the link
  ZeroCopyReads peers;  ///< of cache parts on linked devices
};

/// Coalesces the addresses that a kernel's threads read, in the order of the threads, into requests:
/// neighbouring threads that read the same line share a request. Reads of the device's own memory are
/// ignored. `line_bytes`, the maximum size of a request, is 32, 64 or 128.
class Coalescer {
 public:
  /// `mapped` is the host's memory, `peers` that of linked devices. Both must outlive it.
  Coalescer(const MappedRanges& mapped, const MappedRanges& peers, int line_bytes)
      : mapped_(mapped), peers_(peers), line_bytes_(static_cast<std::uintptr_t>(line_bytes)) {}

  /// Neighbouring threads read `bytes` from `address` on.
  void read(const void* address, std::int64_t bytes);
  /// One row, read by a warp: `shifted`, so that only its first and last requests are partial lines, or
  /// `straight`, where a row that starts within a line splits each read of a warp in two (PyTorch-Direct,
  /// arXiv 2103.03330, section 4.4).
  void read_row(const void* address, std::int64_t bytes, kernels::device::Reads reads);
  /// The reads so far.
  LinkReads finish();

 private:
  /// The counter for the memory at this address; null for the device's own memory.
  ZeroCopyReads* reads_of(const void* address);
  void read_lines(std::uintptr_t begin, std::uintptr_t end, ZeroCopyReads& reads);
  void flush();

  const MappedRanges& mapped_;
  const MappedRanges& peers_;
  std::uintptr_t line_bytes_;
  LinkReads reads_;
  ZeroCopyReads* line_reads_ = nullptr;  ///< the counter for the current line
  std::uintptr_t line_ = 0;
  unsigned sectors_ = 0;  ///< of the current line, not counted yet: one bit each
};

}  // namespace gnomon::runtime::emulated
