#pragma once

#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "kernels/device/gather.h"

namespace gnomon::runtime {

/// Measures the smallest share of a device's thread slots with which gathers of random rows reach the
/// link's full bandwidth. Each gather reads `bytes` of feature rows drawn by `seed`; none if there are no
/// rows. `rows` are the features in host memory. `Hardware` is as in runtime/preparation/hardware.h.
template <class Hardware>
std::optional<double> link_saturation_share(Hardware& hardware, const kernels::device::Rows& rows,
                                            const graph::Features& features, std::uint64_t seed,
                                            std::int64_t bytes = std::int64_t{64} << 20);

}  // namespace gnomon::runtime
