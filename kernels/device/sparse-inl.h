#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

#include "kernels/device/row_sums-inl.h"
#include "kernels/device/sparse.h"
#include "kernels/device/sparse_rows-inl.h"
#include "kernels/device/transpose-inl.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

// Addends of row reductions (kernels/device/row_sums-inl.h).

/// Row columns[entry] of x, times the column's factor.
template <int size>
struct RowsOfColumns {
  const float* x;
  std::int64_t width;
  const std::int32_t* columns;
  const float* factors;  ///< null: ones

  constexpr Pack<size> operator()(std::int64_t, std::int64_t column, std::int64_t entry) const {
    const std::int64_t from = columns[entry];
    Pack<size> addend = load_pack<size>(x + from * width + column);
    if (factors != nullptr) {
      for (int i = 0; i < size; ++i) {
        addend.value[i] *= factors[from];
      }
    }
    return addend;
  }
};

/// Values of row `row` of x.
template <int size>
struct DenseRow {
  const float* x;
  std::int64_t width;

  constexpr Pack<size> operator()(std::int64_t row, std::int64_t column) const {
    return load_pack<size>(x + row * width + column);
  }
};

/// The second half of row destinations[entry] of a gradient with rows of 2 · width values, over the number of
/// the destination's entries.
template <int size>
struct GradientsOfMeans {
  const float* gradient;
  std::int64_t width;
  const std::int32_t* destinations;
  const std::int64_t* indptr;  ///< of the destinations

  constexpr Pack<size> operator()(std::int64_t, std::int64_t column, std::int64_t entry) const {
    const std::int64_t from = destinations[entry];
    return scaled(load_pack<size>(gradient + (2 * from + 1) * width + column),
                  inverse_degree(indptr[from + 1] - indptr[from]));
  }
};

/// out[row, :] = total, for a destination plus the first half of its gradient.
template <int size>
struct PlusOwnGradient {
  const float* gradient;
  std::int64_t width;
  std::int64_t destinations;
  float* out;

  constexpr void operator()(std::int64_t index, const MatrixIndex& at, std::int64_t, Pack<size> total) const {
    if (at.row < destinations) {
      const Pack<size> own = load_pack<size>(gradient + 2 * at.row * width + at.column * size);
      for (int i = 0; i < size; ++i) {
        total.value[i] += own.value[i];
      }
    }
    reinterpret_cast<Pack<size>*>(out)[index] = total;
  }
};

/// Row columns[entry] of x, times the weight of the entry's edge for the column's head.
template <int size>
struct WeightedRows {
  const float* x;
  Heads heads;
  const std::int32_t* columns;
  const float* weights;
  const std::int32_t* edges;  ///< null: entry i is edge i

  constexpr Pack<size> operator()(std::int64_t, std::int64_t column, std::int64_t entry) const {
    const std::int64_t edge = edges == nullptr ? entry : edges[entry];
    const float weight = weights[edge * heads.count + matrix_index(column, heads.width).row];
    Pack<size> addend = load_pack<size>(x + columns[entry] * (heads.count * heads.width) + column);
    for (int i = 0; i < size; ++i) {
      addend.value[i] *= weight;
    }
    return addend;
  }
};

/// The value of the entry's edge.
struct EdgeValues {
  const float* values;
  std::int64_t heads;
  const std::int32_t* edges;  ///< null: entry i is edge i

  constexpr Pack<1> operator()(std::int64_t, std::int64_t head, std::int64_t entry) const {
    return {{values[(edges == nullptr ? entry : edges[entry]) * heads + head]}};
  }
};

/// The product of an edge's two values.
struct EdgeProducts {
  const float* left;
  const float* right;
  std::int64_t heads;

  constexpr Pack<1> operator()(std::int64_t, std::int64_t head, std::int64_t edge) const {
    return {{left[edge * heads + head] * right[edge * heads + head]}};
  }
};

/// exp(logit − maximum of the row).
struct Exponentials {
  const float* logits;
  const float* maxima;
  std::int64_t heads;

