#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace gnomon::nn {

class GatKernels;
class SparseBlock;

/// The transpose of a block (kernels/block.h), as kernels::cpu::TransposedBlock.
struct TransposedTensors {
  at::Tensor indptr;        ///< int64, num_sources + 1
  at::Tensor destinations;  ///< int32, of each entry
  at::Tensor edges;         ///< int32, of each entry
  at::Tensor loops;         ///< SparseKernels::missing_loops; undefined if they were not requested
};

/// The structure of a block.
struct BlockTensors {
  at::Tensor indptr;   ///< int64, num_destinations + 1
  at::Tensor indices;  ///< int32, of each entry
};

/// Whether the rows of an operation are a block's destinations, or its sources (the transpose).
enum class RowsOf { destinations, sources };

/// The sparse kernels of one kind of device; kernels/cpu/sparse/sparse.h defines what each computes.
/// Preconditions, which nn/sparse/sparse.h checks: tensors are on the device, contiguous, of matching shapes,
/// and fp32 unless stated otherwise. Not differentiable.
class SparseKernels {
 public:
  SparseKernels() = default;
  SparseKernels(const SparseKernels&) = delete;
  SparseKernels& operator=(const SparseKernels&) = delete;
  virtual ~SparseKernels() = default;

  /// Undefined scales stand for ones.
  virtual at::Tensor spmm(const SparseBlock& block, RowsOf side, const at::Tensor& row_scale,
                          const at::Tensor& column_scale, const at::Tensor& x) const = 0;
  /// x[v,:] beside the mean of x[u,:] over v's in-edges, for each destination v: with x S x F, the result is
  /// D x 2F. Destinations are the first sources.
  virtual at::Tensor own_and_mean(const SparseBlock& block, const at::Tensor& x) const;
  /// The gradient of own_and_mean with respect to x, given that of its result.
  virtual at::Tensor own_and_mean_gradient(const SparseBlock& block, const at::Tensor& gradient) const;
  /// The fused propagation of GCN (kernels/device/gcn.h) for the degrees of the block's sources, and its
  /// gradient with respect to x, given that of its result. Destinations are the first sources. Only for
  /// devices: the CPU computes it by spmm.
  virtual at::Tensor gcn_propagate(const SparseBlock& block, const at::Tensor& degrees,
                                   const at::Tensor& x) const;
  virtual at::Tensor gcn_propagate_gradient(const SparseBlock& block, const at::Tensor& degrees,
                                            const at::Tensor& gradient) const;
  virtual at::Tensor spmm_weighted(const SparseBlock& block, RowsOf side, const at::Tensor& weights,
                                   const at::Tensor& x) const = 0;
  virtual at::Tensor sum_edges(const SparseBlock& block, RowsOf side, const at::Tensor& values) const = 0;
  virtual at::Tensor sddmm_add(const SparseBlock& block, const at::Tensor& row_scores,
                               const at::Tensor& column_scores) const = 0;
  virtual at::Tensor sddmm_dot(const SparseBlock& block, const at::Tensor& row_values,
                               const at::Tensor& column_values) const = 0;
  virtual at::Tensor edge_softmax(const SparseBlock& block, const at::Tensor& logits) const = 0;
  virtual at::Tensor edge_softmax_backward(const SparseBlock& block, const at::Tensor& softmax,
                                           const at::Tensor& gradient) const = 0;
  /// Returns 1 / (number of entries) of each row, 0 for an empty row.
  virtual at::Tensor inverse_degrees(const SparseBlock& block) const = 0;
  /// Returns the row of each entry (int32); only for devices whose kernels parallelise over entries.
  virtual at::Tensor rows_of_entries(const SparseBlock& block) const = 0;
  virtual TransposedTensors transpose(const SparseBlock& block) const = 0;
  /// transpose() of several sampled blocks, and missing_loops() if requested.
  virtual std::vector<TransposedTensors> transpose_together(
      const std::vector<std::shared_ptr<const SparseBlock>>& blocks, bool with_loops) const;
  /// The number of destinations without a self-loop before each (int64, num_destinations + 1); only for
  /// devices.
  virtual at::Tensor missing_loops(const SparseBlock& block) const;
  /// Returns the block with a self-loop at the end of the row of each destination that has none. The result
  /// may be followed by padding entries, which belong to no row.
  virtual BlockTensors with_self_loops(const SparseBlock& block) const = 0;
  /// The fused kernels of GAT; null on the CPU.
  virtual const GatKernels* gat() const { return nullptr; }
};

/// Returns the CPU's kernels, whose bits do not depend on the number of threads.
const SparseKernels& cpu_sparse_kernels();

/// Returns the kernels for tensors on `device`. Throws c10::Error for an unsupported device, and
/// base::Failure for CUDA in a build without it.
const SparseKernels& sparse_kernels(at::Device device);

}  // namespace gnomon::nn
