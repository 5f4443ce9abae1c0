#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "runtime/disk/read_buffers.h"
#include "runtime/disk/read_queue.h"

namespace gnomon::runtime {

/// Reads by threads that call pread(), at most 32 at a time.
class ThreadQueue final : public ReadQueue {
 public:
  /// `buffers` and the open descriptors must outlive it. Throws Failure if threads cannot be started.
  ThreadQueue(std::span<const int> descriptors, const ReadBuffers& buffers, int depth);
  ~ThreadQueue() override;

  void submit(const BlockRead& read) override;
  BlockReadEnd wait() override;

 private:
  void work();
  void close();
  BlockReadEnd carry_out(const BlockRead& read) const;

  std::vector<int> descriptors_;
  const ReadBuffers& buffers_;
  std::mutex mutex_;
  std::condition_variable has_read_, has_end_;
  std::deque<BlockRead> reads_;
  std::deque<BlockReadEnd> ends_;
  bool is_closing_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace gnomon::runtime