  constexpr Pack<1> operator()(std::int64_t row, std::int64_t head, std::int64_t edge) const {
    return {{std::exp(logits[edge * heads + head] - maxima[row * heads + head])}};
  }
};

struct Softmax {
  const std::int32_t* row_of_entry;
  std::int64_t heads;
  const float* logits;
  const float* maxima;
  const float* sums;
  float* y;
  constexpr void operator()(std::int64_t i) const {
    const MatrixIndex at = matrix_index(i, heads);
    const std::int64_t row = row_of_entry[at.row];
    if (row >= 0) {
      const std::int64_t total = row * heads + at.column;
      y[i] = std::exp(logits[i] - maxima[total]) / sums[total];
    }
  }
};

struct SoftmaxGradient {
  const std::int32_t* row_of_entry;
  std::int64_t heads;
  const float* softmax;
  const float* gradient;
  const float* dots;
  float* y;
  constexpr void operator()(std::int64_t i) const {
    const MatrixIndex at = matrix_index(i, heads);
    const std::int64_t row = row_of_entry[at.row];
    if (row >= 0) {
      y[i] = softmax[i] * (gradient[i] - dots[row * heads + at.column]);
    }
  }
};

struct AddScores {
  const std::int32_t* columns;
  const std::int32_t* row_of_entry;
  std::int64_t heads;
  const float* row_scores;
  const float* column_scores;
  float* y;
  constexpr void operator()(std::int64_t i) const {
    const MatrixIndex at = matrix_index(i, heads);
    const std::int64_t row = row_of_entry[at.row];
    if (row >= 0) {
      y[i] = row_scores[row * heads + at.column] + column_scores[columns[at.row] * heads + at.column];
    }
  }
};

/// Partial dot products: `lanes` threads share the dot product of one edge and head. Index i is thread i %
/// lanes of it, and the threads take the values in turn.
template <int size>
struct DotLanes {
  const std::int32_t* columns;
  const std::int32_t* row_of_entry;
  Heads heads;
  std::int64_t lanes;
  const float* row_values;
  const float* column_values;
  float* parts;
  constexpr void operator()(std::int64_t i) const {
    const MatrixIndex lane = matrix_index(i, lanes);
    const MatrixIndex at = matrix_index(lane.row, heads.count);
    const std::int64_t row = row_of_entry[at.row];
    if (row < 0) {
      return;
    }
    const float* left = row_values + (row * heads.count + at.column) * heads.width;
    const float* right = column_values + (columns[at.row] * heads.count + at.column) * heads.width;
    float sum = 0;
    for (std::int64_t j = lane.column * size; j < heads.width; j += lanes * size) {
      const Pack<size> a = load_pack<size>(left + j);
      const Pack<size> b = load_pack<size>(right + j);
      for (int k = 0; k < size; ++k) {
        sum += a.value[k] * b.value[k];
      }
    }
    parts[i] = sum;
  }
};

struct SumLanes {
  const float* parts;
  std::int64_t lanes;
  float* y;
  constexpr void operator()(std::int64_t i) const {
    float sum = 0;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      sum += parts[i * lanes + lane];
    }
    y[i] = sum;
  }
};

/// Calls act(size) with the number of floats per load: the largest for which rows of `width` at these
/// addresses are aligned.
template <class Act>
void with_packs(std::int64_t width, std::initializer_list<const float*> arrays, const Act& act) {
  bool fits = width % 4 == 0;
  for (const float* array : arrays) {
    fits = fits && reinterpret_cast<std::uintptr_t>(array) % alignof(Pack<4>) == 0;
  }
  if (fits) {
    act(std::integral_constant<int, 4>());
  } else {
    act(std::integral_constant<int, 1>());
  }
}

}  // namespace passes

template <class Executor>
void spmm(Executor& executor, const SparseRows& a, const Scales& scales, const float* x, std::int64_t width,
          float* y) {
  passes::with_packs(width, {x, y}, [&](auto size) {
    const passes::RowsOfColumns<size> addends{x, width, a.columns, scales.columns};
    passes::reduce_rows<passes::Sum, size>(executor, a, addends, width, scales.rows, y);
  });
}

