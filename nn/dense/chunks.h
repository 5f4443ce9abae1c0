#pragma once

#include <cstdint>
#include <functional>

/// Parallel loops over chunks of fixed size, each processed by one thread, so that the result's bits do not
/// depend on the number of threads. ATen's own splitting does depend on it.
namespace gnomon::nn {

/// The chunk size of loops over single elements: a multiple of kernels::dropout_block.
inline constexpr std::int64_t elements_per_chunk = 1 << 15;

/// Calls body(begin, length) for the chunks of [0, count), on up to at::get_num_threads() threads. Inside
/// `body`, ATen and the libraries below it use one thread, and gradients are not recorded.
void for_each_chunk(std::int64_t count, std::int64_t chunk_size,
                    const std::function<void(std::int64_t begin, std::int64_t length)>& body);

/// Guard that sets ATen's number of threads for the calling thread. The destructor restores the previous one.
class AtenThreadsGuard {
 public:
  explicit AtenThreadsGuard(int threads);
  ~AtenThreadsGuard();
  AtenThreadsGuard(const AtenThreadsGuard&) = delete;
  AtenThreadsGuard& operator=(const AtenThreadsGuard&) = delete;

 private:
  int previous_;
};

}  // namespace gnomon::nn
