#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gnomon::nn {

/// The predicted classes of some vertices.
struct PredictedClasses {
  /// Of a multi-label graph: vertex i has classes[begins[i]] … classes[begins[i + 1] - 1], ascending. Empty:
  /// one class each.
  std::vector<std::int64_t> begins;
  std::vector<std::int32_t> classes;

  std::size_t vertices() const { return begins.empty() ? classes.size() : begins.size() - 1; }
  std::span<const std::int32_t> of(std::size_t vertex) const {
    const auto begin = begins.empty() ? vertex : static_cast<std::size_t>(begins[vertex]);
    const auto end = begins.empty() ? vertex + 1 : static_cast<std::size_t>(begins[vertex + 1]);
    return std::span(classes).subspan(begin, end - begin);
  }
};

}  // namespace gnomon::nn
