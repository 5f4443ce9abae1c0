#include "base/interleave.h"

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"

namespace gnomon::base {
namespace {

/// A set of NUMA nodes as the kernel takes it: of at least as many as it can be built for.
class NodeMask {
 public:
  void add(int node) { words_.at(static_cast<std::size_t>(node) / word_bits) |= 1UL << node % word_bits; }
  bool has(int node) const {
    return (words_[static_cast<std::size_t>(node) / word_bits] >> node % word_bits & 1U) != 0;
  }
  unsigned long* words() { return words_.data(); }
  const unsigned long* words() const { return words_.data(); }
  /// The kernel reads one bit less than it is told.
  static constexpr unsigned long bits() { return max_nodes + 1; }
  static constexpr int max_nodes = 1024;

 private:
  static constexpr int word_bits = std::numeric_limits<unsigned long>::digits;
  std::array<unsigned long, max_nodes / word_bits> words_{};
};

NodeMask mask_of(const std::vector<int>& nodes) {
  NodeMask mask;
  for (const int node : nodes) {
    mask.add(node);
  }
  return mask;
}

/// `call` is a system call's result.
void check(long call) {
  if (call != 0) {
    throw Failure("placement", std::string("cannot interleave memory: ") + std::strerror(errno));
  }
}

long set_policy(int mode, const NodeMask* mask) {
  return ::syscall(SYS_set_mempolicy, mode, mask == nullptr ? nullptr : mask->words(),
                   mask == nullptr ? 0UL : NodeMask::bits());
}

}  // namespace

struct Interleave::Policy {
  int mode = MPOL_DEFAULT;
  NodeMask mask;
};

Interleave::Interleave(const std::vector<int>& nodes) {
  if (nodes.empty()) {
    return;
  }
  auto previous = std::make_unique<Policy>();
  check(
      ::syscall(SYS_get_mempolicy, &previous->mode, previous->mask.words(), NodeMask::bits(), nullptr, 0UL));
  const NodeMask mask = mask_of(nodes);
  check(set_policy(MPOL_INTERLEAVE, &mask));
  previous_ = std::move(previous);
}

Interleave::~Interleave() {
  if (previous_) {
    set_policy(previous_->mode, previous_->mode == MPOL_DEFAULT ? nullptr : &previous_->mask);
  }
}

void spread_pages(std::span<const std::byte> memory, const std::vector<int>& nodes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + memory.size()) / page * page;
  if (nodes.empty() || begin >= end) {
    return;
  }
  const NodeMask mask = mask_of(nodes);
  check(::syscall(SYS_mbind, begin, end - begin, MPOL_INTERLEAVE, mask.words(), NodeMask::bits(),
                  MPOL_MF_MOVE));
}

std::vector<int> memory_nodes() {
  std::vector<int> nodes;
  NodeMask allowed;
  if (::syscall(SYS_get_mempolicy, nullptr, allowed.words(), NodeMask::bits(), nullptr,
                static_cast<unsigned long>(MPOL_F_MEMS_ALLOWED)) != 0) {
    return nodes;  // a kernel without NUMA support
  }
  for (int node = 0; node < NodeMask::max_nodes; ++node) {
    if (allowed.has(node)) {
      nodes.push_back(node);
    }
  }
  return nodes;
}

}  // namespace gnomon::base
