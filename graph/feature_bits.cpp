#include "graph/feature_bits.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <type_traits>

#include "base/error.h"
#include "graph/store/builder.h"

namespace gnomon::graph {
namespace {

template <class To>
[[noreturn]] void throw_too_large(FeatureType type, float value, const std::string& where) {
  std::ostringstream message;
  message << base::Json(value).dump() << " does not fit " << base::name_of(type) << " (largest " << To::max
          << "); use fp32";
  throw base::InputError(where, message.str());
}

}  // namespace

void round_features(FeatureType type, std::span<const float> from, std::vector<std::uint16_t>& to) {
  to.resize(from.size());
  with_bits_of(type, [&](auto bits) {
    if constexpr (std::is_same_v<typename decltype(bits)::Word, std::uint16_t>) {
      std::transform(from.begin(), from.end(), to.begin(), bits.from_float);
    }
  });
}

std::vector<std::byte> in_type(FeatureType to, FeatureType from, std::span<const std::byte> elements,
                               const std::string& where) {
  const std::size_t count = elements.size() / static_cast<std::size_t>(bytes_of(from));
  std::vector<std::byte> converted(count * static_cast<std::size_t>(bytes_of(to)));
  with_bits_of(from, [&](auto source) {
    with_bits_of(to, [&](auto target) {
      for (std::size_t i = 0; i < count; ++i) {
        typename decltype(source)::Word word{};
        std::memcpy(&word, elements.data() + i * sizeof(word), sizeof(word));
        const float value = source.to_float(word);
        const auto rounded = target.from_float(value);
        if ((rounded & target.exponent) == target.exponent) {
          throw_too_large<decltype(target)>(to, value, where);
        }
        std::memcpy(converted.data() + i * sizeof(rounded), &rounded, sizeof(rounded));
      }
    });
  });
  return converted;
}

}  // namespace gnomon::graph
