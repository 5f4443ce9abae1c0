#pragma once

#include <cstdint>

#include "kernels/device/gather.h"
#include "kernels/device/sparse.h"
#include "kernels/dropout_rule.h"

// Also compiled by nvcc as C++17.

/// What a first layer reads of features where they are stored, without a gathered copy, on a device.
namespace gnomon::kernels::device {

enum class Element : std::uint8_t { fp32, fp16 };

/// Feature rows of the vertices of a mini-batch: row c is that of vertices[c] (device memory).
struct StoredRows {
  Rows rows;
  Element element = Element::fp32;
  std::int64_t columns = 0;
  const std::int64_t* vertices = nullptr;
};

/// spmm (kernels/device/sparse.h) whose x is the stored rows after dropout, in fp32: the bits of gathering,
/// converting, dropout and spmm one by one. Elements are numbered as in a gathered copy.
template <class Executor>
void spmm_stored(Executor& executor, const SparseRows& a, const Scales& scales, const StoredRows& x,
                 const KeptElements& kept, float* y);

/// Writes `count` rows from row `first` on after dropout, in fp32: count x columns.
template <class Executor>
void read_stored(Executor& executor, const StoredRows& x, const DropoutRule& rule, std::int64_t first,
                 std::int64_t count, float* out);

/// Writes the bits of elements 0 … count-1 (cpu::kept_elements).
template <class Executor>
void kept_elements(Executor& executor, const DropoutRule& rule, std::int64_t count, std::uint8_t* bits);

}  // namespace gnomon::kernels::device
