#include "runtime/emulated/zero_copy_reads.h"

#include <algorithm>
#include <bit>

namespace gnomon::runtime::emulated {
namespace {

/// Bytes that a warp reads at once: 32 threads, 4 bytes each.
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

ZeroCopyReads* Coalescer::reads_of(const void* address) {
  return mapped_.contains(address) ? &reads_.host : peers_.contains(address) ? &reads_.peers : nullptr;
}

void Coalescer::read(const void* address, std::int64_t bytes) {
  if (bytes <= 0) {
    return;
  }
  if (auto* reads = reads_of(address)) {
    read_lines(number_of(address), number_of(address) + static_cast<std::uintptr_t>(bytes), *reads);
  }
}

void Coalescer::read_row(const void* address, std::int64_t bytes, kernels::device::Reads reads) {
  auto* of_memory = bytes <= 0 ? nullptr : reads_of(address);
  if (of_memory == nullptr) {
    return;
  }
  const std::uintptr_t begin = number_of(address);
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(bytes);
  if (reads == kernels::device::Reads::shifted) {
    flush();  // rows are of different warps
    read_lines(begin, end, *of_memory);
    return;
  }
  for (std::uintptr_t part = begin; part < end; part += warp_bytes) {
    flush();
    read_lines(part, std::min(part + warp_bytes, end), *of_memory);
  }
}

void Coalescer::read_lines(std::uintptr_t begin, std::uintptr_t end, ZeroCopyReads& reads) {
  for (std::uintptr_t sector = begin / sector_bytes; sector * sector_bytes < end; ++sector) {
    const std::uintptr_t line = sector * sector_bytes / line_bytes_;
    if (sectors_ != 0 && (line != line_ || &reads != line_reads_)) {
      flush();
    }
    line_ = line;
    line_reads_ = &reads;
    sectors_ |= 1U << (sector % (line_bytes_ / sector_bytes));
  }
}

void Coalescer::flush() {
  if (sectors_ != 0) {
    ++line_reads_->requests;
    line_reads_->bytes += static_cast<std::int64_t>(sector_bytes) * std::popcount(sectors_);
    sectors_ = 0;
  }
}

LinkReads Coalescer::finish() {
  flush();
  return reads_;
}

}  // namespace gnomon::runtime::emulated
