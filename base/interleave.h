#pragma once

#include <memory>
#include <vector>

namespace gnomon::base {

/// While it lives, pages that the calling thread is the first to touch are spread over these nodes of memory
/// (NUMA), page by page; then the thread's way of before holds again. Does nothing without nodes. Throws
/// Failure when the system refuses.
class Interleave {
 public:
  explicit Interleave(const std::vector<int>& nodes);
  ~Interleave();
  Interleave(const Interleave&) = delete;
  Interleave& operator=(const Interleave&) = delete;

 private:
  struct Policy;
  std::unique_ptr<Policy> before_;
};

/// The nodes that have memory which this process may use; one or none where the system knows no nodes.
std::vector<int> memory_nodes();

}  // namespace gnomon::base
