#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/index.h"

namespace gnomon::base {

/// A set of numbers from [0, size) that also tells how many of its members are below a number: a bit for each
/// number, and a count for each 32 of them, apart, so that more bits fit into a cache. At most 2^32 - 1
/// members.
class RankedBits {
 public:
  explicit RankedBits(std::int64_t size) : words_(at(num_words(size))), before_(words_.size()) {}

  bool contains(std::int64_t number) const { return ((words_[word_of(number)] >> bit_of(number)) & 1) != 0; }
  /// Adds a number. Not thread-safe.
  void add(std::int64_t number) { words_[word_of(number)] |= std::uint32_t{1} << bit_of(number); }
  /// Adds a number while other threads add some.
  void add_shared(std::int64_t number) {
    const std::atomic_ref word(words_[word_of(number)]);
    const std::uint32_t bit = std::uint32_t{1} << bit_of(number);
    if ((word.load(std::memory_order_relaxed) & bit) == 0) {  // locks the cache line only if it changes
      word.fetch_or(bit, std::memory_order_relaxed);
    }
  }
  /// Adds begin … end - 1.
  void add_range(std::int64_t begin, std::int64_t end);
  /// To be called after the last addition and before rank(). Returns the number of members.
  std::int64_t count();
  /// Returns the number of members below `number`: the place of a member among all in ascending order.
  std::int64_t rank(std::int64_t number) const {
    const std::uint32_t below = (std::uint32_t{1} << bit_of(number)) - 1;
    return before_[word_of(number)] + std::popcount(words_[word_of(number)] & below);
  }
  /// Returns all members, ascending.
  std::vector<std::int64_t> members() const;
  /// The bits of 32 numbers each, and the members below each word.
  std::span<const std::uint32_t> words() const { return words_; }
  std::span<const std::uint32_t> before() const { return before_; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(words_.size()) * word_bytes; }
  /// bytes() of a set of numbers from [0, size).
  static std::int64_t bytes_of(std::int64_t size) { return num_words(size) * word_bytes; }

 private:
  static constexpr std::int64_t word_bytes = 2 * sizeof(std::uint32_t);
  static std::int64_t num_words(std::int64_t size) { return (size + 31) / 32 + 1; }
  static std::size_t word_of(std::int64_t number) { return static_cast<std::uint64_t>(number) / 32; }
  static std::uint64_t bit_of(std::int64_t number) { return static_cast<std::uint64_t>(number) % 32; }

  std::vector<std::uint32_t> words_;
  std::vector<std::uint32_t> before_;  ///< members in earlier words
};

}  // namespace gnomon::base
