#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "kernels/block.h"
#include "kernels/cpu/sparse_rows.h"

namespace gnomon::kernels::autograd {

/// A block (kernels/block.h) by sources, as cpu::TransposedBlock has it.
struct TransposedTensors {
  at::Tensor indptr;        ///< int64, num_sources + 1
  at::Tensor destinations;  ///< int32, of each entry
  at::Tensor edges;         ///< int32, of each entry
};

/// A block as tensors on one device, together with its transpose, which is made when a gradient first needs
/// it.
class SparseBlock {
 public:
  /// `indptr` is int64 (D + 1), `indices` int32 (E), both contiguous and on one device; c10::Error otherwise.
  SparseBlock(std::int64_t num_sources, at::Tensor indptr, at::Tensor indices);

  std::int64_t num_destinations() const { return indptr_.size(0) - 1; }
  std::int64_t num_sources() const { return num_sources_; }
  std::int64_t num_edges() const { return indices_.size(0); }
  const at::Tensor& indptr() const { return indptr_; }
  const at::Tensor& indices() const { return indices_; }
  at::Device device() const { return indptr_.device(); }

  const TransposedTensors& transposed() const;

  /// Views of a block on the CPU, which must outlive them.
  cpu::SparseRows by_destination() const;
  cpu::SparseRows by_source() const;

 private:
  std::int64_t num_sources_;
  at::Tensor indptr_;
  at::Tensor indices_;
  mutable std::once_flag once_;
  mutable TransposedTensors transposed_;
};

/// Autograd's graph shares the block until the backward pass is over.
using SparseBlockPtr = std::shared_ptr<const SparseBlock>;

/// Tensors on the block's own memory, which they share. To share a block inside a MiniBatch:
/// std::shared_ptr<const Block>(batch, &batch->blocks[hop]).
SparseBlockPtr sparse_block(std::shared_ptr<const Block> block);

/// The same without ownership: the block must outlive the backward pass.
SparseBlockPtr view_of(const Block& block);

/// The block with an edge from each destination to itself, at the end of its row, unless it has one.
SparseBlockPtr with_self_loops(const SparseBlock& block);

/// 1 / (number of the row's entries), 0 for an empty row: fp32 (D).
at::Tensor inverse_degrees(const SparseBlock& block);

}  // namespace gnomon::kernels::autograd
