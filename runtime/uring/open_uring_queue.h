#pragma once

#include <memory>
#include <span>

#include "runtime/disk/read_buffers.h"
#include "runtime/disk/read_queue.h"

namespace gnomon::runtime {

/// Opens a queue that reads by io_uring, whose files and buffers are registered with the kernel as far as it
/// allows. Null if this build or the kernel does not support io_uring, or a seccomp filter forbids it.
/// `buffers` and the open descriptors must outlive the queue.
std::unique_ptr<ReadQueue> open_uring_queue(std::span<const int> descriptors, const ReadBuffers& buffers,
                                            int depth);

}  // namespace gnomon::runtime
