#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "kernels/block.h"
#include "kernels/cpu/sparse/sparse_rows.h"
#include "nn/sparse/sparse_kernels.h"

namespace gnomon::nn {

/// A block as tensors on one device, together with what is made of it when first needed.
class SparseBlock {
 public:
  /// `indptr` is int64 (D + 1), `indices` int32 (E), both contiguous and on one device; c10::Error otherwise.
  /// `kernels` are for tensors there and outlive the block.
  SparseBlock(std::int64_t num_sources, at::Tensor indptr, at::Tensor indices, const SparseKernels& kernels);
  /// With the device's own kernels.
  SparseBlock(std::int64_t num_sources, at::Tensor indptr, at::Tensor indices);

  std::int64_t num_destinations() const { return indptr_.size(0) - 1; }
  std::int64_t num_sources() const { return num_sources_; }
  std::int64_t num_edges() const { return indices_.size(0); }
  const at::Tensor& indptr() const { return indptr_; }
  const at::Tensor& indices() const { return indices_; }
  at::Device device() const { return indptr_.device(); }
  const SparseKernels& kernels() const { return *kernels_; }

  const TransposedTensors& transposed() const;
  const at::Tensor& rows_of_entries() const;

  /// Views of a block on the CPU, which must outlive them.
  kernels::cpu::SparseRows by_destination() const;
  kernels::cpu::SparseRows by_source() const;

 private:
  std::int64_t num_sources_;
  at::Tensor indptr_;
  at::Tensor indices_;
  const SparseKernels* kernels_;
  mutable std::once_flag transposed_once_, rows_once_;
  mutable TransposedTensors transposed_;
  mutable at::Tensor rows_of_entries_;
};

/// Autograd's graph shares the block until the backward pass is over.
using SparseBlockPtr = std::shared_ptr<const SparseBlock>;

/// Tensors on the block's own memory, which they share. To share a block inside a MiniBatch:
/// std::shared_ptr<const kernels::Block>(batch, &batch->blocks[hop]).
SparseBlockPtr sparse_block(std::shared_ptr<const kernels::Block> block);

/// The same without ownership: the block must outlive the backward pass.
SparseBlockPtr view_of(const kernels::Block& block);

/// A block of the same kernels with an edge from each destination to itself (SparseKernels).
SparseBlockPtr with_self_loops(const SparseBlock& block);

}  // namespace gnomon::nn
