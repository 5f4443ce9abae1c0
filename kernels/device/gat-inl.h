#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/device/gat.h"
#include "kernels/device/gat_attend-inl.h"

// The backward pass of a layer of GAT. Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// Two bodies in one launch.
template <class First, class Second>
struct Both {
  static constexpr int min_blocks = min_blocks_without_spills;
  First first;
  std::int64_t count;  ///< of the first one's indices
  Second second;

  constexpr void operator()(std::int64_t i) const {
    if (i < count) {
      first(i);
    } else {
      second(i - count);
    }
  }
};

template <class Executor, class First, class Second>
void for_both(Executor& executor, std::int64_t first_count, const First& first, std::int64_t second_count,
              const Second& second) {
  executor.for_each(first_count + second_count, Both<First, Second>{first, first_count, second});
}

/// The gradient of the sums, given that of the outputs.
template <int size>
struct GradientOfGatSums {
  GatActivation activation;
  std::int64_t values;
  const float* out;
  const float* gradient;

  constexpr Pack<size> operator()(std::int64_t row, std::int64_t column) const {
    Pack<size> of_sums = load_pack<size>(gradient + row * values + column);
    if (activation.is_elu) {
      const Pack<size> outputs = load_pack<size>(out + row * values + column);
      const float scale = activation.rule.scale();
      for (int i = 0; i < size; ++i) {
        const float output = outputs.value[i];
        const bool is_dropped = __builtin_bit_cast(std::uint32_t, output) == 0x80000000U;
        // The derivative of the exponential linear unit is 1 where it is positive, and 1 more than it
        // elsewhere.
        const float derivative = output > 0 ? 1 : output / scale + 1;
        of_sums.value[i] = is_dropped ? 0 : of_sums.value[i] * scale * derivative;
      }
    }
    return of_sums;
  }
};

template <int size>
struct WriteGradientOfGatSums {
  GradientOfGatSums<size> gradients;
  Pack<size>* to;
  constexpr void operator()(std::int64_t index) const {
    const MatrixIndex at = matrix_index(index, gradients.values / size);
    to[index] = gradients(at.row, at.column * size);
  }
};

/// Of each coefficient, the factor of the edge's values after dropout and the gradient of the sum of its
/// scores. One index per coefficient.
///
/// The gradient of a logit is p · (m · g·x - Σ' p' m' g·x') for the softmax p and dropout's factor m of the
/// coefficient, the values x, and the gradient g of the row's sums, which are o = Σ' p' m' x'. So it is p · g
/// · (m x - o).
template <int size>
struct GradientsOfGatCoefficients {
  GatView view;
  GradientOfGatSums<size> gradients;
  GatResults results;
  float* factors;
  float* of_scores;

  constexpr void operator()(std::int64_t i) const {
    const SparseRows& rows = view.of.block.rows;
    const MatrixIndex at = matrix_index(i, view.of.heads.count);
    const std::int64_t row = row_of_place(at.row);
    if (row >= 0) {
      write(i, row, at.row < rows.num_entries ? std::int64_t{rows.columns[at.row]} : row, at.column);
    }
  }

 private:
  /// -1 where a coefficient's place is not used.
  constexpr std::int64_t row_of_place(std::int64_t place) const {
    const LoopedRows& block = view.of.block;
    if (place >= block.rows.num_entries) {
      const std::int64_t row = place - block.rows.num_entries;
      return adds_loop(block, row) ? row : -1;
    }
    return place < block.rows.indptr[block.rows.num_rows] ? row_with(block.rows, place) : -1;
  }
  constexpr void write(std::int64_t i, std::int64_t row, std::int64_t from, std::int64_t head) const {
    const Heads& heads = view.of.heads;
    const float exponential = results.exponentials[i];
    const float factor = exponential > 0 ? view.of.kept.scale : 0;
    float dot = 0;
    for (std::int64_t j = head * heads.width; j < (head + 1) * heads.width; j += size) {
      const Pack<size> gradient = gradients(row, j);
      const Pack<size> values = load_pack<size>(view.projection(from) + j);
      const Pack<size> sums = load_pack<size>(results.sums + row * view.values() + j);
      for (int k = 0; k < size; ++k) {
        dot += gradient.value[k] * (factor * values.value[k] - sums.value[k]);
      }
    }
    const float softmax = std::fabs(exponential) * results.scales[row * heads.count + head];
    factors[i] = softmax * factor;
    of_scores[i] = softmax * dot * (view.score(row, from, head) > 0 ? 1 : negative_slope);
  }
};

