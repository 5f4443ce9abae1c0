#include "base/ranked_bits.h"

#include <algorithm>

namespace gnomon::base {

void RankedBits::add_range(std::int64_t begin, std::int64_t end) {
  while (begin < end) {
    const std::int64_t first = begin % 64;
    const std::int64_t length = std::min<std::int64_t>(64 - first, end - begin);
    const std::uint64_t ones = length == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1;
    words_[word_of(begin)] |= ones << first;
    begin += length;
  }
}

std::int64_t RankedBits::count() {
  std::int64_t members = 0;
  for (std::size_t word = 0; word < words_.size(); ++word) {
    before_[word] = members;
    members += std::popcount(words_[word]);
  }
  return members;
}

std::vector<std::int64_t> RankedBits::members() const {
  std::vector<std::int64_t> numbers;
  for (std::size_t word = 0; word < words_.size(); ++word) {
    for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
      numbers.push_back(static_cast<std::int64_t>(word) * 64 + std::countr_zero(bits));
    }
  }
  return numbers;
}

}  // namespace gnomon::base
