#include "kernels/cpu/features.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/process_memory.h"
#include "base/usable.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/huge_array.h"

namespace gnomon::kernels::cpu {
namespace {

/// Copied at a time before the source's pages are released, so that a mapped file and its copy are never both
/// resident.
constexpr std::size_t block_bytes = std::size_t{1} << 28;

void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t begin = 0; begin < bytes; begin += block_bytes) {
    const std::size_t size = std::min(block_bytes, bytes - begin);
    copy_on_all_cores(to + begin, from + begin, size);
    base::release_file_pages({from + begin, size});
  }
}

/// Returns a copy of the elements in `array`.
template <class T>
std::span<const T> copy_into(HugeArray<T>& array, std::span<const T> from) {
  array.reserve(from.size(), 0);
  copy(reinterpret_cast<std::byte*>(array.data()), reinterpret_cast<const std::byte*>(from.data()),
       from.size_bytes());
  return {array.data(), from.size()};
}

}  // namespace

bool can_copy_features(const graph::Graph& graph, std::int64_t others) {
  const std::int64_t bytes = graph.features.any() ? graph.features.bytes() : 0;
  return bytes > 0 && bytes <= (base::available_memory_bytes() - others) / 2;
}

graph::Graph with_copied_features(const graph::Graph& graph) {
  struct Storage {
    std::shared_ptr<const void> rest;
    HugeArray<std::byte> data;
    HugeArray<std::int64_t> indptr;
    HugeArray<std::int32_t> entry_columns;
  };
  auto storage = std::make_shared<Storage>();
  storage->rest = graph.storage;
  graph::Graph copied = graph;
  graph::Features& features = copied.features;
  if (features.data != nullptr) {
    features.data = copy_into(storage->data, graph.features.data_bytes()).data();
  }
  if (features.is_sparse()) {
    features.indptr = copy_into(storage->indptr, features.indptr);
    features.entry_columns = copy_into(storage->entry_columns, features.entry_columns);
  }
  copied.storage = std::move(storage);
  return copied;
}

}  // namespace gnomon::kernels::cpu
