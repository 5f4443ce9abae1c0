#include "base/interleave.h"

#include <numa.h>
#include <numaif.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace gnomon::base {
namespace {

struct FreeMask {
  void operator()(bitmask* mask) const { ::numa_bitmask_free(mask); }
};
using Mask = std::unique_ptr<bitmask, FreeMask>;

void set_policy(int mode, const bitmask* mask) {
  // The kernel reads one bit less than its argument says.
  if (::set_mempolicy(mode, mask == nullptr ? nullptr : mask->maskp, mask == nullptr ? 0 : mask->size + 1) !=
      0) {
    throw Failure("placement", std::string("cannot interleave memory: ") + std::strerror(errno));
  }
}

}  // namespace

struct Interleave::Policy {
  int mode = MPOL_DEFAULT;
  Mask mask{::numa_allocate_nodemask()};
};

Interleave::Interleave(const std::vector<int>& nodes) {
  if (nodes.empty()) {
    return;
  }
  auto previous = std::make_unique<Policy>();
  if (::get_mempolicy(&previous->mode, previous->mask->maskp, previous->mask->size + 1, nullptr, 0) != 0) {
    throw Failure("placement", std::string("cannot interleave memory: ") + std::strerror(errno));
  }
  const Mask mask(::numa_allocate_nodemask());
  for (const int node : nodes) {
    ::numa_bitmask_setbit(mask.get(), static_cast<unsigned>(node));
  }
  set_policy(MPOL_INTERLEAVE, mask.get());
  previous_ = std::move(previous);
}

Interleave::~Interleave() {
  if (previous_) {
    const bool has_nodes = previous_->mode != MPOL_DEFAULT;
    ::set_mempolicy(previous_->mode, has_nodes ? previous_->mask->maskp : nullptr,
                    has_nodes ? previous_->mask->size + 1 : 0);
  }
}

std::vector<int> memory_nodes() {
  std::vector<int> nodes;
  if (::numa_available() < 0) {
    return nodes;
  }
  const Mask allowed(::numa_get_mems_allowed());
  for (unsigned node = 0; node < allowed->size; ++node) {
    if (::numa_bitmask_isbitset(allowed.get(), node) != 0) {
      nodes.push_back(static_cast<int>(node));
    }
  }
  return nodes;
}

}  // namespace gnomon::base
