#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace gnomon::nn {

class SparseBlock;

/// A block (kernels/block.h) by sources, as kernels::cpu::TransposedBlock has it.
struct TransposedTensors {
  at::Tensor indptr;        ///< int64, num_sources + 1
  at::Tensor destinations;  ///< int32, of each entry
  at::Tensor edges;         ///< int32, of each entry
};

/// A block's structure alone.
struct BlockTensors {
  at::Tensor indptr;   ///< int64, num_destinations + 1
  at::Tensor indices;  ///< int32, of each entry
};

/// Whose entries a row holds: the block's own rows, or those of its transpose.
enum class RowsOf { destinations, sources };

/// The sparse kernels (kernels/cpu/sparse/sparse.h says what each computes) of one kind of device on tensors
/// there, fp32 where nothing else is said, contiguous and of the right shapes: nn/sparse/sparse.h checks. Not
/// differentiable.
class SparseKernels {
 public:
  SparseKernels() = default;
  SparseKernels(const SparseKernels&) = delete;
  SparseKernels& operator=(const SparseKernels&) = delete;
  virtual ~SparseKernels() = default;

  /// Scales that are not defined count as ones.
  virtual at::Tensor spmm(const SparseBlock& block, RowsOf side, const at::Tensor& row_scale,
                          const at::Tensor& column_scale, const at::Tensor& x) const = 0;
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
  /// 1 / (number of the row's entries), 0 for an empty row.
  virtual at::Tensor inverse_degrees(const SparseBlock& block) const = 0;
  /// int32, the row of each entry; on devices whose kernels go by entries.
  virtual at::Tensor rows_of_entries(const SparseBlock& block) const = 0;
  virtual TransposedTensors transpose(const SparseBlock& block) const = 0;
  /// With an edge from each destination to itself, at the end of its row, unless it has one. Entries may
  /// follow that belong to no row.
  virtual BlockTensors with_self_loops(const SparseBlock& block) const = 0;
};

/// Those of the CPU, with the same bits for any number of threads.
const SparseKernels& cpu_sparse_kernels();

/// Those for tensors on `device`. Throws c10::Error for a device that has none, base::Failure for CUDA in a
/// build without it.
const SparseKernels& sparse_kernels(at::Device device);

}  // namespace gnomon::nn
