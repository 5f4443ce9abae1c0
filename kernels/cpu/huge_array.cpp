#include "kernels/cpu/huge_array.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace gnomon::kernels::cpu {

namespace {
constexpr std::size_t huge_page_bytes = std::size_t{1} << 21;
constexpr std::size_t page_bytes = std::size_t{1} << 12;
}  // namespace

HugeMemory allocate_huge(std::size_t bytes) {
  const std::size_t page = bytes >= huge_page_bytes / 2 ? huge_page_bytes : page_bytes;
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  // mmap aligns to small pages only: map one huge page more and unmap the two ends.
  const std::size_t mapped = rounded + page - page_bytes;
  void* memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  auto* first = static_cast<std::byte*>(memory);
  const std::size_t head = (page - reinterpret_cast<std::uintptr_t>(first) % page) % page;
  if (head > 0) {
    ::munmap(first, head);
  }
  if (const std::size_t tail = mapped - head - rounded; tail > 0) {
    ::munmap(first + head + rounded, tail);
  }
  if (page == huge_page_bytes) {
    ::madvise(first + head, rounded, MADV_HUGEPAGE);  // on failure the memory has small pages
  }
  return HugeMemory(first + head, HugeRelease{rounded});
}

void HugeRelease::operator()(std::byte* memory) const { ::munmap(memory, bytes); }

}  // namespace gnomon::kernels::cpu
