#include "apps/text/exploration_text.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "apps/text/format.h"
#include "apps/text/table.h"
#include "plan/exactness.h"

namespace gnomon::apps {
namespace {

using tuner::ExplorationRow;

/// "machine aws-g5.2xlarge: train x1.56 (…); …", once for each profile that was moved.
std::string scaled_text(const std::vector<ExplorationRow>& rows) {
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
    const std::string line = names + ": " + profiles::text_of(row.scalings) + "\n";
    text += told.insert(line).second ? line : "";
  }
  return text;
}

/// A swept value with the unit from its field's name.
std::string setting_text(const tuner::Setting& setting) {
  char* end = nullptr;
  const double number = std::strtod(setting.value.c_str(), &end);
  if (setting.value.empty() || *end != '\0') {
    return setting.value;
  }
  if (setting.path.ends_with("_bytes_per_s")) {
    return format_bytes(number) + "/s";
  }
  if (setting.path.ends_with("_bytes")) {
    return format_bytes(number);
  }
  return setting.path.ends_with("_s") ? format_seconds(number) : setting.value;
}

std::string exact_text(const ExplorationRow& row) {
  return std::string(base::name_of(plan::exactness_of(row.plan)));
}

/// Explains the values that occur in the column "exact".
std::string promises_text(const std::vector<ExplorationRow>& rows) {
  std::set<plan::Exactness, std::greater<>> levels;
  for (const auto& row : rows) {
    levels.insert(plan::exactness_of(row.plan));
  }
  std::string text;
  for (const auto level : levels) {
    text += "exact, " + std::string(base::name_of(level)) + ": " + std::string(plan::description_of(level)) +
            "\n";
  }
  return text;
}

/// A price with the relative interval of the epoch, to which it is proportional.
std::string price_text(const std::optional<double>& price, const ExplorationRow& row) {
  if (!price) {
    return "-";
  }
  const auto interval = row.times_interval(*price);
  return format_number(*price) + (interval ? " +-" + format_percent(*interval / *price) : "");
}

/// The optional columns that some rows need.
struct Columns {
  bool price = false;
  bool device_memory = false;
  bool moved = false;
  bool data_sheets = false;

  explicit Columns(const std::vector<ExplorationRow>& rows) {
    for (const auto& row : rows) {
      if (row.prediction) {
        price = price || row.prediction->consumption.price.has_value();
        device_memory = device_memory || row.prediction->memory.device.total() > 0;
        moved = moved || !row.scalings.empty();
        data_sheets = data_sheets || row.data_sheet_bound_s.has_value();
      }
    }
  }

  std::vector<std::string> headings() const {
    std::vector<std::string> names{"epoch", "rests on"};
    if (moved) {
      names.emplace_back("moved by");
    }
    if (data_sheets) {
      names.emplace_back("data-sheet bound");
    }
    names.insert(names.end(), {"over bound", "memory"});
    if (device_memory) {
      names.emplace_back("device memory");
    }
    if (price) {
      names.insert(names.end(), {"price", "training", "its price"});
    }
    for (const char* name : {"runs here", "exact", "workers", "cpu", "link", "device", "bound by"}) {
      names.emplace_back(name);
    }
    return names;
  }

