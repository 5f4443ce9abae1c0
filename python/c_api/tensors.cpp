#include "python/c_api/tensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "kernels/cpu/huge_array.h"

namespace gnomon::c_api {
namespace {

/// Blocks of at least this size are mapped individually, or lent (gnomon_loader_lend).
constexpr std::size_t min_mapped_bytes = std::size_t{1} << 16;
constexpr std::size_t line_bytes = 64;

/// Rounds up so that tensors whose sizes differ little from batch to batch can use the same block.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max(line_bytes, std::bit_floor(std::max<std::size_t>(bytes, 1)) / 4);
  return (std::max<std::size_t>(bytes, 1) + step - 1) / step * step;
}

/// A tensor and the memory that it points to.
struct Owner {
  gnomon_dl_managed managed{};
  std::vector<std::int64_t> shape;
  Memory memory;
  std::shared_ptr<MemoryPool> pool;
};

extern "C" void delete_tensor(gnomon_dl_managed* tensor) {
  const std::unique_ptr<Owner> owner(static_cast<Owner*>(tensor->manager));
  owner->pool->give_back(std::move(owner->memory));
}

constexpr std::array<std::pair<graph::FeatureType, gnomon_dl_type>, 3> feature_types{
    {{graph::FeatureType::fp32, float_type},
     {graph::FeatureType::fp16, {2, 16, 1}},
     {graph::FeatureType::bf16, {4, 16, 1}}}};

}  // namespace

gnomon_dl_type data_type(graph::FeatureType type) {
  return std::find_if(feature_types.begin(), feature_types.end(),
                      [&](const auto& each) { return each.first == type; })
      ->second;
}

std::optional<graph::FeatureType> feature_type(const gnomon_dl_type& type) {
  for (const auto& [features, tensors] : feature_types) {
    if (type.code == tensors.code && type.bits == tensors.bits && type.lanes == tensors.lanes) {
      return features;
    }
  }
  return std::nullopt;
}

Memory::Memory(std::size_t bytes, const gnomon_page_lock& lock) : bytes_(rounded(bytes)) {
  if (bytes_ >= min_mapped_bytes) {
    kernels::cpu::HugeMemory mapped = kernels::cpu::allocate_huge(bytes_);
    const auto release = mapped.get_deleter();
    data_ = std::shared_ptr<std::byte>(mapped.release(), release);
    if (lock.lock != nullptr && lock.lock(data_.get(), bytes_, lock.flags) == 0) {
      data_ = std::shared_ptr<std::byte>(
          data_.get(), [mapping = data_, unlock = lock.unlock](std::byte* memory) { unlock(memory); });
    }
  } else {
    data_ = std::shared_ptr<std::byte>(
        new (std::align_val_t{line_bytes}) std::byte[bytes_],
        [](std::byte* memory) { ::operator delete[](memory, std::align_val_t{line_bytes}); });
  }
}

Memory Memory::lent(std::byte* memory, std::size_t bytes) {
  Memory result;
  result.data_ = std::shared_ptr<std::byte>(memory, [](std::byte*) {});
  result.bytes_ = bytes;
  result.is_lent_ = true;
  return result;
}

std::optional<Memory> MemoryPool::taken_from(BySize& blocks, std::size_t bytes) {
  const auto found = blocks.lower_bound(bytes);
  if (found == blocks.end() || found->first > 2 * bytes) {
    return std::nullopt;
  }
  return std::move(blocks.extract(found).mapped());
}

Memory MemoryPool::take(std::size_t bytes) {
  const std::size_t needed = rounded(bytes);
  gnomon_page_lock page_lock;
  {
    const std::lock_guard lock(mutex_);
    page_lock = lock_;
    if (bytes >= min_mapped_bytes) {
      if (auto lent = taken_from(lent_, needed)) {
        return *std::move(lent);
      }
    }
    if (auto kept = taken_from(kept_, needed)) {
      return *std::move(kept);
    }
  }
  return Memory(bytes, page_lock);
}

void MemoryPool::lend(void* memory, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(memory) % line_bytes != 0) {
    throw base::InputError("memory", "is not aligned to 64 bytes");
  }
  const std::lock_guard lock(mutex_);
  lent_.emplace(bytes, Memory::lent(static_cast<std::byte*>(memory), bytes));
}

void MemoryPool::lock_pages(const gnomon_page_lock& page_lock) {
  const std::lock_guard lock(mutex_);
  lock_ = page_lock;
  kept_.clear();
}

void MemoryPool::give_back(Memory memory) {
  if (!process_.is_current()) {  // another thread may have held the mutex at the fork
    return;
  }
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = memory.bytes();
  if (memory.is_lent()) {
    lent_.emplace(bytes, std::move(memory));
    return;
  }
  if (kept_.size() >= max_kept_) {
    kept_.erase(kept_.begin());
  }
  kept_.emplace(bytes, std::move(memory));
}

std::int64_t num_elements(std::span<const std::int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Tensor make_tensor(const std::shared_ptr<MemoryPool>& pool, gnomon_dl_type type,
                   std::span<const std::int64_t> shape) {
  auto owner = std::make_unique<Owner>();
  owner->shape.assign(shape.begin(), shape.end());
  owner->pool = pool;
  owner->memory = pool->take(static_cast<std::size_t>(num_elements(shape) * bytes_of(type)));
  constexpr std::int32_t cpu = 1;
  owner->managed.tensor = {owner->memory.data(),
                           {cpu, 0},
                           static_cast<std::int32_t>(shape.size()),
                           type,
                           owner->shape.data(),
                           nullptr,
                           0};
  owner->managed.deleter = delete_tensor;
  owner->managed.manager = owner.get();
  return Tensor(&owner.release()->managed);
}

void detach(gnomon_dl_managed* tensor) {
  const std::unique_ptr<Owner> owner(static_cast<Owner*>(tensor->manager));
}

}  // namespace gnomon::c_api
