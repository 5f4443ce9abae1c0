#include "apps/text/exploration_text.h"

#include <set>

#include "apps/text/format.h"
#include "apps/text/table.h"
#include "apps/text/tuning_text.h"

namespace gnomon::apps {
namespace {

/// "machine aws-g5.2xlarge: train x1.56 (…); …", once for each profile that was moved.
std::string scaled_text(const std::vector<tuner::ExplorationRow>& rows) {
  std::string text;
  std::set<std::string> told;
  for (const auto& row : rows) {
    if (row.scalings.empty()) {
      continue;
    }
    std::string names;
    for (const auto& setting : row.settings) {
      if (setting.path == "profile" || setting.path == "machine") {
        names += (names.empty() ? "" : ", ") + setting.path + " " + setting.value;
      }
    }
    const std::string line = names + ": " + tuner::scalings_text(row) + "\n";
    text += told.insert(line).second ? line : "";
  }
  return text;
}

}  // namespace

std::string exploration_text(const std::vector<tuner::ExplorationRow>& rows) {
  std::vector<std::string> headings{"plan"};
  for (const auto& setting : rows.front().settings) {
    headings.push_back(setting.path);
  }
  for (const char* heading : {"workers", "epoch", "over bound", "cpu", "link", "device", "bound by"}) {
    headings.emplace_back(heading);
  }
  Table table(headings);
  std::set<std::string> reasons;
  for (const auto& row : rows) {
    std::vector<std::string> cells{row.plan.name};
    for (const auto& setting : row.settings) {
      cells.push_back(setting.value);
    }
    if (row.prediction) {
      const auto& prediction = *row.prediction;
      const bool uses_workers = row.plan.uses_cpu_route();
      cells.insert(cells.end(),
                   {uses_workers ? std::to_string(row.plan.workers) : "-", format_seconds(prediction.epoch_s),
                    over_bound(prediction), uses_workers ? format_percent(prediction.cpu_utilisation) : "-",
                    format_percent(prediction.link_utilisation),
                    format_percent(prediction.device_utilisation), prediction.bound_by});
    } else {
      cells.insert(cells.end(), {"-", "-", "-", "-", "-", "-", "not possible"});
      reasons.insert(row.why_not);
    }
    table.add_row(std::move(cells));
  }
  auto text = table.text() + scaled_text(rows);
  for (const auto& reason : reasons) {
    text += "not possible: " + reason + "\n";
  }
  return text;
}

}  // namespace gnomon::apps
