#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nn/tensor_batch.h"
#include "runtime/batch/batch_data.h"

namespace gnomon::runtime {

/// The layout of a mini-batch in one block of device memory: its structure, which is first assembled in host
/// memory, followed by the features. It is thus transferred by two copies. Features are dense.
class BatchSlab {
 public:
  /// The parts of a batch that are transferred in addition to labels and blocks.
  struct Parts {
    bool degrees = true;
    bool vertices = false;  ///< the vertices' ids
    bool features = true;
  };

  /// `data` must outlive it. Precondition: data has the parts.
  BatchSlab(const BatchData& data, Parts parts);

  /// The size of the block on the device, and of the structure at its beginning.
  std::size_t bytes() const { return feature_offset_ + (parts_.features ? data_.features.size() : 0); }
  std::size_t structure_bytes() const { return structure_bytes_; }
  std::size_t feature_offset() const { return feature_offset_; }
  /// The bytes that are copied, without alignment padding.
  std::int64_t copied_bytes() const;
  /// Writes the structure, in the layout of the block.
  void write_structure(std::byte* to) const;

  /// The batch as tensors in the block `memory` on `device`, whose ownership they share. `fanouts` bound the
  /// in-degrees of the blocks.
  nn::TensorBatch tensors(const std::shared_ptr<void>& memory, at::Device device,
                          std::span<const int> fanouts) const;
  /// The vertex ids in the block.
  at::Tensor vertices(const std::shared_ptr<void>& memory, at::Device device) const;

 private:
  struct Part {
    const void* data;
    std::size_t bytes;
    std::size_t offset;
  };
  template <class T>
  void add(const std::vector<T>& values);
  template <class T>
  at::Tensor tensor(std::size_t part, const std::shared_ptr<void>& memory, at::Device device) const;

  const BatchData& data_;
  Parts parts_;
  /// Labels, indptr and indices of each block, then degrees and vertices if asked for.
  std::vector<Part> structure_;
  std::size_t structure_bytes_ = 0;
  std::size_t feature_offset_ = 0;
};

}  // namespace gnomon::runtime
