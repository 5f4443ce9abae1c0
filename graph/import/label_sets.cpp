#include "graph/import/label_sets.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/document.h"
#include "base/error.h"

namespace gnomon::graph {
namespace {

bool is_unknown(float number) { return number == -1 || std::isnan(number); }

}  // namespace

std::int32_t class_of(double number, std::int64_t vertex, const std::string& where) {
  constexpr double max_class = 1e6;
  const double label = std::isnan(number) ? -1 : number;
  if (label < -1 || label > max_class || label != std::floor(label)) {
    throw base::InputError(where, "label " + base::Json(label).dump() + " of vertex " +
                                      std::to_string(vertex) +
                                      " is out of range; use whole numbers from 0, or -1 for unknown");
  }
  return static_cast<std::int32_t>(label);
}

LabelSetCollector::LabelSetCollector(std::int64_t classes, std::string where) : where_(std::move(where)) {
  constexpr std::int64_t max_classes = 1'000'000;
  if (classes > max_classes) {
    throw base::InputError(where_, "has " + std::to_string(classes) + " columns of labels; use at most " +
                                       std::to_string(max_classes));
  }
  sets_.classes = static_cast<std::int32_t>(classes);
}

std::int32_t LabelSetCollector::label_of(std::span<const float> row, std::int64_t vertex) {
  if (std::all_of(row.begin(), row.end(), is_unknown)) {
    return -1;
  }
  const auto wrong =
      std::find_if(row.begin(), row.end(), [](float number) { return number != 0 && number != 1; });
  if (wrong != row.end()) {
    const std::string number = std::isnan(*wrong) ? "NaN" : base::Json(*wrong).dump();
    throw base::InputError(where_, "label " + number + " of vertex " + std::to_string(vertex) +
                                       " for class " + std::to_string(wrong - row.begin()) +
                                       "; use 1 for the vertex's classes and 0 for others, or only -1 or NaN "
                                       "if they are unknown");
  }
  set_.clear();
  std::transform(row.begin(), row.end(), std::back_inserter(set_),
                 [](float number) { return static_cast<char>(number); });
  return number_of(set_);
}

std::int32_t LabelSetCollector::number_of(const std::string& set) {
  const auto [known, is_new] = numbers_.try_emplace(set, static_cast<std::int32_t>(numbers_.size()));
  if (is_new) {
    sets_.rows.insert(sets_.rows.end(), set.begin(), set.end());
  }
  return known->second;
}

}  // namespace gnomon::graph
