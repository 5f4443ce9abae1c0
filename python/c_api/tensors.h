#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "graph/graph.h"
#include "python/c_api/gnomon.h"
#include "python/c_api/status.h"

namespace gnomon::c_api {

/// The memory of a tensor, on huge pages if it is large.
class Memory {
 public:
  Memory() = default;
  /// Large memory is page-locked during its lifetime, if `lock` succeeds. Throws std::bad_alloc.
  explicit Memory(std::size_t bytes, const gnomon_page_lock& lock = {});
  /// Memory of the caller, which must outlive this.
  static Memory lent(std::byte* memory, std::size_t bytes);
  std::byte* data() const { return data_.get(); }
  std::size_t bytes() const { return bytes_; }
  bool is_lent() const { return is_lent_; }

 private:
  std::shared_ptr<std::byte> data_;
  std::size_t bytes_ = 0;
  bool is_lent_ = false;
};

/// Reuses the memory of deleted tensors for new ones, which saves mapping pages again. Thread-safe; in a
/// forked child it frees memory instead of keeping it.
class MemoryPool {
 public:
  /// Keeps at most `max_kept` blocks.
  explicit MemoryPool(std::size_t max_kept) : max_kept_(max_kept) {}
  Memory take(std::size_t bytes);
  void give_back(Memory memory);
  /// Page-locks the memory of all tensors made from now on.
  void lock_pages(const gnomon_page_lock& lock);
  /// Lends memory of the caller to large tensors, one at a time. Throws InputError if it is not aligned to 64
  /// bytes.
  void lend(void* memory, std::size_t bytes);

 private:
  using BySize = std::multimap<std::size_t, Memory>;
  /// Removes the smallest block of at least `bytes`; a much larger one is left to a larger tensor.
  static std::optional<Memory> taken_from(BySize& blocks, std::size_t bytes);

  const OwnProcess process_;
  const std::size_t max_kept_;
  std::mutex mutex_;
  gnomon_page_lock lock_{};
  BySize kept_;
  BySize lent_;
};

struct TensorDelete {
  void operator()(gnomon_dl_managed* tensor) const { tensor->deleter(tensor); }
};
/// A tensor that owns its memory.
using Tensor = std::unique_ptr<gnomon_dl_managed, TensorDelete>;

inline constexpr gnomon_dl_type int64_type{0, 64, 1};
inline constexpr gnomon_dl_type float_type{2, 32, 1};

/// Convert between the element types of features and of tensors. feature_type() returns none for other types.
gnomon_dl_type data_type(graph::FeatureType type);
std::optional<graph::FeatureType> feature_type(const gnomon_dl_type& type);

/// Returns the number of elements.
std::int64_t num_elements(std::span<const std::int64_t> shape);

/// Returns the bytes of an element.
inline std::int64_t bytes_of(const gnomon_dl_type& type) { return type.bits / 8 * type.lanes; }

/// Returns an uninitialised tensor. Its memory returns to the pool when its deleter is called, by any thread.
Tensor make_tensor(const std::shared_ptr<MemoryPool>& pool, gnomon_dl_type type,
                   std::span<const std::int64_t> shape);

/// Deletes a tensor that make_tensor() made, without giving its memory back to the pool.
void detach(gnomon_dl_managed* tensor);

inline std::int64_t* int64_data(const Tensor& tensor) {
  return static_cast<std::int64_t*>(tensor->tensor.data);
}

}  // namespace gnomon::c_api
