#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/device/padding.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {
namespace passes {

/// Two of the widest elements that `fill` covers.
struct alignas(16) PairOfWords {
  std::int64_t word[2];
};

template <class T>
constexpr T filled(std::int64_t fill) {
  return static_cast<T>(fill);
}
template <>
constexpr PairOfWords filled<PairOfWords>(std::int64_t fill) {
  return {{fill, fill}};
}

/// Index i is unit i of all copies' rooms, one behind the other.
struct CopyPadded {
  static constexpr int max_copies = 40;
  struct Part {
    const void* from;
    void* to;
    std::int64_t end;    ///< of its units
    std::int64_t units;  ///< of `from`
    std::int64_t fill;
    std::int64_t unit_bytes;
  };
  int count = 0;
  Part parts[max_copies] = {};
  StepState value;
  StepState* state = nullptr;  ///< null: not requested

  constexpr void operator()(std::int64_t i) const {
    if (i == 0 && state != nullptr) {
      *state = value;
    }
    std::int64_t begin = 0;
    for (int p = 0; p < count; ++p) {
      if (i < parts[p].end) {
        copy_unit(parts[p], i - begin);
        return;
      }
      begin = parts[p].end;
    }
  }

 private:
  static constexpr void copy_unit(const Part& part, std::int64_t unit) {
    switch (part.unit_bytes) {
      case 16:
        return copy_as<PairOfWords>(part, unit);
      case 8:
        return copy_as<std::int64_t>(part, unit);
      case 4:
        return copy_as<std::int32_t>(part, unit);
      default:
        return copy_as<std::int16_t>(part, unit);
    }
  }
  template <class T>
  static constexpr void copy_as(const Part& part, std::int64_t unit) {
    static_cast<T*>(part.to)[unit] =
        unit < part.units ? static_cast<const T*>(part.from)[unit] : filled<T>(part.fill);
  }
};

/// The widest unit of which both arrays have whole ones, aligned.
inline std::int64_t unit_of(const PaddedCopy& copy) {
  const auto misfit = reinterpret_cast<std::uintptr_t>(copy.from) |
                      reinterpret_cast<std::uintptr_t>(copy.to) | static_cast<std::uintptr_t>(copy.bytes) |
                      static_cast<std::uintptr_t>(copy.room_bytes);
  std::int64_t unit = 16;
  while (unit > 2 && misfit % static_cast<std::uintptr_t>(unit) != 0) {
    unit /= 2;
  }
  return unit;
}

}  // namespace passes

template <class Executor>
void copy_padded(Executor& executor, const std::vector<PaddedCopy>& copies, const StepState& value,
                 StepState* state) {
  passes::CopyPadded body;
  body.value = value;
  body.state = state;
  std::int64_t end = 0;
  const auto launch = [&] {
    executor.for_each(end > 0 ? end : 1, body);
    body.state = nullptr;
    body.count = 0;
    end = 0;
  };
  for (const auto& copy : copies) {
    if (body.count == passes::CopyPadded::max_copies) {
      launch();
    }
    const std::int64_t unit = passes::unit_of(copy);
    end += copy.room_bytes / unit;
    body.parts[body.count++] = {copy.from, copy.to, end, copy.bytes / unit, copy.fill, unit};
  }
  launch();
}

}  // namespace gnomon::kernels::device