/// Gradients that are summed up for a source: those of values and, behind these, those of its scores.
template <int size>
struct GatEdgeGradients {
  Heads heads;
  const float* of_sums;
  const float* factors;
  const float* of_scores;

  /// Those of one coefficient; `place` is that of head 0 in arrays of coefficients.
  constexpr Pack<size> at(std::int64_t row, std::int64_t column, std::int64_t place) const {
    const std::int64_t values = values_of(heads);
    if (column < values) {
      return scaled(load_pack<size>(of_sums + row * values + column),
                    factors[place * heads.count + column / heads.width]);
    }
    Pack<size> scores{};
    for (int i = 0; i < size; ++i) {
      const std::int64_t head = column - values + i;
      scores.value[i] = head < heads.count ? of_scores[place * heads.count + head] : 0;
    }
    return scores;
  }
};

template <int size>
struct GatEdgeGradientsOfSource {
  GatEdgeGradients<size> gradients;
  const std::int32_t* destinations;
  const std::int32_t* edges;

  constexpr Pack<size> operator()(std::int64_t, std::int64_t column, std::int64_t entry) const {
    return gradients.at(destinations[entry], column, edges[entry]);
  }
};

/// out[row, :] = total plus, for a destination, the gradients of its self-loop and those of its scores as a
/// destination.
template <int size>
struct PlusGradientsOfDestination {
  GatView view;
  GatEdgeGradients<size> gradients;
  Pack<size>* out;

  constexpr void operator()(std::int64_t index, const MatrixIndex& at, std::int64_t, Pack<size> total) const {
    if (at.row < view.of.block.rows.num_rows) {
      const std::int64_t column = at.column * size;
      if (adds_loop(view.of.block, at.row)) {
        const Pack<size> own = gradients.at(at.row, column, view.place_of_loop(at.row));
        for (int i = 0; i < size; ++i) {
          total.value[i] += own.value[i];
        }
      }
      for (int i = 0; i < size; ++i) {
        const std::int64_t head = column + i - view.values() - view.of.heads.count;
        if (head >= 0 && head < view.of.heads.count) {
          total.value[i] = sum_of_scores(at.row, head);
        }
      }
    }
    out[index] = total;
  }

 private:
  constexpr float sum_of_scores(std::int64_t row, std::int64_t head) const {
    float sum = 0;
    view.for_edges(row, [&](std::int64_t, std::int64_t, std::int64_t place) {
      sum += gradients.of_scores[place * view.of.heads.count + head];
    });
    return sum;
  }
};

/// The rows whose share of a column's sum one index computes: about the root of all, so that neither their
/// sums nor the sum of these takes long.
constexpr std::int64_t rows_of_part(std::int64_t rows) {
  std::int64_t part = 16;
  while (part * part < rows) {
    part *= 2;
  }
  return part;
}

template <int size>
struct PartsOfColumns {
  const float* x;
  std::int64_t rows;
  std::int64_t packs;  ///< per row
  Pack<size>* parts;

  constexpr void operator()(std::int64_t i) const {
    const MatrixIndex at = matrix_index(i, packs);
    const std::int64_t first = at.row * rows_of_part(rows);
    const std::int64_t end = first + rows_of_part(rows);
    Pack<size> sum{};
    for (std::int64_t row = first; row < (end < rows ? end : rows); ++row) {
      const Pack<size> values = load_pack<size>(x + (row * packs + at.column) * size);
      for (int k = 0; k < size; ++k) {
        sum.value[k] += values.value[k];
      }
    }
    parts[i] = sum;
  }
};

