#pragma once

#include <cstdint>

#include "kernels/device/sparse.h"
#include "kernels/dropout_rule.h"

// Also compiled by nvcc as C++17.

/// A layer of GAT (Veličković et al., ICLR 2018) in training on a device, by few launches, in fp32, with the
/// same bits in every run. Dense arguments are row-major.
///
/// A layer multiplies its inputs by its *joint weight*, whose columns are the weight's, then for each head
/// the weight's columns of that head times its attention vector for sources, then those for destinations,
/// then zeros up to a multiple of four columns. So a row of the product, the *projection*, has a vertex's
/// values (heads.count · heads.width of them) and its contributions to the attention logits.
namespace gnomon::kernels::device {

/// The columns of a joint weight and of a projection.
constexpr std::int64_t joint_columns(const Heads& heads) {
  constexpr std::int64_t multiple = 4;
  return (heads.count * (heads.width + 2) + multiple - 1) / multiple * multiple;
}

/// A layer's weight (inputs x heads.count · heads.width) and attention vectors (heads.count x heads.width).
struct GatLayer {
  Heads heads;
  std::int64_t inputs = 0;
  const float* weight = nullptr;
  const float* of_sources = nullptr;
  const float* of_destinations = nullptr;
};

/// A layer, its joint weight and the keep mask of its attention coefficients, which are written.
struct GatLayerToPrepare {
  GatLayer layer;
  float* joint = nullptr;         ///< inputs x joint_columns
  DropoutRule rule;               ///< of the coefficients
  std::int64_t coefficients = 0;  ///< 0 without dropout
  std::uint8_t* kept = nullptr;   ///< KeptElements::bits
};

/// A layer, the gradient of its joint weight, and those of its parameters, which are written.
struct GatLayerGradients {
  GatLayer layer;
  const float* joint = nullptr;
  float* weight = nullptr;
  float* of_sources = nullptr;
  float* of_destinations = nullptr;
};

inline constexpr int max_gat_layers = 8;

/// Prepares up to max_gat_layers layers by one launch.
template <class Executor>
void prepare_gat(Executor& executor, const GatLayerToPrepare* layers, int count);

/// Computes the gradients of up to max_gat_layers layers' parameters by two launches.
template <class Executor>
void gat_parameter_gradients(Executor& executor, const GatLayerGradients* layers, int count);

/// A block whose destinations, the first columns, also gather from themselves: from themselves alone or, as
/// every other, by an entry.
struct LoopedRows {
  SparseRows rows;
  const std::int64_t* loops = nullptr;  ///< missing_loops(rows)
};

/// What follows the sum of a layer's attended values and its bias.
struct GatActivation {
  bool is_elu = false;  ///< whether the exponential linear unit and then dropout follow
  DropoutRule rule;
};

/// A layer's attention along a block, whose coefficients are numbered as the edges of the block with
/// self-loops (with_self_loops), by heads.
struct GatAttention {
  LoopedRows block;
  Heads heads;
  const float* projection = nullptr;  ///< columns x joint_columns
  KeptElements kept;                  ///< the coefficients that dropout keeps
  GatActivation activation;
};

/// What attend_gat writes. Arrays of coefficients have (num_entries + num_rows) x heads.count elements: those
/// of entries, and those of the self-loops that are no entries.
struct GatResults {
  float* exponentials = nullptr;  ///< of each coefficient's logit less the row's largest; negative if dropped
  float* scales = nullptr;        ///< rows x heads: 1 / (sum of the row's exponentials)
  float* sums = nullptr;          ///< rows x values: Σ coefficient · values, with dropout of coefficients
  float* out = nullptr;           ///< rows x values: the activation of sums + bias; dropped ones are -0
};

/// Computes a layer's outputs from its projection by one launch. Takes time proportional to the longest row.
template <class Executor>
void attend_gat(Executor& executor, const GatAttention& attention, const float* bias,
                const GatResults& results);

/// Computes the gradients of attend_gat with respect to the projection (columns x joint_columns) and the bias
/// (values), given that of its outputs (rows x values), by three launches. `transposed` has the block's
/// sources as rows.
template <class Executor>
void attend_gat_gradient(Executor& executor, const GatAttention& attention, const SparseRows& transposed,
                         const GatResults& results, const float* gradient, float* projection_gradient,
                         float* bias_gradient);

}  // namespace gnomon::kernels::device
