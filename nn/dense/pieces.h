#pragma once

#include <cstdint>
#include <functional>

/// Work cut into pieces of fixed size, each done by one thread, so that its bits do not depend on how many
/// threads there are. ATen's own split follows the number of threads.
namespace gnomon::nn {

/// Calls body(begin, length) for the pieces of [0, count), on up to at::get_num_threads() threads at once.
/// Inside, ATen and the libraries under it use one thread and record no gradients.
void for_each_piece(std::int64_t count, std::int64_t piece,
                    const std::function<void(std::int64_t begin, std::int64_t length)>& body);

/// Runs ATen on so many threads while it lives; for the thread that made it.
class AtenThreads {
 public:
  explicit AtenThreads(int threads);
  ~AtenThreads();
  AtenThreads(const AtenThreads&) = delete;
  AtenThreads& operator=(const AtenThreads&) = delete;

 private:
  int before_;
};

}  // namespace gnomon::nn
