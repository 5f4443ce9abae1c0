#include "kernels/cpu/sparse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace gnomon::kernels::cpu {
namespace {

constexpr std::int64_t chunk_entries = 256;  // summed in fp32 before the sum goes on in double precision
constexpr std::int64_t tile_width = 128;     // columns summed at once; they stay in the first-level cache

/// One addend of a row's sum: factor · values[0 … width-1].
struct Term {
  const float* values;
  float factor;
};

template <class TermOf>
void sum_chunk(std::int64_t first, std::int64_t last, std::int64_t offset, std::int64_t width,
               const TermOf& term_of, float* sum) {
  std::fill_n(sum, width, 0.0F);
  for (std::int64_t i = first; i < last; ++i) {
    const Term term = term_of(i);
    const float* values = term.values + offset;
    for (std::int64_t c = 0; c < width; ++c) {
      sum[c] += term.factor * values[c];
    }
  }
}

/// out[0 … width-1] = scale · Σ term_of(i) over the entries first … last-1.
template <class TermOf>
void sum_terms(std::int64_t first, std::int64_t last, std::int64_t width, float scale, const TermOf& term_of,
               float* out) {
  std::array<float, tile_width> sum;
  for (std::int64_t offset = 0; offset < width; offset += tile_width) {
    const std::int64_t tile = std::min(tile_width, width - offset);
    if (last - first <= chunk_entries) {
      sum_chunk(first, last, offset, tile, term_of, sum.data());
      std::transform(sum.data(), sum.data() + tile, out + offset, [&](float value) { return scale * value; });
      continue;
    }
    std::array<double, tile_width> total{};
    for (std::int64_t i = first; i < last; i += chunk_entries) {
      sum_chunk(i, std::min(i + chunk_entries, last), offset, tile, term_of, sum.data());
      std::transform(sum.data(), sum.data() + tile, total.data(), total.data(),
                     [](float part, double before) { return before + part; });
    }
    std::transform(total.data(), total.data() + tile, out + offset,
                   [&](double value) { return static_cast<float>(scale * value); });
  }
}

/// Calls body(row, first entry, end of entries) for each row of the range.
template <class Body>
void for_rows(const SparseRows& a, RowRange range, const Body& body) {
  for (std::int64_t row = range.first; row < range.last; ++row) {
    const auto at = static_cast<std::size_t>(row);
    body(row, a.indptr[at], a.indptr[at + 1]);
  }
}

std::int64_t column(const SparseRows& a, std::int64_t entry) {
  return a.columns[static_cast<std::size_t>(entry)];
}

/// A dot product with eight running sums, which the compiler may keep in one register.
float dot(const float* left, const float* right, std::int64_t width) {
  constexpr std::int64_t lanes = 8;
  std::array<float, lanes> sums{};
  std::int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      sums[static_cast<std::size_t>(lane)] += left[i + lane] * right[i + lane];
    }
  }
  for (std::int64_t lane = 0; i + lane < width; ++lane) {
    sums[static_cast<std::size_t>(lane)] += left[i + lane] * right[i + lane];
  }
  float total = 0;
  for (const float sum : sums) {
    total += sum;
  }
  return total;
}

}  // namespace

void spmm(const SparseRows& a, RowRange range, const Scales& scales, std::span<const float> x,
          std::int64_t width, std::span<float> y) {
  const auto factor = [](std::span<const float> factors, std::int64_t i) {
    return factors.empty() ? 1.0F : factors[static_cast<std::size_t>(i)];
  };
  const auto term_of = [&](std::int64_t i) {
    const std::int64_t c = column(a, i);
    return Term{x.data() + c * width, factor(scales.columns, c)};
  };
  for_rows(a, range, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
    sum_terms(first, last, width, factor(scales.rows, row), term_of, y.data() + row * width);
  });
}

void spmm_weighted(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> weights,
                   std::span<const float> x, std::span<float> y) {
  const std::int64_t stride = heads.count * heads.width;
  for_rows(a, range, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
    for (std::int64_t h = 0; h < heads.count; ++h) {
      const std::int64_t offset = h * heads.width;
      const auto term_of = [&](std::int64_t i) {
        return Term{x.data() + column(a, i) * stride + offset, weights.data()[a.edge(i) * heads.count + h]};
      };
      sum_terms(first, last, heads.width, 1.0F, term_of, y.data() + row * stride + offset);
    }
  });
}

void sum_edges(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> values,
               std::span<float> y) {
  const auto term_of = [&](std::int64_t i) { return Term{values.data() + a.edge(i) * heads, 1.0F}; };
  for_rows(a, range, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
    sum_terms(first, last, heads, 1.0F, term_of, y.data() + row * heads);
  });
}

void sddmm_add(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> row_scores,
               std::span<const float> column_scores, std::span<float> y) {
  for_rows(a, range, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
    const float* left = row_scores.data() + row * heads;
    for (std::int64_t i = first; i < last; ++i) {
      const float* right = column_scores.data() + column(a, i) * heads;
      std::transform(left, left + heads, right, y.data() + a.edge(i) * heads, std::plus<>());
    }
  });
}

void sddmm_dot(const SparseRows& a, RowRange range, const Heads& heads, std::span<const float> row_values,
               std::span<const float> column_values, std::span<float> y) {
  const std::int64_t stride = heads.count * heads.width;
  for_rows(a, range, [&](std::int64_t row, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      for (std::int64_t h = 0; h < heads.count; ++h) {
        const std::int64_t offset = h * heads.width;
        y.data()[a.edge(i) * heads.count + h] =
            dot(row_values.data() + row * stride + offset,
                column_values.data() + column(a, i) * stride + offset, heads.width);
      }
    }
  });
}

void edge_softmax(const SparseRows& a, RowRange range, std::int64_t heads, std::span<const float> logits,
                  std::span<float> y) {
  for_rows(a, range, [&](std::int64_t, std::int64_t first, std::int64_t last) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(a.edge(i) * heads + h); };
      float most = -std::numeric_limits<float>::infinity();
      for (std::int64_t i = first; i < last; ++i) {
        most = std::max(most, logits[at(i)]);
      }
      double total = 0;
      for (std::int64_t i = first; i < last; ++i) {
        y[at(i)] = std::exp(logits[at(i)] - most);
        total += y[at(i)];
      }
      for (std::int64_t i = first; i < last; ++i) {
        y[at(i)] = static_cast<float>(y[at(i)] / total);
      }
    }
  });
}

void edge_softmax_backward(const SparseRows& a, RowRange range, std::int64_t heads,
                           std::span<const float> softmax, std::span<const float> gradient,
                           std::span<float> y) {
  for_rows(a, range, [&](std::int64_t, std::int64_t first, std::int64_t last) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(a.edge(i) * heads + h); };
      double mean = 0;
      for (std::int64_t i = first; i < last; ++i) {
        mean += double{softmax[at(i)]} * gradient[at(i)];
      }
      for (std::int64_t i = first; i < last; ++i) {
        y[at(i)] = static_cast<float>(softmax[at(i)] * (gradient[at(i)] - mean));
      }
    }
  });
}

std::vector<float> inverse_degrees(std::span<const std::int64_t> indptr) {
  std::vector<float> inverse(indptr.size() - 1);
  for (std::size_t row = 0; row < inverse.size(); ++row) {
    const auto degree = static_cast<float>(indptr[row + 1] - indptr[row]);
    inverse[row] = degree > 0 ? 1 / degree : 0;
  }
  return inverse;
}

}  // namespace gnomon::kernels::cpu
