#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "graph/graph.h"
#include "kernels/dropout_rule.h"
#include "nn/sparse/sparse_block.h"

namespace gnomon::nn {

/// The feature rows of a mini-batch's vertices where they are stored, as a first layer reads them instead of
/// a gathered copy: always as fp32 after dropout (by a rule of threshold 0 none), with the bits of gathering,
/// converting and dropout one by one. Not differentiable. On a GPU all goes on the current stream.
class StoredRows {
 public:
  StoredRows() = default;
  StoredRows(const StoredRows&) = delete;
  StoredRows& operator=(const StoredRows&) = delete;
  virtual ~StoredRows() = default;

  /// Rows, columns.
  virtual std::int64_t size(int dimension) const = 0;
  virtual at::Device device() const = 0;
  /// SparseKernels::spmm over the block's destinations, its sources being the first rows.
  virtual at::Tensor spmm(const SparseBlock& block, const at::Tensor& row_scale,
                          const at::Tensor& column_scale, const kernels::DropoutRule& rule) const = 0;
  /// Writes as many rows as `out` (contiguous) has, from `first` on; several threads may at once.
  virtual void read(std::int64_t first, const kernels::DropoutRule& rule, at::Tensor& out) const = 0;
};

using StoredRowsPtr = std::shared_ptr<const StoredRows>;

/// Rows after dropout by one rule.
struct DroppedRows {
  StoredRowsPtr rows;
  kernels::DropoutRule rule;
  std::int64_t size(int dimension) const { return rows->size(dimension); }
};

/// Of the host's memory: row i is that of vertices[i] (contiguous int64). The features must outlive it.
StoredRowsPtr stored_rows(const graph::Features& features, at::Tensor vertices);

}  // namespace gnomon::nn
