#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "plan/host_cache.h"
#include "runtime/disk/direct_file.h"
#include "runtime/disk/read_buffers.h"
#include "runtime/disk/read_queue.h"

namespace gnomon::runtime {

/// How blocks are read. automatic: io_uring if available, otherwise threads.
enum class ReadBackend : std::uint8_t { automatic, io_uring, threads };

/// Opens a queue on descriptors and buffers, which outlive it, for at most `depth` reads in flight.
using OpenQueue = std::function<std::unique_ptr<ReadQueue>(const std::vector<int>& descriptors,
                                                           const ReadBuffers& buffers, int depth)>;

struct ReaderOptions {
  ReadBackend backend = ReadBackend::automatic;
  int depth = plan::disk_reads_in_flight;              ///< reads in flight, each with a buffer
  std::size_t buffer_bytes = plan::disk_buffer_bytes;  ///< a multiple of DirectFile::memory_alignment
  std::uint64_t max_gap_bytes =
      plan::disk_gap_bytes;  ///< maximum gap between parts that are merged into one read
  OpenQueue open{};          ///< opens the queue instead of `backend`, if set
};

/// A part of one of a reader's files.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::size_t file = 0;  ///< its number
};

/// Counters of a reader.
struct ReadCounts {
  std::int64_t reads = 0;
  std::int64_t bytes = 0;  ///< read from the disk, including gaps between extents

  ReadCounts& operator+=(const ReadCounts& other) {
    reads += other.reads;
    bytes += other.bytes;
    return *this;
  }
  friend ReadCounts operator-(const ReadCounts& a, const ReadCounts& b) {
    return {a.reads - b.reads, a.bytes - b.bytes};
  }
  bool operator==(const ReadCounts&) const = default;
};

/// Whether ReadBackend::io_uring works here.
bool has_io_uring();

/// Reads many parts of files at once by direct I/O: neighbouring parts are merged into reads of whole blocks,
/// which are kept in flight up to the queue depth. Not thread-safe.
class BlockReader {
 public:
  /// Receives the bytes from byte `from` of extent number `extent` on. They are valid during the call.
  using Arrived =
      std::function<void(std::size_t extent, std::uint64_t from, std::span<const std::byte> bytes)>;

  /// Throws base::Failure if io_uring is requested but not available.
  BlockReader(std::vector<std::shared_ptr<const DirectFile>> files, const ReaderOptions& options = {});

  /// Calls `arrived` in any order: once per extent, or once per piece of an extent that exceeds a buffer.
  /// Precondition: consecutive extents of one file ascend and do not overlap. Throws base::Failure, which
  /// names file and offset, if a read fails or the file ends before an extent does; the reader remains
  /// usable.
  void read(std::span<const Extent> extents, const Arrived& arrived);

  const ReadCounts& counts() const { return counts_; }
  const DirectFile& file(std::size_t number) const { return *files_[number]; }
  /// Bytes of a reader's buffers.
  static std::int64_t bytes_of(const ReaderOptions& options) {
    return options.depth * static_cast<std::int64_t>(options.buffer_bytes);
  }

 private:
  /// One read, of whole blocks, for parts of the extents `first` … `last`.
  struct Request {
    std::size_t first = 0, last = 0;
    std::size_t file = 0;
    std::uint64_t begin = 0, end = 0;  ///< in the file
    std::uint64_t wanted_begin = 0;    ///< of the first extent's part
    std::uint64_t wanted_end = 0;
    std::uint64_t done = 0;  ///< bytes returned by earlier, short reads
  };
  /// Where the next request begins.
  struct Cursor {
    std::size_t extent = 0;
    std::uint64_t from = 0;  ///< bytes of the extent that are requested already
  };

  Request next_request(std::span<const Extent> extents, Cursor& cursor) const;
  void submit(int buffer);
  bool take(const BlockReadEnd& end);
  void deliver(std::span<const Extent> extents, int buffer, const Arrived& arrived) const;
  void drain(int in_flight);

  std::vector<std::shared_ptr<const DirectFile>> files_;
  ReaderOptions options_;
  ReadBuffers buffers_;
  std::vector<Request> requests_;  ///< by buffer
  std::unique_ptr<ReadQueue> queue_;
  ReadCounts counts_;
};

}  // namespace gnomon::runtime
