#include "kernels/autograd/sparse_block.h"

#include <torch/torch.h>

#include <span>
#include <utility>

namespace gnomon::kernels::autograd {
namespace {

template <class T>
std::span<const T> elements_of(const at::Tensor& tensor) {
  return {tensor.const_data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

/// A tensor of `values`, which `owner` keeps alive.
template <class T>
at::Tensor tensor_of(const std::vector<T>& values, const std::shared_ptr<const void>& owner) {
  auto* data = const_cast<T*>(values.data());  // from_blob takes no const; nothing writes to it
  const auto release = [owner](void*) {};
  return at::from_blob(data, {std::ssize(values)}, release, c10::CppTypeToScalarType<T>::value);
}

void check(const at::Tensor& tensor, const char* name, at::ScalarType type) {
  TORCH_CHECK(tensor.defined() && tensor.dim() == 1 && tensor.is_contiguous(), name,
              " must be a contiguous vector");
  TORCH_CHECK(tensor.scalar_type() == type, name, " is ", tensor.scalar_type(), "; it must be ", type);
}

}  // namespace

SparseBlock::SparseBlock(std::int64_t num_sources, at::Tensor indptr, at::Tensor indices)
    : num_sources_(num_sources), indptr_(std::move(indptr)), indices_(std::move(indices)) {
  check(indptr_, "indptr", at::kLong);
  check(indices_, "indices", at::kInt);
  TORCH_CHECK(indptr_.size(0) > 0, "indptr is empty");
  TORCH_CHECK(indptr_.device() == indices_.device(), "indptr is on ", indptr_.device(), ", indices on ",
              indices_.device());
}

cpu::SparseRows SparseBlock::by_destination() const {
  TORCH_CHECK(indptr_.is_cpu(), "the block is on ", device(), "; its memory is not the CPU's");
  return {elements_of<std::int64_t>(indptr_), elements_of<std::int32_t>(indices_), {}};
}

const TransposedTensors& SparseBlock::transposed() const {
  std::call_once(once_, [this] {
    const auto made =
        std::make_shared<const cpu::TransposedBlock>(cpu::transpose(by_destination(), num_sources_));
    transposed_ = {tensor_of(made->indptr, made), tensor_of(made->destinations, made),
                   tensor_of(made->edges, made)};
  });
  return transposed_;
}

cpu::SparseRows SparseBlock::by_source() const {
  const auto& tensors = transposed();
  return {elements_of<std::int64_t>(tensors.indptr), elements_of<std::int32_t>(tensors.destinations),
          elements_of<std::int32_t>(tensors.edges)};
}

SparseBlockPtr sparse_block(std::shared_ptr<const Block> block) {
  auto indptr = tensor_of(block->indptr, block);
  auto indices = tensor_of(block->indices, block);
  return std::make_shared<const SparseBlock>(block->num_sources, std::move(indptr), std::move(indices));
}

SparseBlockPtr view_of(const Block& block) {
  return sparse_block(std::shared_ptr<const Block>(std::shared_ptr<void>(), &block));
}

SparseBlockPtr with_self_loops(const SparseBlock& block) {
  const auto rows = block.by_destination();
  auto looped = std::make_shared<Block>();
  looped->num_destinations = block.num_destinations();
  looped->num_sources = block.num_sources();
  looped->indptr.reserve(rows.indptr.size());
  looped->indices.reserve(rows.columns.size() + rows.indptr.size());
  looped->indptr.push_back(0);
  for (std::int64_t v = 0; v < rows.num_rows(); ++v) {
    bool has_loop = false;
    for (auto e = rows.indptr[static_cast<std::size_t>(v)]; e < rows.indptr[static_cast<std::size_t>(v) + 1];
         ++e) {
      looped->indices.push_back(rows.columns[static_cast<std::size_t>(e)]);
      has_loop = has_loop || looped->indices.back() == v;
    }
    if (!has_loop) {
      looped->indices.push_back(static_cast<std::int32_t>(v));
    }
    looped->indptr.push_back(std::ssize(looped->indices));
  }
  return sparse_block(std::move(looped));
}

at::Tensor inverse_degrees(const SparseBlock& block) {
  const auto inverse =
      std::make_shared<const std::vector<float>>(cpu::inverse_degrees(block.by_destination().indptr));
  return tensor_of(*inverse, inverse);
}

}  // namespace gnomon::kernels::autograd
