#include "nn/graphs/padded_batch.h"

#include <ATen/ATen.h>

#include <memory>
#include <utility>
#include <vector>

#include "nn/cuda/kernels.h"

namespace gnomon::nn {
namespace {

using kernels::device::PaddedCopy;
using kernels::device::StepState;

PaddedCopy copy_of(const at::Tensor& from, const at::Tensor& to, std::int64_t fill = 0) {
  TORCH_CHECK(from.is_contiguous() && to.is_contiguous(), "mini-batches have contiguous tensors");
  return {from.const_data_ptr(), to.mutable_data_ptr(), static_cast<std::int64_t>(from.nbytes()),
          static_cast<std::int64_t>(to.nbytes()), fill};
}

}  // namespace

PaddedBatch::PaddedBatch(const BatchShape& room, const TensorBatch& like)
    : state_(
          at::empty({static_cast<std::int64_t>(sizeof(StepState))}, like.labels.options().dtype(at::kByte))) {
  const std::int64_t vertices = room.hops.back().vertices;
  batch_.labels = at::empty({room.seeds}, like.labels.options());
  batch_.features = at::empty({vertices, like.features.size(1)}, like.features.options());
  if (like.degrees.defined()) {
    batch_.degrees = at::empty({vertices}, like.degrees.options());
  }
  std::int64_t destinations = room.seeds;
  for (std::size_t hop = 0; hop < room.hops.size(); ++hop) {
    const auto& block = *like.blocks[hop];
    batch_.blocks.push_back(std::make_shared<const SparseBlock>(
        room.hops[hop].vertices, at::empty({destinations + 1}, block.indptr().options()),
        at::empty({room.hops[hop].edges}, block.indices().options()), block.kernels(), at::Tensor(),
        block.max_in_degree()));
    destinations = room.hops[hop].vertices;
  }
}

void PaddedBatch::fill(const TensorBatch& batch, const StepState& state) {
  std::vector<PaddedCopy> copies{copy_of(batch.features, batch_.features),
                                 copy_of(batch.labels, batch_.labels)};
  if (batch_.degrees.defined()) {
    copies.push_back(copy_of(batch.degrees, batch_.degrees));
  }
  for (std::size_t hop = 0; hop < batch_.blocks.size(); ++hop) {
    const auto& from = *batch.blocks[hop];
    const auto& to = *batch_.blocks[hop];
    copies.push_back(copy_of(from.indptr(), to.indptr(), from.num_edges()));
    copies.push_back(copy_of(from.indices(), to.indices()));
  }
  cuda_copy_padded(copies, state, state_);
}

TensorBatch PaddedBatch::tensors() const {
  auto batch = batch_;
  for (auto& block : batch.blocks) {
    block = std::make_shared<const SparseBlock>(block->num_sources(), block->indptr(), block->indices(),
                                                block->kernels(), at::Tensor(), block->max_in_degree());
  }
  batch.blocks = grouped(std::move(batch.blocks));
  return batch;
}

const StepState* PaddedBatch::state() const { return static_cast<const StepState*>(state_.const_data_ptr()); }

/// A float member of the state, as a scalar tensor.
at::Tensor PaddedBatch::member(std::size_t offset) const {
  const auto begin = static_cast<std::int64_t>(offset);
  return state_.narrow(0, begin, sizeof(float)).view(at::kFloat).squeeze(0);
}

}  // namespace gnomon::nn
