#include "runtime/uring/open_uring_queue.h"

#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"

namespace gnomon::runtime {
namespace {

class UringQueue final : public ReadQueue {
 public:
  UringQueue(std::span<const int> descriptors, const ReadBuffers& buffers, int depth)
      : descriptors_(descriptors.begin(), descriptors.end()), buffers_(buffers), depth_(depth) {
    is_open_ = ::io_uring_queue_init(static_cast<unsigned>(depth), &ring_, 0) == 0;
    if (is_open_) {
      has_files_ = ::io_uring_register_files(&ring_, descriptors_.data(),
                                             static_cast<unsigned>(descriptors_.size())) == 0;
      const iovec all{buffers.all().data(), buffers.all().size()};
      has_buffers_ = ::io_uring_register_buffers(&ring_, &all, 1) == 0;
    }
  }

  ~UringQueue() override {
    while (is_open_ && in_flight_ > 0) {
      try {
        wait();
      } catch (const base::Failure&) {
        break;  // closing the ring cancels the remaining reads
      }
    }
    if (is_open_) {
      ::io_uring_queue_exit(&ring_);
    }
  }

  bool is_open() const { return is_open_; }

  void submit(const BlockRead& read) override {
    io_uring_sqe* entry = ::io_uring_get_sqe(&ring_);  // never null: there is one entry per buffer
    const auto file = static_cast<std::size_t>(read.file);
    const int descriptor = has_files_ ? read.file : descriptors_[file];
    std::byte* to = buffers_[read.buffer] + read.within;
    if (has_buffers_) {
      ::io_uring_prep_read_fixed(entry, descriptor, to, read.bytes, read.offset, 0);
    } else {
      ::io_uring_prep_read(entry, descriptor, to, read.bytes, read.offset);
    }
    if (has_files_) {
      entry->flags |= IOSQE_FIXED_FILE;
    }
    entry->user_data = static_cast<std::uint64_t>(read.buffer);
    ++in_flight_;
    ++not_submitted_;
  }

  /// Completed reads are consumed before new ones are submitted, which saves system calls, unless too few
  /// would be in flight.
  BlockReadEnd wait() override {
    io_uring_cqe* ended = nullptr;
    const bool is_deep = 4 * not_submitted_ < depth_;
    while (!(is_deep && ::io_uring_peek_cqe(&ring_, &ended) == 0)) {
      const int result = ::io_uring_submit_and_wait(&ring_, 1);
      if (result < 0 && result != -EINTR && result != -EAGAIN && result != -EBUSY) {
        throw base::Failure("io_uring", std::string("cannot wait for reads: ") + std::strerror(-result));
      }
      not_submitted_ -= std::max(0, result);
      if (::io_uring_peek_cqe(&ring_, &ended) == 0) {
        break;
      }
    }
    const BlockReadEnd end{static_cast<int>(ended->user_data), ended->res};
    ::io_uring_cqe_seen(&ring_, ended);
    --in_flight_;
    return end;
  }

 private:
  std::vector<int> descriptors_;
  const ReadBuffers& buffers_;
  int depth_;
  io_uring ring_{};
  bool is_open_ = false;
  bool has_files_ = false;
  bool has_buffers_ = false;
  int in_flight_ = 0;
  int not_submitted_ = 0;
};

}  // namespace

std::unique_ptr<ReadQueue> open_uring_queue(std::span<const int> descriptors, const ReadBuffers& buffers,
                                            int depth) {
  auto queue = std::make_unique<UringQueue>(descriptors, buffers, depth);
  return queue->is_open() ? std::move(queue) : nullptr;
}

}  // namespace gnomon::runtime
