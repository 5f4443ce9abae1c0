#include "kernels/cpu/sample/hop.h"

#include <limits>

#include "base/error.h"
#include "kernels/cpu/sample/split.h"
#include "kernels/headroom.h"

// Compiled once for each instruction set by Google Highway, which chooses the best one at run time. SSSE3 and
// SSE4 are disabled: without AVX2 the scalar code is used.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sample/hop.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/sample/hop-inl.h"
#include "kernels/cpu/sample/split-inl.h"

#if HWY_ONCE
namespace gnomon::kernels::cpu {

HWY_EXPORT(clear_table_with);
HWY_EXPORT(end_batch_with);
HWY_EXPORT(add_seeds_with);
HWY_EXPORT(sample_hop_with);
HWY_EXPORT(draw_part_with);
HWY_EXPORT(number_part_with);

void clear_table(SlotTable& table, std::int64_t members) {
  HWY_DYNAMIC_DISPATCH(clear_table_with)(table, members);
}

void end_batch(Workspace& work) { HWY_DYNAMIC_DISPATCH(end_batch_with)(work); }

std::size_t add_seeds(const std::int64_t* seeds, std::size_t count, Workspace& work) {
  return HWY_DYNAMIC_DISPATCH(add_seeds_with)(seeds, count, work);
}

void sample_hop(const HopRequest& hop, Workspace& work, Block& block) {
  HWY_DYNAMIC_DISPATCH(sample_hop_with)(hop, work, block);
}

void draw_part(const HopRequest& hop, const HugeArray<std::uint32_t>& vertices, Part& part,
               std::int64_t* ends) {
  HWY_DYNAMIC_DISPATCH(draw_part_with)(hop, vertices, part, ends);
}

void number_part(std::span<Part> parts, std::size_t own) {
  HWY_DYNAMIC_DISPATCH(number_part_with)(parts, own);
}

void begin_block(std::int64_t destinations, Block& block) {
  block.num_destinations = destinations;
  resize_with_headroom(block.indptr, static_cast<std::size_t>(destinations) + 1);
  block.indptr[0] = 0;
}

void check_batch_size(std::size_t vertices) {
  if (vertices > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw base::InputError(
        "fanouts", "a mini-batch has more than 2^31 - 1 vertices; use a smaller batch size or fanouts");
  }
}

std::size_t Workspace::bytes() const {
  return table.slots.bytes() + vertices.bytes() + edges.bytes() + ids.bytes() + homes.bytes() +
         positions.bytes() + firsts.bytes() + degrees.bytes() + columns.bytes() + parts.bytes() +
         lane_ids.bytes() + lane_degrees.bytes();
}

}  // namespace gnomon::kernels::cpu
#endif
