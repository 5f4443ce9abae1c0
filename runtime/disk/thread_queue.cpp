#include "runtime/disk/thread_queue.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/error.h"

namespace gnomon::runtime {

ThreadQueue::ThreadQueue(std::span<const int> descriptors, const ReadBuffers& buffers, int depth)
    : descriptors_(descriptors.begin(), descriptors.end()), buffers_(buffers) {
  constexpr int max_threads = 32;
  try {
    for (int thread = 0; thread < std::clamp(depth, 1, max_threads); ++thread) {
      threads_.emplace_back([this] { work(); });
    }
  } catch (const std::exception& error) {
    close();
    throw base::Failure("disk reads", std::string("cannot start threads: ") + error.what());
  }
}

ThreadQueue::~ThreadQueue() { close(); }

/// Lets the threads end, which otherwise wait for reads; they are joined by their destructors.
void ThreadQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  has_read_.notify_all();
}

void ThreadQueue::submit(const BlockRead& read) {
  {
    const std::lock_guard lock(mutex_);
    reads_.push_back(read);
  }
  has_read_.notify_one();
}

BlockReadEnd ThreadQueue::wait() {
  std::unique_lock lock(mutex_);
  has_end_.wait(lock, [this] { return !ends_.empty(); });
  const BlockReadEnd end = ends_.front();
  ends_.pop_front();
  return end;
}

void ThreadQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    has_read_.wait(lock, [this] { return is_closing_ || !reads_.empty(); });
    if (reads_.empty()) {
      return;
    }
    const BlockRead read = reads_.front();
    reads_.pop_front();
    lock.unlock();
    const BlockReadEnd end = carry_out(read);
    lock.lock();
    ends_.push_back(end);
    has_end_.notify_one();
  }
}

BlockReadEnd ThreadQueue::carry_out(const BlockRead& read) const {
  const int descriptor = descriptors_[static_cast<std::size_t>(read.file)];
  const ssize_t result =
      ::pread(descriptor, buffers_[read.buffer] + read.within, read.bytes, static_cast<off_t>(read.offset));
  return {read.buffer, result < 0 ? -errno : result};
}

}  // namespace gnomon::runtime