template <int size>
struct SumOfParts {
  const Pack<size>* parts;
  std::int64_t count;
  std::int64_t packs;
  float* out;

  constexpr void operator()(std::int64_t pack) const {
    double sum[size] = {};
    for (std::int64_t part = 0; part < count; ++part) {
      const Pack<size> values = parts[part * packs + pack];
      for (int k = 0; k < size; ++k) {
        sum[k] += static_cast<double>(values.value[k]);
      }
    }
    for (int k = 0; k < size; ++k) {
      out[pack * size + k] = static_cast<float>(sum[k]);
    }
  }
};

/// The second and the third launch of attend_gat_gradient: sums over edges beside sums over rows.
template <int size, class Executor>
void sum_gat_gradients(Executor& executor, const GatView& view, const SparseRows& transposed,
                       const GatEdgeGradients<size>& gradients, float* projection_gradient,
                       float* bias_gradient) {
  using Addends = GatEdgeGradientsOfSource<size>;
  using Result = PlusGradientsOfDestination<size>;
  const std::int64_t packs = joint_columns(view.of.heads) / size;
  const Addends addends{gradients, transposed.columns, transposed.edges};
  const std::int64_t chunks = transposed.num_entries > chunk_entries
                                  ? (transposed.num_entries + chunk_entries - 1) / chunk_entries
                                  : 0;
  const auto parts = make_array<Pack<size>>(executor, 2 * chunks * packs);
  const std::int64_t rows = view.of.block.rows.num_rows;
  const std::int64_t value_packs = view.values() / size;
  const std::int64_t row_parts = (rows + rows_of_part(rows) - 1) / rows_of_part(rows);
  const auto columns = make_array<Pack<size>>(executor, row_parts * value_packs);
  for_both(executor, chunks * packs, ReduceChunk<Sum, size, Addends>{transposed, addends, packs, parts.data},
           row_parts * value_packs, PartsOfColumns<size>{gradients.of_sums, rows, value_packs, columns.data});
  const Result result{view, gradients, reinterpret_cast<Pack<size>*>(projection_gradient)};
  for_both(executor, transposed.num_rows * packs,
           ReduceRow<Sum, size, Addends, Result>{transposed, addends, packs, parts.data, result}, value_packs,
           SumOfParts<size>{columns.data, row_parts, value_packs, bias_gradient});
}

}  // namespace passes

template <class Executor>
void attend_gat_gradient(Executor& executor, const GatAttention& attention, const SparseRows& transposed,
                         const GatResults& results, const float* gradient, float* projection_gradient,
                         float* bias_gradient) {
  const passes::GatView view{attention};
  const SparseRows& rows = attention.block.rows;
  const std::int64_t coefficients = (rows.num_entries + rows.num_rows) * attention.heads.count;
  const std::int64_t elements = attention.activation.is_elu ? rows.num_rows * view.values() : 0;
  const auto written = make_array<float>(executor, elements);
  const auto factors = make_array<float>(executor, 2 * coefficients);
  const float* of_sums = attention.activation.is_elu ? written.data : gradient;
  passes::with_packs(
      attention.heads.width,
      {attention.projection, results.sums, results.out, gradient, projection_gradient, written.data},
      [&](auto size) {
        const passes::GradientOfGatSums<size> gradients{attention.activation, view.values(), results.out,
                                                        gradient};
        float* of_scores = factors.data + coefficients;
        passes::for_both(
            executor, elements / size,
            passes::WriteGradientOfGatSums<size>{gradients,
                                                 reinterpret_cast<passes::Pack<size>*>(written.data)},
            coefficients,
            passes::GradientsOfGatCoefficients<size>{view, gradients, results, factors.data, of_scores});
        passes::sum_gat_gradients<size>(
            executor, view, transposed,
            passes::GatEdgeGradients<size>{attention.heads, of_sums, factors.data, of_scores},
            projection_gradient, bias_gradient);
      });
}

}  // namespace gnomon::kernels::device
