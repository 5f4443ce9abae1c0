#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nn/tensor_batch.h"
#include "runtime/batch/batch_data.h"

namespace gnomon::runtime {

/// A mini-batch as one block of a device's memory: its structure, which is first put together in a block of
/// host memory, and behind it the features. So two copies bring it to the device. Features are dense.
class BatchSlab {
 public:
  /// What of a batch goes to the device beside labels and blocks.
  struct Parts {
    bool degrees = true;
    bool vertices = false;  ///< the vertices' ids
    bool features = true;
  };

  /// `data` must outlive it. Precondition: data has the parts.
  BatchSlab(const BatchData& data, Parts parts);

  /// The size of the block on the device, and of the structure in front of it.
  std::size_t bytes() const { return feature_offset_ + (parts_.features ? data_.features.size() : 0); }
  std::size_t structure_bytes() const { return structure_bytes_; }
  std::size_t feature_offset() const { return feature_offset_; }
  /// The bytes that copies move, without the gaps that align them.
  std::int64_t copied_bytes() const;
  /// Writes the structure, in the layout of the block.
  void write_structure(std::byte* to) const;

  /// The batch as tensors in the block `memory` on `device`, whose ownership they share. `fanouts` bound the
  /// in-degrees of the blocks.
  nn::TensorBatch tensors(const std::shared_ptr<void>& memory, at::Device device,
                          std::span<const int> fanouts) const;
  /// The vertices' ids there.
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
  std::vector<Part>
      structure_;  ///< labels, indptr and indices of each block, then degrees and vertices if asked for
  std::size_t structure_bytes_ = 0;
  std::size_t feature_offset_ = 0;
};

}  // namespace gnomon::runtime
