#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/block.h"
#include "kernels/cpu/sparse/sparse_rows.h"
#include "nn/sparse/sparse_kernels.h"

namespace gnomon::nn {

class BlockGroup;

/// A block as tensors on one device, together with derived structures that are computed on first use.
class SparseBlock {
 public:
  static constexpr std::int64_t unknown_degree = std::numeric_limits<std::int64_t>::max();

  /// `indptr` is int64 (D + 1) and `indices` int32 (E), both contiguous and on the same device; otherwise
  /// c10::Error is thrown. `kernels` must support the device and outlive the block.
  SparseBlock(std::int64_t num_sources, at::Tensor indptr, at::Tensor indices, const SparseKernels& kernels,
              at::Tensor destinations = {}, std::int64_t max_in_degree = unknown_degree);
  /// Uses the device's default kernels.
  SparseBlock(std::int64_t num_sources, const at::Tensor& indptr, at::Tensor indices,
              std::int64_t max_in_degree = unknown_degree);
  /// The same block as number `number` of a group.
  SparseBlock(const SparseBlock& block, std::shared_ptr<const BlockGroup> group, std::size_t number);

  std::int64_t num_destinations() const { return indptr_.size(0) - 1; }
  std::int64_t num_sources() const { return num_sources_; }
  std::int64_t num_edges() const { return indices_.size(0); }
  /// An upper bound of the in-degree, by which kernels skip the handling of long rows; or unknown_degree.
  std::int64_t max_in_degree() const { return max_in_degree_; }
  /// Which source each destination is (int64, on the block's device); undefined: the first sources.
  const at::Tensor& destinations() const { return destinations_; }
  const at::Tensor& indptr() const { return indptr_; }
  const at::Tensor& indices() const { return indices_; }
  at::Device device() const { return indptr_.device(); }
  const SparseKernels& kernels() const { return *kernels_; }

  /// The transpose, with missing_loops() in a group that has them, and the row of each entry; thread-safe.
  const TransposedTensors& transposed() const;
  const at::Tensor& rows_of_entries() const;

  /// Views of a block on the CPU, and of its transpose. The block must outlive them.
  kernels::cpu::SparseRows by_destination() const;
  kernels::cpu::SparseRows by_source() const;

 private:
  std::int64_t num_sources_;
  at::Tensor indptr_;
  at::Tensor indices_;
  const SparseKernels* kernels_;
  at::Tensor destinations_;
  std::int64_t max_in_degree_;
  std::shared_ptr<const BlockGroup> group_;  ///< null if the block is in none
  std::size_t number_in_group_ = 0;
  mutable std::once_flag transposed_once_, rows_once_;
  mutable TransposedTensors transposed_;
  mutable at::Tensor rows_of_entries_;
};

/// Autograd's graph shares ownership of the block until the backward pass has finished.
using SparseBlockPtr = std::shared_ptr<const SparseBlock>;

/// Sampled blocks of one mini-batch on one device. The first request for a transpose computes all of them,
/// which takes fewer launches than one by one.
class BlockGroup {
 public:
  /// Precondition: there are blocks. With loops, the transposes come with missing_loops().
  explicit BlockGroup(std::vector<SparseBlockPtr> blocks, bool with_loops = false)
      : blocks_(std::move(blocks)), with_loops_(with_loops) {}

  /// The transpose of a block; thread-safe.
  const TransposedTensors& transposed(std::size_t number) const;

 private:
  std::vector<SparseBlockPtr> blocks_;
  bool with_loops_;
  mutable std::once_flag once_;
  mutable std::vector<TransposedTensors> transposed_;
};

/// Returns the sampled blocks of a mini-batch, from the seeds outwards, in a group but for the last one,
/// whose transpose most models do not read. Those of the CPU are returned as they are.
std::vector<SparseBlockPtr> grouped(std::vector<SparseBlockPtr> blocks);

/// Returns the blocks in a new group with loops.
std::vector<SparseBlockPtr> grouped_with_loops(const std::vector<SparseBlockPtr>& blocks);

/// Wraps a block without copying it; the tensors share its ownership. For a block inside a shared MiniBatch,
/// pass std::shared_ptr<const kernels::Block>(batch, &batch->blocks[hop]).
SparseBlockPtr sparse_block(const std::shared_ptr<const kernels::Block>& block);

/// Wraps a block without copying or owning it: the block must outlive the backward pass.
SparseBlockPtr view_of(const kernels::Block& block);

/// Returns the block with a self-loop at each destination (see SparseKernels::with_self_loops).
SparseBlockPtr with_self_loops(const SparseBlock& block);

}  // namespace gnomon::nn
