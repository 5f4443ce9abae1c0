#pragma once

#include <memory>
#include <vector>

namespace gnomon::base {

/// Sets the calling thread's memory policy to interleave over the given NUMA nodes, for the lifetime of the
/// object: pages that the thread touches first are placed on the nodes in turn. The destructor restores the
/// previous policy. An empty list changes nothing. Throws Failure if the system refuses.
class Interleave {
 public:
  explicit Interleave(const std::vector<int>& nodes);
  ~Interleave();
  Interleave(const Interleave&) = delete;
  Interleave& operator=(const Interleave&) = delete;

 private:
  struct Policy;
  std::unique_ptr<Policy> previous_;
};

/// Returns the NUMA nodes whose memory this process may use; one or none on a system without NUMA support.
std::vector<int> memory_nodes();

}  // namespace gnomon::base
