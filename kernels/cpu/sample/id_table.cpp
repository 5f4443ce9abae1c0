#include "kernels/cpu/sample/id_table.h"

#include <limits>
#include <utility>

#include "base/error.h"

namespace gnomon::kernels::cpu {

std::int32_t IdTable::add(graph::VertexId vertex, std::size_t at) {
  if (size_ == std::numeric_limits<std::int32_t>::max()) {
    throw base::InputError(
        "fanouts", "a mini-batch has more than 2^31 - 1 vertices; use a smaller batch size or fanouts");
  }
  const std::int64_t local = size_++;
  slots_[at] = Slot{vertex, first_ + local};
  if (static_cast<std::size_t>(size_) * 2 > slots_.size()) {
    grow();
  }
  return static_cast<std::int32_t>(local);
}

void IdTable::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  --shift_;
  for (const Slot& slot : old) {
    if (slot.number >= first_) {
      std::size_t at = home(slot.vertex);
      while (slots_[at].number >= first_) {
        at = next(at);
      }
      slots_[at] = slot;
    }
  }
}

}  // namespace gnomon::kernels::cpu
