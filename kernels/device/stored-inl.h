#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/device/half.h"
#include "kernels/device/row_sums-inl.h"
#include "kernels/device/stored.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// Consecutive stored elements that are loaded together.
template <class T, int size>
struct alignas(size * sizeof(T)) StoredPack {
  T value[size];
};

/// Loads `size` elements of one of x's rows as fp32.
template <class T, int size>
constexpr Pack<size> load_stored(const StoredRows& x, std::int64_t row, std::int64_t column) {
  const auto* elements = reinterpret_cast<const T*>(x.rows.row(x.vertices[row]));
  const auto stored = *reinterpret_cast<const StoredPack<T, size>*>(elements + column);
  Pack<size> pack{};
  for (int i = 0; i < size; ++i) {
    pack.value[i] = float_of(stored.value[i]);
  }
  return pack;
}

/// `size` elements of one of x's rows after dropout.
template <class T, int size>
struct DroppedRow {
  StoredRows x;
  KeptElements kept;

  constexpr Pack<size> operator()(std::int64_t row, std::int64_t column) const {
    Pack<size> pack = load_stored<T, size>(x, row, column);
    if (kept.bits != nullptr) {
      for (int i = 0; i < size; ++i) {
        const std::int64_t element = row * x.columns + column + i;
        const bool is_kept = (kept.bits[element / 8] >> (element % 8) & 1) != 0;
        pack.value[i] = is_kept ? pack.value[i] * kept.scale : 0;
      }
    }
    return pack;
  }
};

/// Stored row columns[entry] after dropout, times the column's factor.
template <class T, int size>
struct StoredRowsOfColumns {
  DroppedRow<T, size> rows;
  const std::int32_t* columns;
  const float* factors;  ///< null: ones

  constexpr Pack<size> operator()(std::int64_t, std::int64_t column, std::int64_t entry) const {
    const std::int64_t from = columns[entry];
    Pack<size> addend = rows(from, column);
    if (factors != nullptr) {
      for (int i = 0; i < size; ++i) {
        addend.value[i] *= factors[from];
      }
    }
    return addend;
  }
};

/// One index per pack of a row; packs do not cross dropout blocks.
template <class T, int size>
struct ReadStored {
  StoredRows x;
  DropoutRule rule;
  std::int64_t first;
  std::int64_t packs;  ///< per row
  Pack<size>* out;

  constexpr void operator()(std::int64_t index) const {
    const MatrixIndex at = matrix_index(index, packs);
    const std::int64_t row = first + at.row;
    Pack<size> pack = load_stored<T, size>(x, row, at.column * size);
    if (rule.threshold > 0) {
      const std::int64_t element = row * x.columns + at.column * size;
      const base::Words4 words = rule.words(element / dropout_block);
      for (int i = 0; i < size; ++i) {
        const bool is_dropped = rule.is_dropped(words, element % dropout_block + i);
        pack.value[i] = is_dropped ? 0 : pack.value[i] * rule.scale();
      }
    }
    out[index] = pack;
  }
};

struct KeepBlock {
  DropoutRule rule;
  std::uint8_t* bits;
  constexpr void operator()(std::int64_t block) const { bits[block] = rule.kept(rule.words(block)); }
};

/// Calls act(value of the stored type, size), where `size` is the number of elements per load that alignment
/// allows.
template <class Act>
void with_stored(const StoredRows& x, const float* out, const Act& act) {
  constexpr int wide = 4;
  const auto addresses = reinterpret_cast<std::uintptr_t>(x.rows.all) |
                         reinterpret_cast<std::uintptr_t>(x.rows.cached) |
                         static_cast<std::uintptr_t>(x.rows.row_bytes);
  const auto choose_size = [&](auto element) {
    const bool is_aligned = addresses % (wide * sizeof(element)) == 0 &&
                            reinterpret_cast<std::uintptr_t>(out) % alignof(Pack<wide>) == 0;
    if (is_aligned) {
      act(element, std::integral_constant<int, wide>());
    } else {
      act(element, std::integral_constant<int, 1>());
    }
  };
  if (x.element == Element::fp32) {
    choose_size(float());
  } else if (x.element == Element::fp16) {
    choose_size(std::uint16_t());
  } else {
    choose_size(Bf16());
  }
}

}  // namespace passes

template <class Executor>
void spmm_stored(Executor& executor, const SparseRows& a, const Scales& scales, const StoredRows& x,
                 const KeptElements& kept, float* y) {
  passes::with_stored(x, y, [&](auto element, auto size) {
    const passes::StoredRowsOfColumns<decltype(element), size> addends{{x, kept}, a.columns, scales.columns};
    passes::reduce_rows<passes::Sum, size>(executor, a, addends, x.columns, scales.rows, y);
  });
}

template <class Executor>
void own_and_mean_stored(Executor& executor, const SparseRows& a, const StoredRows& x,
                         const KeptElements& kept, float* y) {
  passes::with_stored(x, y, [&](auto element, auto size) {
    const passes::DroppedRow<decltype(element), size> rows{x, kept};
    const passes::StoredRowsOfColumns<decltype(element), size> addends{rows, a.columns, nullptr};
    passes::own_beside_mean<size>(executor, a, addends, rows, x.columns, y);
  });
}

template <class Executor>
void read_stored(Executor& executor, const StoredRows& x, const DropoutRule& rule, std::int64_t first,
                 std::int64_t count, float* out) {
  passes::with_stored(x, out, [&](auto element, auto size) {
    const std::int64_t packs = x.columns / size;
    executor.for_each(count * packs, passes::ReadStored<decltype(element), size>{
                                         x, rule, first, packs, reinterpret_cast<passes::Pack<size>*>(out)});
  });
}

template <class Executor>
void kept_elements(Executor& executor, const DropoutRule& rule, std::int64_t count, std::uint8_t* bits) {
  executor.for_each((count + dropout_block - 1) / dropout_block, passes::KeepBlock{rule, bits});
}

}  // namespace gnomon::kernels::device
