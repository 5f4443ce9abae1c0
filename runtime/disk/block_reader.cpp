#include "runtime/disk/block_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "runtime/disk/thread_queue.h"
#include "runtime/uring/open_uring_queue.h"

namespace gnomon::runtime {
namespace {

std::uint64_t round_down(std::uint64_t bytes, std::uint64_t block) { return bytes / block * block; }
std::uint64_t round_up(std::uint64_t bytes, std::uint64_t block) {
  return round_down(bytes + block - 1, block);
}

std::vector<int> descriptors_of(const std::vector<std::shared_ptr<const DirectFile>>& files) {
  std::vector<int> descriptors;
  for (const auto& file : files) {
    descriptors.push_back(file->descriptor());
  }
  return descriptors;
}

std::unique_ptr<ReadQueue> open_queue(const std::vector<int>& descriptors, const ReadBuffers& buffers,
                                      const ReaderOptions& options) {
  if (options.open) {
    return options.open(descriptors, buffers, options.depth);
  }
  if (options.backend != ReadBackend::threads) {
    if (auto queue = open_uring_queue(descriptors, buffers, options.depth)) {
      return queue;
    }
    if (options.backend == ReadBackend::io_uring) {
      throw base::Failure("io_uring", "this system or this build does not have it");
    }
  }
  return std::make_unique<ThreadQueue>(descriptors, buffers, options.depth);
}

}  // namespace

bool has_io_uring() {
  const ReadBuffers buffer(1, DirectFile::memory_alignment);
  return open_uring_queue({}, buffer, 1) != nullptr;
}

BlockReader::BlockReader(std::vector<std::shared_ptr<const DirectFile>> files, const ReaderOptions& options)
    : files_(std::move(files)),
      options_(options),
      buffers_(options.depth, options.buffer_bytes),
      requests_(static_cast<std::size_t>(options.depth)),
      queue_(open_queue(descriptors_of(files_), buffers_, options)) {}

/// The longest read from the cursor on that fits into a buffer and has no gap above the maximum.
BlockReader::Request BlockReader::next_request(std::span<const Extent> extents, Cursor& cursor) const {
  Request request;
  request.first = cursor.extent;
  request.file = extents[cursor.extent].file;
  const std::uint64_t block_bytes = files_[request.file]->block_bytes();
  request.wanted_begin = request.wanted_end = extents[cursor.extent].offset + cursor.from;
  request.begin = round_down(request.wanted_begin, block_bytes);
  const std::uint64_t limit = request.begin + options_.buffer_bytes;
  while (cursor.extent < extents.size()) {
    const Extent& extent = extents[cursor.extent];
    const std::uint64_t offset = extent.offset + cursor.from;
    const bool is_near =
        round_down(offset, block_bytes) <= round_up(request.wanted_end, block_bytes) + options_.max_gap_bytes;
    if (extent.file != request.file || offset >= limit || !is_near) {
      break;
    }
    request.last = cursor.extent;
    request.wanted_end = std::min(extent.offset + extent.bytes, limit);
    if (request.wanted_end < extent.offset + extent.bytes) {
      cursor.from = request.wanted_end - extent.offset;
      break;
    }
    ++cursor.extent;
    cursor.from = 0;
  }
  request.end = round_up(request.wanted_end, block_bytes);
  return request;
}

void BlockReader::submit(int buffer) {
  const Request& request = requests_[static_cast<std::size_t>(buffer)];
  queue_->submit({static_cast<int>(request.file), request.begin + request.done,
                  static_cast<std::uint32_t>(request.end - request.begin - request.done), buffer,
                  static_cast<std::uint32_t>(request.done)});
}

/// Whether the buffer's request is complete; otherwise it must be resubmitted.
bool BlockReader::take(const BlockReadEnd& end) {
  Request& request = requests_[static_cast<std::size_t>(end.buffer)];
  const DirectFile& file = *files_[request.file];
  const std::uint64_t offset = request.begin + request.done;
  const std::string where = file.path().string();
  if (end.result == -EINTR || end.result == -EAGAIN) {
    return false;
  }
  if (end.result < 0) {
    throw base::Failure(where, "cannot read " + std::to_string(request.end - offset) + " bytes at offset " +
                                   std::to_string(offset) + ": " +
                                   std::strerror(static_cast<int>(-end.result)));
  }
  ++counts_.reads;
  counts_.bytes += end.result;
  const std::uint64_t reached = offset + static_cast<std::uint64_t>(end.result);
  if (reached >= request.wanted_end) {
    return true;
  }
  // The next read starts at a block boundary. If the file ends within this block, it makes no progress.
  const std::uint64_t next = round_down(reached, file.block_bytes());
  if (next <= offset) {
    throw base::Failure(where, "ends at byte " + std::to_string(file.size_now()) + "; " +
                                   std::to_string(request.wanted_end - request.wanted_begin) +
                                   " bytes at offset " + std::to_string(request.wanted_begin) +
                                   " are to be read: the file was changed");
  }
  request.done = next - request.begin;
  return false;
}

void BlockReader::deliver(std::span<const Extent> extents, int buffer, const Arrived& arrived) const {
  const Request& request = requests_[static_cast<std::size_t>(buffer)];
  for (std::size_t i = request.first; i <= request.last; ++i) {
    const Extent& extent = extents[i];
    const std::uint64_t begin = std::max(extent.offset, request.wanted_begin);
    const std::uint64_t end = std::min(extent.offset + extent.bytes, request.wanted_end);
    arrived(i, begin - extent.offset, {buffers_[buffer] + (begin - request.begin), end - begin});
  }
}

/// Waits for reads whose results are discarded.
void BlockReader::drain(int in_flight) {
  for (; in_flight > 0; --in_flight) {
    queue_->wait();
  }
}

void BlockReader::read(std::span<const Extent> extents, const Arrived& arrived) {
  Cursor cursor;
  int in_flight = 0;
  const auto start = [&](int buffer) {
    requests_[static_cast<std::size_t>(buffer)] = next_request(extents, cursor);
    submit(buffer);
    ++in_flight;
  };
  try {
    while (in_flight < options_.depth && cursor.extent < extents.size()) {
      start(in_flight);
    }
    while (in_flight > 0) {
      const BlockReadEnd end = queue_->wait();
      --in_flight;
      if (!take(end)) {
        submit(end.buffer);
        ++in_flight;
        continue;
      }
      deliver(extents, end.buffer, arrived);
      if (cursor.extent < extents.size()) {
        start(end.buffer);
      }
    }
  } catch (...) {
    drain(in_flight);
    throw;
  }
}

}  // namespace gnomon::runtime
