#include "kernels/cpu/sparse/sparse_dropout.h"

#include <algorithm>
#include <cstring>

#include "graph/feature_bits.h"

// Compiled for AVX-512, AVX2 and the baseline; the best one is chosen at run time.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/sparse/sparse_dropout.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gnomon::kernels::cpu::HWY_NAMESPACE {
namespace {

/// The elements of one matrix row, which begin within a dropout block.
struct RowElements {
  std::int64_t block;   ///< of the row's first element
  std::uint32_t first;  ///< index of the first element in its block
};

/// The scalar path. Returns the number of kept entries.
std::int64_t keep_one_by_one(const DropoutRule& rule, const RowElements& row, const std::int32_t* columns,
                             std::int64_t count, std::uint8_t* kept) {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t element = row.first + std::int64_t{columns[i]};
    const auto words = rule.words(row.block + element / dropout_block);
    kept[i] = rule.is_dropped(words, element % dropout_block) ? 0 : 1;
    total += kept[i];
  }
  return total;
}

/// Returns 1 in each lane whose column is kept and 0 in the others. The row's blocks differ in the first word
/// of their counters only.
HWY_INLINE Lanes keep_lanes(const DropoutRule& rule, const RowElements& row, const base::Words4& counter,
                            Lanes columns) {
  const LaneTag d;
  const auto element = hn::Add(columns, hn::Set(d, row.first));
  const auto block = hn::ShiftRight<3>(element);
  const auto words = philox({hn::Add(block, hn::Set(d, counter.word[0])), hn::Set(d, counter.word[1]),
                             hn::Set(d, counter.word[2]), hn::Set(d, counter.word[3])},
                            base::stream_cipher(rule.key));
  // Element j of a block has half j % 2 of word j / 2.
  const auto has_bit = [&](std::uint32_t bit) { return hn::TestBit(element, hn::Set(d, bit)); };
  const auto word = hn::IfThenElse(has_bit(4), hn::IfThenElse(has_bit(2), words.word3, words.word2),
                                   hn::IfThenElse(has_bit(2), words.word1, words.word0));
  const auto number =
      hn::And(hn::IfThenElse(has_bit(1), hn::ShiftRight<16>(word), word), hn::Set(d, 0xFFFFU));
  return hn::IfThenZeroElse(hn::Lt(number, hn::Set(d, rule.threshold)), hn::Set(d, 1U));
}

/// Whether the counters of a row's blocks differ in the first word only.
bool is_within_one_word(const RowElements& row, std::int64_t num_columns) {
  const std::int64_t last = row.block + (row.first + num_columns) / dropout_block;
  return row.block >> 32 == last >> 32;
}

/// Returns the number of kept entries.
std::int64_t keep_row(const DropoutRule& rule, const RowElements& row, const std::int32_t* columns,
                      std::int64_t count, std::uint8_t* kept) {
  const LaneTag d;
  const hn::Rebind<std::uint8_t, LaneTag> bytes;
  const hn::RebindToSigned<LaneTag> numbers;
  constexpr std::size_t max_lanes = hn::MaxLanes(LaneTag());
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto stream = rule.key;
  stream.item = static_cast<std::uint64_t>(row.block);
  const auto counter = base::stream_counter(stream, 0);
  auto total = hn::Zero(d);
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto length = static_cast<std::size_t>(std::min(lanes, count - i));
    HWY_ALIGN std::uint32_t padded[max_lanes] = {};
    std::memcpy(padded, columns + i, length * sizeof(std::uint32_t));
    const auto own =
        hn::IfThenElseZero(hn::FirstN(d, length), keep_lanes(rule, row, counter, hn::Load(d, padded)));
    total = hn::Add(total, own);
    HWY_ALIGN std::uint8_t stored[max_lanes];
    hn::Store(hn::DemoteTo(bytes, hn::BitCast(numbers, own)), bytes, stored);
    std::memcpy(kept + i, stored, length);
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

void kept_entries_with(const DropoutRule& rule, const SparseRows& a, RowRange range, std::int64_t num_columns,
                       std::uint8_t* kept, std::int64_t* counts) {
  const std::int64_t* indptr = a.indptr.data();
  for (std::int64_t r = range.first; r < range.last; ++r) {
    const std::int64_t first = r * num_columns;
    const RowElements row{first / dropout_block, static_cast<std::uint32_t>(first % dropout_block)};
    const auto act = is_within_one_word(row, num_columns) ? keep_row : keep_one_by_one;
    counts[r] = act(rule, row, a.columns.data() + indptr[r], indptr[r + 1] - indptr[r], kept + indptr[r]);
  }
}

}  // namespace
}  // namespace gnomon::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gnomon::kernels::cpu {
namespace {

HWY_EXPORT(kept_entries_with);

template <class ValueOf>
void copy_kept_of(const SparseRows& a, RowRange range, const ValueOf& value_of, const std::uint8_t* kept,
                  const std::int64_t* indptr, std::int32_t* to_columns, float* to_values) {
  for (std::int64_t r = range.first; r < range.last; ++r) {
    std::int64_t to = indptr[r];
    // Without a branch on `kept`: an entry that is not kept is overwritten by the next one.
    for (auto entry = static_cast<std::size_t>(a.indptr[static_cast<std::size_t>(r)]); to < indptr[r + 1];
         ++entry) {
      to_columns[to] = a.columns[entry];
      to_values[to] = value_of(entry);
      to += kept[entry];
    }
  }
}

}  // namespace

void kept_entries(const DropoutRule& rule, const SparseRows& a, RowRange range, std::int64_t num_columns,
                  std::uint8_t* kept, std::int64_t* counts) {
  HWY_DYNAMIC_DISPATCH(kept_entries_with)(rule, a, range, num_columns, kept, counts);
}

void copy_kept(const SparseRows& a, RowRange range, const EntryValues& values, float scale,
               const std::uint8_t* kept, const std::int64_t* indptr, std::int32_t* to_columns,
               float* to_values) {
  const auto copy = [&](const auto& value_of) {
    copy_kept_of(a, range, value_of, kept, indptr, to_columns, to_values);
  };
  if (values.data == nullptr) {
    copy([&](std::size_t) { return scale; });
  } else {
    graph::with_bits_of(values.type, [&](auto bits) {
      const auto* data = reinterpret_cast<const typename decltype(bits)::Word*>(values.data);
      copy([&](std::size_t entry) { return bits.to_float(data[entry]) * scale; });
    });
  }
}

}  // namespace gnomon::kernels::cpu
#endif
