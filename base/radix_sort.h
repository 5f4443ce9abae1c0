#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace gnomon::base {

/// Sorts records by their keys, unsigned integers below 2^bits; records of equal keys keep their order.
/// A radix sort (least significant digit first) for records that fit into a core's cache. `scratch` is memory
/// to use; its content is lost.
template <class Record, class KeyOf>
void radix_sort(std::vector<Record>& records, std::vector<Record>& scratch, int bits, const KeyOf& key_of) {
  constexpr int digit_bits = 11;
  constexpr std::uint64_t num_digits = std::uint64_t{1} << digit_bits;
  scratch.resize(records.size());
  for (int shift = 0; shift < bits; shift += digit_bits) {
    std::array<std::size_t, num_digits> places{};
    const auto digit_of = [&](const Record& record) { return (key_of(record) >> shift) & (num_digits - 1); };
    for (const Record& record : records) {
      ++places[digit_of(record)];
    }
    std::exclusive_scan(places.begin(), places.end(), places.begin(), std::size_t{0});
    for (const Record& record : records) {
      scratch[places[digit_of(record)]++] = record;
    }
    records.swap(scratch);
  }
}

}  // namespace gnomon::base
