#include "base/ranked_bits.h"

#include <algorithm>

namespace gnomon::base {

void RankedBits::add_range(std::int64_t begin, std::int64_t end) {
  while (begin < end) {
    const std::int64_t first = begin % 32;
    const std::int64_t length = std::min<std::int64_t>(32 - first, end - begin);
    const std::uint32_t ones = length == 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << length) - 1;
    words_[word_of(begin)] |= ones << first;
    begin += length;
  }
}

std::int64_t RankedBits::count() {
  std::int64_t members = 0;
  for (std::size_t word = 0; word < words_.size(); ++word) {
    before_[word] = static_cast<std::uint32_t>(members);
    members += std::popcount(words_[word]);
  }
  return members;
}

std::vector<std::int64_t> RankedBits::members() const {
  std::vector<std::int64_t> numbers;
  numbers.reserve(before_.back() + static_cast<std::size_t>(std::popcount(words_.back())));
  for (std::size_t word = 0; word < words_.size(); ++word) {
    for (std::uint32_t bits = words_[word]; bits != 0; bits &= bits - 1) {
      numbers.push_back(static_cast<std::int64_t>(word) * 32 + std::countr_zero(bits));
    }
  }
  return numbers;
}

}  // namespace gnomon::base
