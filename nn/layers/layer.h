#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/philox.h"
#include "kernels/dropout_rule.h"
#include "nn/reused_rows.h"
#include "nn/tensor_batch.h"

namespace gnomon::nn {

struct FusedGat;

/// What a layer aggregates along: a hop of a mini-batch or, in evaluation, all in-edges of some vertices.
struct Hop {
  SparseBlockPtr block;
  at::Tensor degrees;            ///< fp32, the in-degree of each of the block's sources in the whole graph
  at::Tensor inverse_roots{};    ///< 1 / √(degree + 1) of each source; undefined if not computed beforehand
  bool has_all_sources = false;  ///< the sources are all vertices of the graph, in every hop
  /// With all sources: aggregate before multiplying even if it is more work, as the products of all sources
  /// would take memory. Layers of GAT cannot.
  bool saves_memory = false;
  const FusedGat* gat = nullptr;  ///< if a layer of GAT is to be fused (nn/layers/fused_gat.h)
};

/// Returns 1 / √(degree + 1) for each degree.
at::Tensor inverse_roots_of(const at::Tensor& degrees);

/// The products of a layer's inputs with its weights, each of shape (vertices, any).
using Projection = std::vector<at::Tensor>;

/// The dropout of a layer in one training step. The dropped elements are a pure function of these fields.
struct DropoutSpec {
  double probability = 0;
  base::StreamKey key;  ///< seed, epoch and batch; the level is the layer's index
  /// If not null, where the device finds epoch and batch (kernels/dropout_rule.h).
  const kernels::StepNumber* number = nullptr;

  DropoutSpec of_layer(std::size_t index) const;
  /// The rules of the layer's inputs and of its attention coefficients, which have random streams of their
  /// own.
  kernels::DropoutRule inputs() const;
  kernels::DropoutRule attention() const;
};

/// A layer without its activation: a dense part, which handles every vertex on its own, and a sparse part,
/// which aggregates along the edges of a hop.
class Layer {
 public:
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  /// The dense part: maps inputs (n, in).
  virtual Projection project(const at::Tensor& x) const = 0;
  virtual Projection project(const SparseFeatures& x) const = 0;
  /// The sparse part: maps the projected sources to outputs (destinations, out). `dropout` is set in
  /// training, for layers that apply dropout themselves (to attention coefficients).
  virtual at::Tensor propagate(const Projection& projected, const Hop& hop,
                               const DropoutSpec* dropout) const = 0;
  /// Whether forward() aggregates before it multiplies if a hop has all sources, given Hop::saves_memory.
  /// Otherwise the products of all sources are better computed once for all hops.
  virtual bool aggregates_first(bool saves_memory) const = 0;
  /// Computes propagate(project(x)), with the two parts exchanged if that needs fewer operations.
  virtual at::Tensor forward(const at::Tensor& x, const Hop& hop, const DropoutSpec* dropout) const = 0;
  /// Computes the same from inputs that are read in the feature store, with the same bits.
  virtual at::Tensor forward(const DroppedFeatures& x, const Hop& hop, const DropoutSpec* dropout) const = 0;
  /// Computes propagate(project(x)) of sparse inputs with fp32 values, equal up to rounding.
  virtual at::Tensor forward(const SparseFeatures& x, const Hop& hop, const DropoutSpec* dropout) const = 0;

  /// The operands of the layer's products after aggregation, if it is Σ operand · weight + bias
  /// (reused_rows.h) and so can reuse rows; none if not. Not differentiable.
  virtual std::vector<Operand> operands(const at::Tensor&, const Hop&) const { return {}; }
  virtual std::vector<Operand> operands(const SparseFeatures&, const Hop&) const { return {}; }

  const std::vector<at::Tensor>& parameters() const { return parameters_; }
  /// The names of the parameters within the layer, such as "self.weight".
  const std::vector<std::string>& names() const { return names_; }

 protected:
  std::vector<at::Tensor> parameters_;
  std::vector<std::string> names_;
};

/// Whether aggregating `in` columns before a layer's product is less work than `out` columns after it.
bool aggregates_first(const Hop& hop, std::int64_t in, std::int64_t out);

/// The rows of a hop's destinations, which come first among its sources, in values of all sources.
at::Tensor destinations_of(const at::Tensor& sources, const Hop& hop);
at::Tensor destinations_of(const DroppedFeatures& sources, const Hop& hop);
SparseFeatures destinations_of(const SparseFeatures& sources, const Hop& hop);

}  // namespace gnomon::nn