template <class Executor>
void own_and_mean(Executor& executor, const SparseRows& a, const float* x, std::int64_t width, float* y) {
  passes::with_packs(width, {x, y}, [&](auto size) {
    const passes::RowsOfColumns<size> addends{x, width, a.columns, nullptr};
    passes::own_beside_mean<size>(executor, a, addends, passes::DenseRow<size>{x, width}, width, y);
  });
}

template <class Executor>
void own_and_mean_gradient(Executor& executor, const SparseRows& transposed, const SparseRows& a,
                           const float* gradient, std::int64_t width, float* x_gradient) {
  passes::with_packs(width, {gradient, x_gradient}, [&](auto size) {
    const passes::GradientsOfMeans<size> addends{gradient, width, transposed.columns, a.indptr};
    passes::reduce_rows_to<passes::Sum, size>(
        executor, transposed, addends, width,
        passes::PlusOwnGradient<size>{gradient, width, a.num_rows, x_gradient});
  });
}

template <class Executor>
void spmm_weighted(Executor& executor, const SparseRows& a, const Heads& heads, const float* weights,
                   const float* x, float* y) {
  passes::with_packs(heads.width, {x, y}, [&](auto size) {
    const passes::WeightedRows<size> addends{x, heads, a.columns, weights, a.edges};
    passes::reduce_rows<passes::Sum, size>(executor, a, addends, heads.count * heads.width, nullptr, y);
  });
}

template <class Executor>
void sum_edges(Executor& executor, const SparseRows& a, std::int64_t heads, const float* values, float* y) {
  passes::reduce_rows<passes::Sum, 1>(executor, a, passes::EdgeValues{values, heads, a.edges}, heads, nullptr,
                                      y);
}

template <class Executor>
void sddmm_add(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry, std::int64_t heads,
               const float* row_scores, const float* column_scores, float* y) {
  executor.for_each(a.num_entries * heads,
                    passes::AddScores{a.columns, row_of_entry, heads, row_scores, column_scores, y});
}

template <class Executor>
void sddmm_dot(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry, const Heads& heads,
               const float* row_values, const float* column_values, float* y) {
  const std::int64_t results = a.num_entries * heads.count;
  passes::with_packs(heads.width, {row_values, column_values}, [&](auto size) {
    const std::int64_t lanes = heads.width > size ? 8 : 1;
    const auto parts = make_array<float>(executor, lanes == 1 ? 0 : results * lanes);
    executor.for_each(results * lanes,
                      passes::DotLanes<size>{a.columns, row_of_entry, heads, lanes, row_values, column_values,
                                             lanes == 1 ? y : parts.data});
    if (lanes > 1) {
      executor.for_each(results, passes::SumLanes{parts.data, lanes, y});
    }
  });
}

template <class Executor>
void edge_softmax(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                  std::int64_t heads, const float* logits, float* y) {
  const auto maxima = make_array<float>(executor, a.num_rows * heads);
  const auto sums = make_array<float>(executor, a.num_rows * heads);
  passes::reduce_rows<passes::Max, 1>(executor, a, passes::EdgeValues{logits, heads, nullptr}, heads, nullptr,
                                      maxima.data);
  passes::reduce_rows<passes::Sum, 1>(executor, a, passes::Exponentials{logits, maxima.data, heads}, heads,
                                      nullptr, sums.data);
  executor.for_each(a.num_entries * heads,
                    passes::Softmax{row_of_entry, heads, logits, maxima.data, sums.data, y});
}

template <class Executor>
void edge_softmax_backward(Executor& executor, const SparseRows& a, const std::int32_t* row_of_entry,
                           std::int64_t heads, const float* softmax, const float* gradient, float* y) {
  const auto dots = make_array<float>(executor, a.num_rows * heads);
  passes::reduce_rows<passes::Sum, 1>(executor, a, passes::EdgeProducts{softmax, gradient, heads}, heads,
                                      nullptr, dots.data);
  executor.for_each(a.num_entries * heads,
                    passes::SoftmaxGradient{row_of_entry, heads, softmax, gradient, dots.data, y});
}

}  // namespace gnomon::kernels::device
