#include "runtime/batch/batch_slab.h"

#include <ATen/ATen.h>

#include <cstring>

#include "nn/feature_types.h"
#include "runtime/batch/batch_tensors.h"

namespace gnomon::runtime {
namespace {

constexpr std::size_t tensor_alignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + tensor_alignment - 1) / tensor_alignment * tensor_alignment;
}

at::Tensor tensor_at(const std::shared_ptr<void>& memory, std::size_t offset, at::IntArrayRef sizes,
                     at::ScalarType type, at::Device device) {
  return at::from_blob(
      static_cast<std::byte*>(memory.get()) + offset, sizes, [memory](void*) {},
      at::TensorOptions(type).device(device));
}

}  // namespace

BatchSlab::BatchSlab(const BatchData& data, Parts parts) : data_(data), parts_(parts) {
  add(data.labels);
  for (const auto& block : data.batch.blocks) {
    add(block.indptr);
    add(block.indices);
  }
  if (parts.degrees) {
    add(data.degrees);
  }
  if (parts.vertices) {
    add(data.batch.vertices);
  }
  feature_offset_ = aligned(structure_bytes_);
}

template <class T>
void BatchSlab::add(const std::vector<T>& values) {
  const std::size_t offset = aligned(structure_bytes_);
  structure_.push_back({values.data(), values.size() * sizeof(T), offset});
  structure_bytes_ = offset + structure_.back().bytes;
}

std::int64_t BatchSlab::copied_bytes() const {
  std::size_t bytes = parts_.features ? data_.features.size() : 0;
  for (const auto& part : structure_) {
    bytes += part.bytes;
  }
  return static_cast<std::int64_t>(bytes);
}

void BatchSlab::write_structure(std::byte* to) const {
  for (const auto& part : structure_) {
    if (part.bytes > 0) {
      std::memcpy(to + part.offset, part.data, part.bytes);
    }
  }
}

template <class T>
at::Tensor BatchSlab::tensor(std::size_t part, const std::shared_ptr<void>& memory, at::Device device) const {
  const auto& at = structure_[part];
  return tensor_at(memory, at.offset, {static_cast<std::int64_t>(at.bytes / sizeof(T))},
                   c10::CppTypeToScalarType<T>::value, device);
}

nn::TensorBatch BatchSlab::tensors(const std::shared_ptr<void>& memory, at::Device device,
                                   std::span<const int> fanouts) const {
  nn::TensorBatch batch;
  std::size_t part = 0;
  batch.labels = tensor<std::int64_t>(part++, memory, device);
  for (std::size_t hop = 0; hop < data_.batch.blocks.size(); ++hop) {
    const auto indptr = tensor<std::int64_t>(part++, memory, device);
    const auto indices = tensor<std::int32_t>(part++, memory, device);
    batch.blocks.push_back(std::make_shared<const nn::SparseBlock>(
        data_.batch.blocks[hop].num_sources, indptr, indices, max_in_degree(fanouts[hop])));
  }
  batch.blocks = nn::grouped(std::move(batch.blocks));
  if (parts_.degrees) {
    batch.degrees = tensor<float>(part++, memory, device);
  }
  if (parts_.features) {
    batch.features = tensor_at(memory, feature_offset_, {std::ssize(data_.batch.vertices), data_.columns},
                               nn::scalar_type(data_.feature_type), device);
  }
  return batch;
}

at::Tensor BatchSlab::vertices(const std::shared_ptr<void>& memory, at::Device device) const {
  return tensor<std::int64_t>(structure_.size() - 1, memory, device);
}

}  // namespace gnomon::runtime
