#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/document.h"
#include "plan/plan.h"

namespace gnomon::plan {

/// The reproducibility that a plan guarantees, relative to other plans for the same graph, job and kind of
/// device. Each level implies those above it in this list.
enum class Exactness : std::uint8_t {
  approximate,  ///< other mini-batches or older embeddings are trained: accuracy may differ
  batches,      ///< the same mini-batches, each once in an epoch, in an order that depends on timing
  order,        ///< in an order that does not depend on timing: repeated trainings end with the same bits
  bits,  ///< one mini-batch for each update, not padded: all plans of this level end with the same bits
};

/// The level of a plan, from its fields alone. `devices` 0 (all) counts as several: resolve() the plan first.
Exactness exactness_of(const Plan& plan);

/// The level as text, as in "all such plans end with the same bits".
std::string_view description_of(Exactness exactness);

}  // namespace gnomon::plan

namespace gnomon::base {

template <>
struct EnumNames<plan::Exactness> {
  static constexpr std::array<std::pair<plan::Exactness, std::string_view>, 4> values{
      {{plan::Exactness::approximate, "approximate"},
       {plan::Exactness::batches, "batches"},
       {plan::Exactness::order, "order"},
       {plan::Exactness::bits, "bits"}}};
};

}  // namespace gnomon::base
