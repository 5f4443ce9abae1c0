#pragma once

#include <cstdint>

namespace gnomon::runtime {

/// A read of whole blocks into a buffer, `within` bytes behind its begin.
struct BlockRead {
  int file = 0;  ///< position in the queue's list of descriptors
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  int buffer = 0;
  std::uint32_t within = 0;
};

/// The end of a read: the bytes that it brought, or a negative errno.
struct BlockReadEnd {
  int buffer = 0;
  std::int64_t result = 0;
};

/// Reads in flight, at most one a buffer. Reads end in any order; short reads and errors are the caller's to
/// handle. To be used by one thread at a time.
class ReadQueue {
 public:
  ReadQueue() = default;
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;
  /// Waits for the reads in flight.
  virtual ~ReadQueue() = default;

  /// Queues a read, which starts at the latest in the next wait().
  virtual void submit(const BlockRead& read) = 0;
  /// Waits until a read has ended. Precondition: one is in flight. Throws base::Failure if the system refuses
  /// to wait.
  virtual BlockReadEnd wait() = 0;
};

}  // namespace gnomon::runtime
