#include "kernels/cpu/features.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/process_memory.h"
#include "base/usable.h"
#include "kernels/cpu/huge_array.h"

namespace gnomon::kernels::cpu {
namespace {

/// Below this, starting a thread costs more than it saves.
constexpr std::size_t min_bytes_per_thread = std::size_t{1} << 24;

std::size_t bytes_of(const graph::Features& features) {
  return features.data == nullptr ? 0 : static_cast<std::size_t>(features.rows * features.row_bytes());
}

/// Copied at a time before the source's pages are released, so that a mapped file and its copy are never both
/// resident.
constexpr std::size_t block_bytes = std::size_t{1} << 28;

void copy_block(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto cores = static_cast<std::size_t>(base::usable_cores());
  const std::size_t threads = std::clamp<std::size_t>(bytes / min_bytes_per_thread, 1, cores);
  const auto begin_of = [&](std::size_t thread) { return bytes / threads * thread; };
  std::vector<std::jthread> team;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const std::size_t begin = begin_of(thread);
    const std::size_t end = thread + 1 < threads ? begin_of(thread + 1) : bytes;
    team.emplace_back([=] { std::memcpy(to + begin, from + begin, end - begin); });
  }
}

void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t begin = 0; begin < bytes; begin += block_bytes) {
    const std::size_t size = std::min(block_bytes, bytes - begin);
    copy_block(to + begin, from + begin, size);
    base::release_file_pages({from + begin, size});
  }
}

}  // namespace

bool can_copy_features(const graph::Graph& graph) {
  const std::size_t bytes = bytes_of(graph.features);
  return bytes > 0 && static_cast<std::int64_t>(bytes) <= base::available_memory_bytes() / 2;
}

graph::Graph with_copied_features(const graph::Graph& graph) {
  struct Storage {
    std::shared_ptr<const void> rest;
    HugeArray<std::byte> features;
  };
  const std::size_t bytes = bytes_of(graph.features);
  auto storage = std::make_shared<Storage>();
  storage->rest = graph.storage;
  storage->features.reserve(bytes, 0);
  copy(storage->features.data(), graph.features.data, bytes);
  graph::Graph copied = graph;
  copied.features.data = storage->features.data();
  copied.storage = std::move(storage);
  return copied;
}

}  // namespace gnomon::kernels::cpu
