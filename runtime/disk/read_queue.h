#pragma once

#include <cstdint>

namespace gnomon::runtime {

/// A read of whole blocks into a buffer, at offset `within`.
struct BlockRead {
  int file = 0;  ///< position in the queue's list of descriptors
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  int buffer = 0;
  std::uint32_t within = 0;
};

/// The completion of a read: the number of bytes, or a negative errno.
struct BlockReadEnd {
  int buffer = 0;
  std::int64_t result = 0;
};

/// A queue of asynchronous reads, at most one per buffer. Reads complete in any order; the caller handles
/// short reads and errors. Not thread-safe.
class ReadQueue {
 public:
  ReadQueue() = default;
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;
  /// Waits for the reads in flight.
  virtual ~ReadQueue() = default;

  /// Queues a read, which starts at the latest in the next wait().
  virtual void submit(const BlockRead& read) = 0;
  /// Waits until a read has completed. Precondition: one is in flight. Throws base::Failure if waiting fails.
  virtual BlockReadEnd wait() = 0;
};

}  // namespace gnomon::runtime
