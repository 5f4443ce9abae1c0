#pragma once

#include <cstdint>

#include "kernels/device/gather.h"
#include "kernels/device/sparse.h"
#include "kernels/dropout_rule.h"

// Also compiled by nvcc as C++17.

/// The kernels of a first layer that reads features in the feature store, without a gathered copy, on a
/// device.
namespace gnomon::kernels::device {

enum class Element : std::uint8_t { fp32, fp16, bf16 };

/// The feature rows of a mini-batch's vertices: row c is that of vertices[c] (device memory).
struct StoredRows {
  Rows rows;
  Element element = Element::fp32;
  std::int64_t columns = 0;
  const std::int64_t* vertices = nullptr;
};

/// spmm (kernels/device/sparse.h) of the stored rows after conversion to fp32 and dropout, with the bits of
/// gathering, converting, dropout and spmm in sequence. Elements are indexed as in a gathered copy.
template <class Executor>
void spmm_stored(Executor& executor, const SparseRows& a, const Scales& scales, const StoredRows& x,
                 const KeptElements& kept, float* y);

/// own_and_mean (kernels/device/sparse.h) of the stored rows, with the same guarantees.
template <class Executor>
void own_and_mean_stored(Executor& executor, const SparseRows& a, const StoredRows& x,
                         const KeptElements& kept, float* y);

/// Writes rows first … first + count - 1 as fp32 after dropout: count x columns.
template <class Executor>
void read_stored(Executor& executor, const StoredRows& x, const DropoutRule& rule, std::int64_t first,
                 std::int64_t count, float* out);

/// Writes the keep mask of elements 0 … count-1 (cpu::kept_elements).
template <class Executor>
void kept_elements(Executor& executor, const DropoutRule& rule, std::int64_t count, std::uint8_t* bits);

}  // namespace gnomon::kernels::device
