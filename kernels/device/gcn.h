#pragma once

#include <cstdint>

#include "kernels/device/sparse.h"
#include "kernels/device/stored.h"

// Also compiled by nvcc as C++17.

/// The propagation of GCN (Kipf and Welling, ICLR 2017, equation 2) on drawn neighbours, on a device, in
/// fp32, with the same bits in every run. Dense arguments are row-major.
namespace gnomon::kernels::device {

/// y[v,:] = degree(v) / entries(v) · r(v) · Σ r(u) · x[u,:] + r(v)² · x[v,:] over v's entries u, where r is
/// 1 / √(degree + 1) and the first term is 0 for an empty row. Rows are a block's destinations, which are the
/// first columns. `degrees` are those of the columns in the whole graph, x is columns x width, y is rows x
/// width.
template <class Executor>
void gcn_propagate(Executor& executor, const SparseRows& a, const float* degrees, const float* x,
                   std::int64_t width, float* y);

/// The gradient of gcn_propagate with respect to x (columns x width), given that with respect to y.
/// `transposed` has the block's sources as rows, `a` its destinations.
template <class Executor>
void gcn_propagate_gradient(Executor& executor, const SparseRows& transposed, const SparseRows& a,
                            const float* degrees, const float* gradient, std::int64_t width,
                            float* x_gradient);

/// gcn_propagate of stored rows after conversion to fp32 and dropout, with the bits of gathering, converting,
/// dropout and gcn_propagate in sequence.
template <class Executor>
void gcn_propagate_stored(Executor& executor, const SparseRows& a, const float* degrees, const StoredRows& x,
                          const KeptElements& kept, float* y);

}  // namespace gnomon::kernels::device
