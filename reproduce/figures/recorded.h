#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "reproduce/figures/chart.h"

namespace gnomon::reproduce {

/// Charts of a paper that were measured before.
class RecordedCharts {
 public:
  /// Reads what `gnomon reproduce PAPER FIGURE… --measure --json` printed, or a record of several papers
  /// (bench/results/figures.json). Throws InputError for another document and for one without this paper.
  RecordedCharts(const std::filesystem::path& path, std::string_view paper);

  /// Returns the chart of a figure's panel, without its printed numbers; none if it is not in the record.
  std::optional<Chart> find(const std::string& figure, const std::string& panel) const;

 private:
  std::map<std::pair<std::string, std::string>, Chart> charts_;
};

}  // namespace gnomon::reproduce
