#include "base/names.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace gnomon::base {
namespace {

char small(char letter) { return static_cast<char>(std::tolower(static_cast<unsigned char>(letter))); }

/// Letters to insert, remove, replace or exchange with their neighbour, whatever their case.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    above[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = small(a[i - 1]) == small(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && small(a[i - 1]) == small(b[j - 2]) && small(a[i - 2]) == small(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::exchange(above, row);
  }
  return above[b.size()];
}

std::string list_of(const std::vector<std::string>& names, const std::string& before_last) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    list += (i == 0 ? std::string() : i + 1 == names.size() ? before_last : ", ") + names[i];
  }
  return list;
}

}  // namespace

bool names_file(const std::string& argument) {
  std::error_code ignored;
  return argument.ends_with(".json") || std::filesystem::is_regular_file(argument, ignored);
}

std::vector<std::string> similar_names(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::size_t max_names = 3;
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const auto& candidate : known) {
    const bool begins = !name.empty() && (candidate.starts_with(name) || name.starts_with(candidate));
    const auto letters = distance(name, candidate);
    if (begins || 3 * letters <= std::max(name.size(), candidate.size())) {
      found.emplace_back(letters, candidate);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(found.size(), max_names); ++i) {
    names.push_back(found[i].second);
  }
  return names;
}

std::string unknown_name(std::string_view name, const std::vector<std::string>& known,
                         std::string_view other) {
  const std::string beginning = "\"" + std::string(name) + "\" is not known; ";
  const auto similar = similar_names(name, known);
  if (!similar.empty()) {
    return beginning + "did you mean " + list_of(similar, " or ") + "?";
  }
  return beginning + "use " + std::string(other) + " or one of " + list_of(known, ", ");
}

}  // namespace gnomon::base
