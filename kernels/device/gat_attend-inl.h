#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/device/gat.h"
#include "kernels/device/gat_weights-inl.h"
#include "kernels/device/row_sums-inl.h"
#include "kernels/device/sparse-inl.h"

// The forward pass of a layer of GAT. Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

inline constexpr float negative_slope = 0.2F;  // of the LeakyReLU

constexpr bool adds_loop(const LoopedRows& block, std::int64_t row) {
  return block.loops[row + 1] > block.loops[row];
}

/// What the bodies of a layer's attention have in common.
struct GatView {
  GatAttention of;

  constexpr std::int64_t values() const { return values_of(of.heads); }
  constexpr const float* projection(std::int64_t vertex) const {
    return of.projection + vertex * joint_columns(of.heads);
  }
  /// The sum of an edge's scores, to which the LeakyReLU applies.
  constexpr float score(std::int64_t row, std::int64_t column, std::int64_t head) const {
    return projection(row)[values() + of.heads.count + head] + projection(column)[values() + head];
  }
  constexpr float logit(std::int64_t row, std::int64_t column, std::int64_t head) const {
    const float sum = score(row, column, head);
    return sum > 0 ? sum : sum * negative_slope;
  }
  /// Whether a coefficient is kept, by its number among those of the edges with self-loops.
  constexpr bool is_kept(std::int64_t number) const {
    return of.kept.bits == nullptr || (of.kept.bits[number / 8] >> (number % 8) & 1) != 0;
  }
  /// The place of a self-loop that is no entry, in arrays of coefficients.
  constexpr std::int64_t place_of_loop(std::int64_t row) const { return of.block.rows.num_entries + row; }

  /// Calls act(column, number, place) for each edge of a row: the number is that among the edges with
  /// self-loops, the place that in arrays of coefficients.
  template <class Act>
  constexpr void for_edges(std::int64_t row, const Act& act) const {
    const SparseRows& rows = of.block.rows;
    const std::int64_t last = rows.indptr[row + 1];
    for (std::int64_t entry = rows.indptr[row]; entry < last; ++entry) {
      act(std::int64_t{rows.columns[entry]}, entry + of.block.loops[row], entry);
    }
    if (adds_loop(of.block, row)) {
      act(row, last + of.block.loops[row], place_of_loop(row));
    }
  }
};

/// One index per pack of a row's values. That of a head's first values also writes the head's coefficients.
template <int size>
struct AttendGat {
  GatView view;
  const float* bias;
  GatResults to;

  constexpr void operator()(std::int64_t index) const {
    const Heads& heads = view.of.heads;
    const MatrixIndex at = matrix_index(index, view.values() / size);
    const std::int64_t column = at.column * size;
    const std::int64_t head = column / heads.width;
    float largest = -std::numeric_limits<float>::infinity();
    view.for_edges(at.row, [&](std::int64_t from, std::int64_t, std::int64_t) {
      largest = Max::of(view.logit(at.row, from, head), largest);
    });
    float sum = 0;
    Pack<size> total{};
    const bool writes = column == head * heads.width;
    view.for_edges(at.row, [&](std::int64_t from, std::int64_t number, std::int64_t place) {
      const float exponential = std::exp(view.logit(at.row, from, head) - largest);
      const bool is_kept = view.is_kept(number * heads.count + head);
      sum += exponential;
      if (is_kept) {
        const Pack<size> values = load_pack<size>(view.projection(from) + column);
        for (int i = 0; i < size; ++i) {
          total.value[i] += exponential * values.value[i];
        }
      }
      if (writes) {
        to.exponentials[place * heads.count + head] = is_kept ? exponential : -exponential;
      }
    });
    if (writes) {
      to.scales[at.row * heads.count + head] = 1 / sum;
    }
    total = scaled(total, view.of.kept.scale / sum);
    reinterpret_cast<Pack<size>*>(to.sums)[index] = total;
    reinterpret_cast<Pack<size>*>(to.out)[index] = activated(total, at.row * view.values() + column, column);
  }

 private:
  constexpr Pack<size> activated(Pack<size> total, std::int64_t element, std::int64_t column) const {
    for (int i = 0; i < size; ++i) {
      total.value[i] += bias[column + i];
    }
    const GatActivation& activation = view.of.activation;
    if (!activation.is_elu) {
      return total;
    }
    const DropoutRule& rule = activation.rule;
    const base::Words4 words = rule.threshold > 0 ? rule.words(element / dropout_block) : base::Words4{};
    for (int i = 0; i < size; ++i) {
      const float value = total.value[i] > 0 ? total.value[i] : std::expm1(total.value[i]);
      const bool is_dropped = rule.threshold > 0 && rule.is_dropped(words, element % dropout_block + i);
      total.value[i] = is_dropped ? -0.0F : value * rule.scale() + 0.0F;  // which is never -0
    }
    return total;
  }
};

}  // namespace passes

template <class Executor>
void attend_gat(Executor& executor, const GatAttention& attention, const float* bias,
                const GatResults& results) {
  const passes::GatView view{attention};
  passes::with_packs(attention.heads.width, {attention.projection, results.sums, results.out},
                     [&](auto size) {
                       executor.for_each(attention.block.rows.num_rows * (view.values() / size),
                                         passes::AttendGat<size>{view, bias, results});
                     });
}

}  // namespace gnomon::kernels::device
