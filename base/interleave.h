#pragma once

#include <cstddef>
#include <memory>
#include <span>
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

/// Moves the pages that lie within `memory` to the given NUMA nodes in turn, whoever touched them; its bytes
/// stay as they are. An empty list changes nothing. Throws Failure if the system refuses.
void spread_pages(std::span<const std::byte> memory, const std::vector<int>& nodes);

/// Returns the NUMA nodes whose memory this process may use; one or none on a system without NUMA support.
std::vector<int> memory_nodes();

}  // namespace gnomon::base
