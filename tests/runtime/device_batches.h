#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/batch/batch_data.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/batch/device_batch.h"

namespace gnomon::runtime {

/// Byte for byte, wherever they lie.
inline void expect_same(const at::Tensor& left, const at::Tensor& right) {
  const auto a = left.cpu();
  const auto b = right.cpu();
  ASSERT_EQ(a.sizes(), b.sizes());
  ASSERT_EQ(a.scalar_type(), b.scalar_type());
  EXPECT_EQ(std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()), 0);
}

/// What a model reads of them, once the batch is prepared.
inline void expect_same(const DeviceBatch& batch, const BatchData& data) {
  if (batch.work) {
    batch.work->wait();
  }
  const auto tensors = tensors_of(batch);
  const auto expected = view_of(data);
  expect_same(tensors.features, expected.features);
  expect_same(tensors.labels, expected.labels);
  expect_same(tensors.degrees, expected.degrees);
  ASSERT_EQ(tensors.blocks.size(), expected.blocks.size());
  for (std::size_t hop = 0; hop < expected.blocks.size(); ++hop) {
    EXPECT_EQ(tensors.blocks[hop]->num_sources(), expected.blocks[hop]->num_sources());
    expect_same(tensors.blocks[hop]->indptr(), expected.blocks[hop]->indptr());
    expect_same(tensors.blocks[hop]->indices(), expected.blocks[hop]->indices());
  }
}

}  // namespace gnomon::runtime
