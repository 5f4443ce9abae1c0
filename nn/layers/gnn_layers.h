#pragma once

#include <cstdint>
#include <memory>

#include "nn/layers/initialiser.h"
#include "nn/layers/layer.h"
#include "plan/job.h"

namespace gnomon::nn {

/// A layer of the job's model from `in` to `out` columns, those of all heads together; the last layer of a
/// GAT has one head.
std::unique_ptr<Layer> make_layer(const plan::Job& job, Initialiser& initialise, std::int64_t in,
                                  std::int64_t out, bool is_last);

}  // namespace gnomon::nn
