#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "nn/sparse/sparse_features.h"

namespace gnomon::nn {

class Model;
struct DropoutSpec;
struct TensorBatch;

/// Rows that a layer multiplies by one of its weights: (n, in), fp32. Sparse where the features are.
struct Operand {
  at::Tensor dense;         ///< undefined if sparse
  SparseFeatures sparse{};  ///< on the CPU
};

/// Rows of a layer that is Σ operand · weight + bias: its outputs before norm and activation, and the
/// operands, from which a later backward pass computes the weight gradients without the neighbours. GCN has
/// one operand, the scaled sum of the neighbourhood, and GraphSAGE two, the vertex's own row and the mean of
/// its neighbours.
struct ReusedRows {
  at::Tensor outputs;  ///< (n, out), fp32, by the weights of some earlier update
  std::vector<Operand> operands;
};

/// The part of a mini-batch that takes the first layer's outputs for some of its destinations from rows
/// computed earlier (NeutronOrch, PVLDB 17(8), section 4). The destinations of the last block are then only
/// the computed ones. Its sources are numbered separately; TensorBatch holds their features and degrees.
struct ReusedBottom {
  /// int64: for each destination of the first layer, its row among the computed rows followed by the reused
  /// ones; undefined if none is reused.
  at::Tensor order;
  at::Tensor degrees;  ///< fp32, of the destinations of the first layer in the whole graph
  ReusedRows rows;
};

/// The rows `which` (int64) of `rows`, in that order.
ReusedRows select(const ReusedRows& rows, const at::Tensor& which);

/// The sparse rows `which` (int64) of `x`, with fp32 values, on the CPU.
SparseFeatures select(const SparseFeatures& x, const at::Tensor& which);

/// All rows, one after the other, on the CPU. Precondition: there is at least one part, with equal columns.
SparseFeatures concatenate(const std::vector<SparseFeatures>& parts);

/// y[v] = destination_scale[v] · Σ source_scale[u] · x[u] over v's in-edges, plus own_scale[v] · x[v]: sparse
/// rows with ascending columns, on the CPU. The scales are fp32; an undefined own_scale stands for zeros, an
/// undefined source_scale for ones. Sums are in fp32 in the order of the edges.
SparseFeatures aggregate(const SparseBlock& block, const SparseFeatures& x,
                         const at::Tensor& destination_scale, const at::Tensor& source_scale,
                         const at::Tensor& own_scale);

/// Σ operand · weight + bias, by the weights of the first layer in `parameters` (its weights and then the
/// bias). Not differentiable.
at::Tensor outputs_of(const std::vector<Operand>& operands, const std::vector<at::Tensor>& parameters);

/// rows.outputs with the derivative of outputs_of(rows.operands, parameters) for the parameters: the
/// gradients of a layer whose outputs were computed with earlier weights. The bits of the gradients do not
/// depend on the number of threads.
at::Tensor reuse(const ReusedRows& rows, const std::vector<at::Tensor>& parameters);

/// The first layer's rows for the destinations of the batch's only block, with dropout of its inputs if
/// given. `parameters` are those of the model's first layer at some update, on the CPU; the model's own are
/// not read. Precondition: the model can reuse rows.
ReusedRows bottom_rows(const Model& model, const std::vector<at::Tensor>& parameters,
                       const TensorBatch& batch, const std::optional<DropoutSpec>& dropout);

}  // namespace gnomon::nn
