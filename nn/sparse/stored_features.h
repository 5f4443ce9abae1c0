#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "graph/graph.h"
#include "kernels/dropout_rule.h"
#include "nn/sparse/sparse_block.h"

namespace gnomon::nn {

/// Reads the feature rows of a mini-batch's vertices in the feature store, for a first layer without a
/// gathered copy. Rows are converted to fp32 and dropout is applied (a rule of threshold 0 applies none); the
/// bits are those of gathering, converting and dropout in sequence. Not differentiable. On a GPU everything
/// runs on the current stream.
class StoredFeatures {
 public:
  StoredFeatures() = default;
  StoredFeatures(const StoredFeatures&) = delete;
  StoredFeatures& operator=(const StoredFeatures&) = delete;
  virtual ~StoredFeatures() = default;

  /// The number of rows (dimension 0) or columns (dimension 1).
  virtual std::int64_t size(int dimension) const = 0;
  virtual at::Device device() const = 0;
  /// Computes SparseKernels::spmm by destinations; the block's sources are the first rows.
  virtual at::Tensor spmm(const SparseBlock& block, const at::Tensor& row_scale,
                          const at::Tensor& column_scale, const kernels::DropoutRule& rule) const = 0;
  /// Computes SparseKernels::own_and_mean; the block's sources are the first rows.
  virtual at::Tensor own_and_mean(const SparseBlock& block, const kernels::DropoutRule& rule) const;
  /// Computes SparseKernels::gcn_propagate; the block's sources are the first rows. Only for devices.
  virtual at::Tensor gcn_propagate(const SparseBlock& block, const at::Tensor& degrees,
                                   const kernels::DropoutRule& rule) const;
  /// Fills `out` (contiguous) with rows from `first` on. Thread-safe.
  virtual void read(std::int64_t first, const kernels::DropoutRule& rule, at::Tensor& out) const = 0;
  /// Fills `out` (contiguous) with these rows (contiguous int64), without dropout. Thread-safe.
  virtual void read_rows(const at::Tensor& rows, at::Tensor& out) const = 0;
};

using StoredFeaturesPtr = std::shared_ptr<const StoredFeatures>;

/// Stored rows with the dropout rule to apply to them.
struct DroppedFeatures {
  StoredFeaturesPtr rows;
  kernels::DropoutRule rule;
  std::int64_t size(int dimension) const { return rows->size(dimension); }
};

/// Returns stored rows in the host's memory: row i is that of vertices[i] (contiguous int64), or of vertex i
/// if `vertices` is undefined. The features must outlive them.
StoredFeaturesPtr stored_features(const graph::Features& features, at::Tensor vertices);

}  // namespace gnomon::nn
