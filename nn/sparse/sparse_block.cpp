#include "nn/sparse/sparse_block.h"

#include <span>
#include <utility>

#include "nn/tensor_view.h"

namespace gnomon::nn {
namespace {

template <class T>
std::span<const T> elements_of(const at::Tensor& tensor) {
  TORCH_CHECK(tensor.is_cpu(), "the block is on ", tensor.device(), "; it must be on the CPU");
  return {tensor.const_data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

void check(const at::Tensor& tensor, const char* name, at::ScalarType type) {
  TORCH_CHECK(tensor.defined() && tensor.dim() == 1 && tensor.is_contiguous(), name,
              " must be a contiguous vector");
  TORCH_CHECK(tensor.scalar_type() == type, name, " is ", tensor.scalar_type(), "; it must be ", type);
}

}  // namespace

SparseBlock::SparseBlock(std::int64_t num_sources, at::Tensor indptr, at::Tensor indices,
                         const SparseKernels& kernels, at::Tensor destinations, std::int64_t max_in_degree)
    : num_sources_(num_sources),
      indptr_(std::move(indptr)),
      indices_(std::move(indices)),
      kernels_(&kernels),
      destinations_(std::move(destinations)),
      max_in_degree_(max_in_degree) {
  check(indptr_, "indptr", at::kLong);
  check(indices_, "indices", at::kInt);
  TORCH_CHECK(indptr_.size(0) > 0, "indptr is empty");
  TORCH_CHECK(indptr_.device() == indices_.device(), "indptr is on ", indptr_.device(), ", indices on ",
              indices_.device());
}

SparseBlock::SparseBlock(std::int64_t num_sources, const at::Tensor& indptr, at::Tensor indices,
                         std::int64_t max_in_degree)
    : SparseBlock(num_sources, indptr, std::move(indices), sparse_kernels(indptr.device()), {},
                  max_in_degree) {}

SparseBlock::SparseBlock(const SparseBlock& block, std::shared_ptr<const BlockGroup> group,
                         std::size_t number)
    : SparseBlock(block.num_sources_, block.indptr_, block.indices_, *block.kernels_, block.destinations_,
                  block.max_in_degree_) {
  group_ = std::move(group);
  number_in_group_ = number;
}

const TransposedTensors& BlockGroup::transposed(std::size_t number) const {
  std::call_once(
      once_, [this] { transposed_ = blocks_.front()->kernels().transpose_together(blocks_, with_loops_); });
  return transposed_[number];
}

std::vector<SparseBlockPtr> grouped(std::vector<SparseBlockPtr> blocks) {
  if (blocks.size() < 2 || blocks.front()->device().is_cpu()) {
    return blocks;
  }
  const auto last = blocks.back();
  blocks.pop_back();
  const auto group = std::make_shared<const BlockGroup>(blocks);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    blocks[i] = std::make_shared<const SparseBlock>(*blocks[i], group, i);
  }
  blocks.push_back(last);
  return blocks;
}

std::vector<SparseBlockPtr> grouped_with_loops(const std::vector<SparseBlockPtr>& blocks) {
  std::vector<SparseBlockPtr> members;
  const auto group = std::make_shared<const BlockGroup>(blocks, true);
  for (const auto& block : blocks) {
    members.push_back(std::make_shared<const SparseBlock>(*block, group, members.size()));
  }
  return members;
}

const TransposedTensors& SparseBlock::transposed() const {
  if (group_ != nullptr) {
    return group_->transposed(number_in_group_);
  }
  std::call_once(transposed_once_, [this] { transposed_ = kernels_->transpose(*this); });
  return transposed_;
}

const at::Tensor& SparseBlock::rows_of_entries() const {
  std::call_once(rows_once_, [this] { rows_of_entries_ = kernels_->rows_of_entries(*this); });
  return rows_of_entries_;
}

kernels::cpu::SparseRows SparseBlock::by_destination() const {
  return {elements_of<std::int64_t>(indptr_), elements_of<std::int32_t>(indices_), {}};
}

kernels::cpu::SparseRows SparseBlock::by_source() const {
  const auto& tensors = transposed();
  return {elements_of<std::int64_t>(tensors.indptr), elements_of<std::int32_t>(tensors.destinations),
          elements_of<std::int32_t>(tensors.edges)};
}

SparseBlockPtr sparse_block(const std::shared_ptr<const kernels::Block>& block) {
  return std::make_shared<const SparseBlock>(block->num_sources, tensor_view(block->indptr, block),
                                             tensor_view(block->indices, block));
}

SparseBlockPtr view_of(const kernels::Block& block) {
  return sparse_block(std::shared_ptr<const kernels::Block>(std::shared_ptr<void>(), &block));
}

SparseBlockPtr with_self_loops(const SparseBlock& block) {
  auto looped = block.kernels().with_self_loops(block);
  return std::make_shared<const SparseBlock>(block.num_sources(), std::move(looped.indptr),
                                             std::move(looped.indices), block.kernels(), block.destinations(),
                                             block.max_in_degree() == SparseBlock::unknown_degree
                                                 ? SparseBlock::unknown_degree
                                                 : block.max_in_degree() + 1);
}

}  // namespace gnomon::nn
