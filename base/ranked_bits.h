#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/index.h"

namespace gnomon::base {

/// A set of numbers from [0, size) that also tells how many of its members are below a number: a bit for each
/// number, and a count for each 64 of them.
class RankedBits {
 public:
  explicit RankedBits(std::int64_t size) : words_(at((size + 63) / 64 + 1)) {}

  bool contains(std::int64_t number) const {
    return ((words_[at(number / 64)].bits >> (number % 64)) & 1) != 0;
  }
  /// Adds a number. Not thread-safe.
  void add(std::int64_t number) { words_[at(number / 64)].bits |= std::uint64_t{1} << (number % 64); }
  /// Adds begin … end - 1.
  void add_range(std::int64_t begin, std::int64_t end);
  /// To be called after the last addition and before rank(). Returns the number of members.
  std::int64_t count();
  /// Returns the number of members below `number`: the place of a member among all in ascending order.
  std::int64_t rank(std::int64_t number) const {
    const Word& word = words_[at(number / 64)];
    const std::uint64_t below = (std::uint64_t{1} << (number % 64)) - 1;
    return word.before + std::popcount(word.bits & below);
  }
  /// Returns all members, ascending.
  std::vector<std::int64_t> members() const;
  std::int64_t bytes() const { return static_cast<std::int64_t>(words_.size() * sizeof(Word)); }
  /// bytes() of a set of numbers from [0, size).
  static std::int64_t bytes_of(std::int64_t size) {
    return ((size + 63) / 64 + 1) * static_cast<std::int64_t>(sizeof(Word));
  }

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::int64_t before = 0;  ///< members in earlier words
  };
  std::vector<Word> words_;
};

}  // namespace gnomon::base