  /// The cells below these headings.
  std::vector<std::string> cells(const ExplorationRow& row) const {
    if (!row.prediction) {
      const auto names = headings();
      std::vector<std::string> none(names.size(), "-");
      const auto position = std::find(names.begin(), names.end(), "runs here") - names.begin();
      none[static_cast<std::size_t>(position)] = "no";
      none[static_cast<std::size_t>(position) + 1] = exact_text(row);
      none.back() = "not possible";
      return none;
    }
    const auto& prediction = *row.prediction;
    const bool uses_workers = row.plan.uses_cpu_route();
    std::vector<std::string> cells{
        format_with_interval(prediction.epoch_s, row.interval_s) + (row.extrapolations.empty() ? "" : " *"),
        std::string(base::name_of(row.rests_on))};
    if (moved) {
      cells.emplace_back(base::name_of(profiles::moved_by(row.scalings)));
    }
    if (data_sheets) {
      cells.push_back(row.data_sheet_bound_s ? format_seconds(*row.data_sheet_bound_s) : "-");
    }
    cells.push_back(prediction.lower_bound_s > 0 ? format_percent(row.over_bound()) : "-");
    cells.push_back(format_bytes(prediction.memory.host.total()));
    if (device_memory) {
      cells.push_back(format_bytes(prediction.memory.device.total()));
    }
    if (price) {
      cells.push_back(price_text(prediction.consumption.price, row));
      cells.push_back(format_with_interval(row.training_s(), row.times_interval(row.training_s())));
      cells.push_back(price_text(row.training_price(), row));
    }
    cells.insert(cells.end(), {row.runs_here() ? "yes" : "no", exact_text(row),
                               uses_workers ? std::to_string(row.plan.workers) : "-",
                               uses_workers ? format_percent(prediction.cpu_utilisation) : "-",
                               format_percent(prediction.link_utilisation),
                               format_percent(prediction.device_utilisation), prediction.bound_by});
    return cells;
  }
};

std::string table_text(const std::vector<ExplorationRow>& rows, tuner::RowOrder order) {
  const Columns columns(rows);
  std::vector<std::string> headings{"plan"};
  for (const auto& setting : rows.front().settings) {
    headings.push_back(setting.path);
  }
  const auto own = columns.headings();
  headings.insert(headings.end(), own.begin(), own.end());
  Table table(headings);
  table.may_omit(
      {"link", "cpu", "device", "workers", "moved by", "over bound", "bound by", "training", "its price"});
  bool is_below = false;
  for (const auto* row : tuner::sorted(rows, order)) {
    if (!row->runs_here() && !is_below) {
      table.add_rule();
      is_below = true;
    }
    std::vector<std::string> cells{row->plan.name};
    for (const auto& setting : row->settings) {
      cells.push_back(setting_text(setting));
    }
    const auto predicted = columns.cells(*row);
    cells.insert(cells.end(), predicted.begin(), predicted.end());
    table.add_row(std::move(cells));
  }
  return table.text();
}

/// "gnnlab, quiver: simulated only: …", once for each reason.
std::string simulated_text(const std::vector<ExplorationRow>& rows) {
  std::map<std::string, std::set<std::string>> plans;
  for (const auto& row : rows) {
    if (row.prediction && !row.why_not_run.empty()) {
      plans[row.why_not_run].insert(row.plan.name);
    }
  }
  std::string text;
  for (const auto& [reason, names] : plans) {
    std::string list;
    for (const auto& name : names) {
      list += (list.empty() ? "" : ", ") + name;
    }
    text += list + ": " + reason + "\n";
  }
  return text;
}

std::string lines_of(const char* begin, const std::set<std::string>& texts) {
  std::string lines;
  for (const auto& text : texts) {
    lines += begin + text + "\n";
  }
  return lines;
}

}  // namespace

std::string exploration_text(const std::vector<ExplorationRow>& rows, tuner::RowOrder order) {
  std::set<std::string> reasons;
  std::set<std::string> extrapolations;
  for (const auto& row : rows) {
    if (row.prediction) {
      extrapolations.insert(row.extrapolations.begin(), row.extrapolations.end());
    } else {
      reasons.insert(row.why_not);
    }
  }
  return table_text(rows, order) + promises_text(rows) + lines_of("* extrapolated: ", extrapolations) +
         scaled_text(rows) + simulated_text(rows) + lines_of("not possible: ", reasons);
}

std::string explanations_text(const std::vector<ExplorationRow>& rows, tuner::RowOrder order) {
  std::string text;
  for (const auto* row : tuner::sorted(rows, order)) {
    if (row->explanation.empty()) {
      continue;
    }
    text += "\n" + tuner::name_of(*row) + ": " +
            format_with_interval(row->prediction->epoch_s, row->interval_s) +
            ", rests on: " + std::string(base::name_of(row->rests_on)) + "\n";
    for (const auto& line : row->explanation) {
      text += "  " + line + "\n";
    }
  }
  return text;
}

}  // namespace gnomon::apps
