#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "kernels/dropout_rule.h"
#include "nn/sparse/sparse_block.h"

namespace gnomon::nn {

/// Feature rows in CSR form as tensors on one device, without gradients. Layers multiply them in sparse form,
/// so the work is proportional to the number of entries.
struct SparseFeatures {
  SparseBlockPtr
      entries;        ///< the destinations are the rows and the sources the columns; null: there are none
  at::Tensor values;  ///< of each entry, fp32, fp16 or bf16; undefined if all are 1

  bool defined() const { return entries != nullptr; }
  /// The number of rows (dimension 0) or columns (dimension 1).
  std::int64_t size(int dimension) const {
    return dimension == 0 ? entries->num_destinations() : entries->num_sources();
  }
};

/// Returns sparse feature rows first … first + count - 1 in the host's memory. The features must outlive
/// them.
SparseFeatures sparse_rows(const graph::Features& features, std::int64_t first, std::int64_t count);

/// Returns copies of the sparse feature rows of these vertices, on the CPU.
SparseFeatures gathered_rows(const graph::Features& features, std::span<const graph::VertexId> vertices);

/// Returns the rows with fp32 values after dropout of the matrix (kernels/dropout_rule.h): dropped entries
/// are left out. With dropout they must be on the CPU.
SparseFeatures dropped(const SparseFeatures& x, const kernels::DropoutRule& rule);

SparseFeatures first_rows(const SparseFeatures& x, std::int64_t count);

/// Returns the rows on `device`; tensors that are already there are shared.
SparseFeatures on_device(const SparseFeatures& x, at::Device device);

/// Returns x · weight: (n, k) by (k, m). The values are fp32. On the CPU, the bits do not depend on the
/// number of threads. Not differentiable.
at::Tensor product(const SparseFeatures& x, const at::Tensor& weight);

/// Returns xᵀ · gradient, the gradient of a weight: (n, k) and (n, m) give (k, m). On the CPU, sums of 8,192
/// rows each are added in order.
at::Tensor transposed_product(const SparseFeatures& x, const at::Tensor& gradient);

/// Returns the rows as a dense fp32 matrix.
at::Tensor to_dense(const SparseFeatures& x);

}  // namespace gnomon::nn
