#include "runtime/emulated/zero_copy_reads.h"

#include <algorithm>
#include <bit>

namespace gnomon::runtime::emulated {
namespace {

/// What the 32 threads of a warp read at once, 4 bytes each.
constexpr std::uintptr_t warp_bytes = 128;
constexpr std::uintptr_t sector_bytes = 32;

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

void MappedRanges::add(const void* data, std::size_t bytes) {
  ranges_.push_back({number_of(data), number_of(data) + bytes});
}

void MappedRanges::remove(const void* data) {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(),
                                  [&](const Range& range) { return range.begin == number_of(data); });
  if (found != ranges_.end()) {
    ranges_.erase(found);
  }
}

bool MappedRanges::contains(const void* address) const {
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return range.begin <= number_of(address) && number_of(address) < range.end;
  });
}

void Coalescer::read(const void* address, std::int64_t bytes) {
  if (bytes > 0 && mapped_.contains(address)) {
    read_lines(number_of(address), number_of(address) + static_cast<std::uintptr_t>(bytes));
  }
}

void Coalescer::read_row(const void* address, std::int64_t bytes, kernels::device::Reads reads) {
  if (bytes <= 0 || !mapped_.contains(address)) {
    return;
  }
  const std::uintptr_t begin = number_of(address);
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(bytes);
  if (reads == kernels::device::Reads::shifted) {
    flush();  // rows are of different warps
    read_lines(begin, end);
    return;
  }
  for (std::uintptr_t part = begin; part < end; part += warp_bytes) {
    flush();
    read_lines(part, std::min(part + warp_bytes, end));
  }
}

void Coalescer::read_lines(std::uintptr_t begin, std::uintptr_t end) {
  for (std::uintptr_t sector = begin / sector_bytes; sector * sector_bytes < end; ++sector) {
    const std::uintptr_t line = sector * sector_bytes / line_bytes_;
    if (sectors_ != 0 && line != line_) {
      flush();
    }
    line_ = line;
    sectors_ |= 1U << (sector % (line_bytes_ / sector_bytes));
  }
}

void Coalescer::flush() {
  if (sectors_ != 0) {
    ++reads_.requests;
    reads_.bytes += static_cast<std::int64_t>(sector_bytes) * std::popcount(sectors_);
    sectors_ = 0;
  }
}

ZeroCopyReads Coalescer::finish() {
  flush();
  return reads_;
}

}  // namespace gnomon::runtime::emulated
