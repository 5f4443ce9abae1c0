#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/device/gcn.h"
#include "kernels/device/sparse-inl.h"
#include "kernels/device/stored-inl.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

// A GPU's own functions, whose error is below three units of the last place, need no call of a subroutine,
// for which registers are saved.

/// 1 / √(degree + 1).
constexpr float inverse_root(float degree) {
#ifdef __CUDA_ARCH__
  return rsqrtf(degree + 1);
#else
  return 1 / std::sqrt(degree + 1);
#endif
}

/// The factor of the sum over a destination's entries; 0 if there are none.
constexpr float scale_of_sum(float degree, std::int64_t entries) {
  const auto drawn = static_cast<float>(entries > 0 ? entries : 1);
#ifdef __CUDA_ARCH__
  const float ratio = __fdividef(degree, drawn);
#else
  const float ratio = degree / drawn;
#endif
  return entries > 0 ? ratio * inverse_root(degree) : 0;
}

/// Row columns[entry] of `rows`, times the inverse root of the column's degree.
template <int size, class Rows>
struct RowsOverRoots {
  Rows rows;
  const std::int32_t* columns;
  const float* degrees;

  constexpr Pack<size> operator()(std::int64_t, std::int64_t column, std::int64_t entry) const {
    const std::int64_t from = columns[entry];
    return scaled(rows(from, column), inverse_root(degrees[from]));
  }
};

/// Adds up to packs.
template <int size>
constexpr Pack<size> plus(Pack<size> left, const Pack<size>& right) {
  for (int i = 0; i < size; ++i) {
    left.value[i] += right.value[i];
  }
  return left;
}

/// out[row, :] = total times the row's factor, plus its own row of `rows` over degree + 1.
template <int size, class Rows>
struct PlusOwnOverDegree {
  Rows rows;
  const float* degrees;
  Pack<size>* out;

  constexpr void operator()(std::int64_t index, const MatrixIndex& at, std::int64_t entries,
                            const Pack<size>& total) const {
    const float degree = degrees[at.row];
    const float root = inverse_root(degree);
    const Pack<size> own = scaled(rows(at.row, at.column * size), root * root);
    out[index] = plus(scaled(total, scale_of_sum(degree, entries)), own);
  }
};

/// Row destinations[entry] of a gradient, times the destination's factor.
template <int size>
struct GradientsOfSums {
  DenseRow<size> gradient;
  const std::int32_t* destinations;
  const std::int64_t* indptr;  ///< of the destinations
  const float* degrees;

  constexpr Pack<size> operator()(std::int64_t, std::int64_t column, std::int64_t entry) const {
    const std::int64_t from = destinations[entry];
    return scaled(gradient(from, column), scale_of_sum(degrees[from], indptr[from + 1] - indptr[from]));
  }
};

/// out[row, :] = total over the root of the row's degree + 1, for a destination plus its own gradient over
/// degree + 1.
template <int size>
struct PlusOwnGradientOverDegree {
  DenseRow<size> gradient;
  std::int64_t destinations;
  const float* degrees;
  Pack<size>* out;

  constexpr void operator()(std::int64_t index, const MatrixIndex& at, std::int64_t,
                            const Pack<size>& total) const {
    const float root = inverse_root(degrees[at.row]);
    Pack<size> sum = scaled(total, root);
    if (at.row < destinations) {
      sum = plus(sum, scaled(gradient(at.row, at.column * size), root * root));
    }
    out[index] = sum;
  }
};

/// `rows`(row, column) is `size` values of a row of x.
template <int size, class Executor, class Rows>
void gcn_propagate_rows(Executor& executor, const SparseRows& a, const float* degrees, const Rows& rows,
                        std::int64_t width, float* y) {
  reduce_rows_to<Sum, size>(executor, a, RowsOverRoots<size, Rows>{rows, a.columns, degrees}, width,
                            PlusOwnOverDegree<size, Rows>{rows, degrees, reinterpret_cast<Pack<size>*>(y)});
}

}  // namespace passes

template <class Executor>
void gcn_propagate(Executor& executor, const SparseRows& a, const float* degrees, const float* x,
                   std::int64_t width, float* y) {
  passes::with_packs(width, {x, y}, [&](auto size) {
    passes::gcn_propagate_rows<size>(executor, a, degrees, passes::DenseRow<size>{x, width}, width, y);
  });
}

template <class Executor>
void gcn_propagate_gradient(Executor& executor, const SparseRows& transposed, const SparseRows& a,
                            const float* degrees, const float* gradient, std::int64_t width,
                            float* x_gradient) {
  passes::with_packs(width, {gradient, x_gradient}, [&](auto size) {
    const passes::DenseRow<size> rows{gradient, width};
    passes::reduce_rows_to<passes::Sum, size>(
        executor, transposed, passes::GradientsOfSums<size>{rows, transposed.columns, a.indptr, degrees},
        width,
        passes::PlusOwnGradientOverDegree<size>{rows, a.num_rows, degrees,
                                                reinterpret_cast<passes::Pack<size>*>(x_gradient)});
  });
}

template <class Executor>
void gcn_propagate_stored(Executor& executor, const SparseRows& a, const float* degrees, const StoredRows& x,
                          const KeptElements& kept, float* y) {
  passes::with_stored(x, y, [&](auto element, auto size) {
    passes::gcn_propagate_rows<size>(executor, a, degrees,
                                     passes::DroppedRow<decltype(element), size>{x, kept}, x.columns, y);
  });
}

}  // namespace gnomon::kernels::device
