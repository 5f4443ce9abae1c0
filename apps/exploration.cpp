#include "apps/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/format.h"
#include "apps/table.h"
#include "apps/tuning.h"
#include "base/error.h"

namespace gnomon::apps {
namespace {

constexpr std::string_view plan_prefix = "plan.";

bool changes_plan(const Setting& setting) { return setting.path.starts_with(plan_prefix); }

void set_field(base::Json& document, const std::string& path, const Setting& setting) {
  auto& field = field_at(document, path, "--set " + setting.path);
  field = value_like(field, setting.value);
}

/// `where` with what was changed, so that an error in a changed field says so.
std::string with_settings(const std::string& where, const std::vector<Setting>& settings, bool of_plan) {
  std::string changes;
  for (const auto& setting : settings) {
    if (changes_plan(setting) == of_plan) {
      changes += (changes.empty() ? " with " : ", ") + setting.path + "=" + setting.value;
    }
  }
  return where + changes;
}

profiles::Profile changed_profile(const ExploredProfile& explored, const std::vector<Setting>& settings) {
  auto document = explored.document;
  for (const auto& setting : settings) {
    if (!changes_plan(setting)) {
      set_field(document, setting.path, setting);
    }
  }
  const auto where = with_settings(explored.where, settings, false);
  auto profile = base::from_document<profiles::Profile>(std::move(document), where);
  profiles::check(profile, where);
  return profile;
}

plan::Plan changed_plan(const plan::Plan& plan, const std::vector<Setting>& settings) {
  auto document = base::to_document(plan);
  for (const auto& setting : settings) {
    if (changes_plan(setting)) {
      set_field(document, setting.path.substr(plan_prefix.size()), setting);
    }
  }
  const auto where = with_settings("plan \"" + plan.name + "\"", settings, true);
  return base::from_document<plan::Plan>(std::move(document), where);
}

/// The plan as the profile's machine runs it. Throws InputError when it cannot.
plan::Plan resolved(const plan::Plan& plan, const profiles::Profile& profile) {
  const auto where = "plan \"" + plan.name + "\"";
  plan::check(plan, where);
  return sim::resolve_on(profile, plan);
}

ExplorationRow row_of(const ExplorationRequest& request, const profiles::Profile& profile,
                      const plan::Plan& plan, const std::vector<Setting>& settings,
                      sim::Simulator& simulator) {
  ExplorationRow row{changed_plan(plan, settings), settings, std::nullopt, ""};
  try {
    row.plan = resolved(row.plan, profile);
    row.prediction = sim::predict(simulator, profile, row.plan, request.with_timeline, request.seed);
  } catch (const base::InputError& error) {
    row.why_not = error.what();
    return row;
  }
  if (row.prediction->memory.shortage != sim::Shortage::none) {
    row.why_not = "plan \"" + row.plan.name + "\": " + sim::shortage_text(row.prediction->memory);
    row.prediction.reset();
  }
  return row;
}

}  // namespace

std::vector<ExplorationRow> explore(const ExplorationRequest& request, const base::Progress& progress) {
  sim::Simulator simulator;
  std::vector<ExplorationRow> rows;
  bool any_possible = false;
  const auto all = combinations(request.sweeps);
  const auto total = request.profiles.size() * all.size() * request.plans.size();
  for (const auto& explored : request.profiles) {
    for (const auto& settings : all) {
      const auto profile = changed_profile(explored, settings);
      for (const auto& plan : request.plans) {
        base::report(progress, "simulating", static_cast<std::int64_t>(rows.size()),
                     static_cast<std::int64_t>(total));
        rows.push_back(row_of(request, profile, plan, settings, simulator));
        auto& columns = rows.back().settings;
        columns.insert(columns.begin(), explored.names.begin(), explored.names.end());
        any_possible = any_possible || rows.back().prediction.has_value();
      }
    }
  }
  if (!any_possible && !rows.empty()) {
    throw base::InputError(rows.front().why_not);
  }
  return rows;
}

std::vector<plan::Plan> plans_of(const std::string& list) {
  if (list == "all") {
    return plan::presets();
  }
  std::vector<plan::Plan> plans;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const auto end = std::min(list.find(',', begin), list.size());
    plans.push_back(plan::find_plan(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return plans;
}

std::vector<base::Json> flat_rows(const std::vector<ExplorationRow>& rows) {
  std::vector<base::Json> flat;
  for (const auto& row : rows) {
    base::Json json = {{"plan", row.plan.name}};
    for (const auto& setting : row.settings) {
      json[setting.path] = value_like(base::Json(0), setting.value);
    }
    json["workers"] = row.plan.workers;
    json["device_threads"] = row.plan.device_threads;
    auto prediction = prediction_document(row.prediction.value_or(sim::Prediction{}));
    if (!row.prediction) {
      std::fill(prediction.begin(), prediction.end(), nullptr);
    }
    json.update(prediction);
    json["why_not"] = row.why_not;
    flat.push_back(std::move(json));
  }
  return flat;
}

std::string exploration_text(const std::vector<ExplorationRow>& rows) {
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
  auto text = table.text();
  for (const auto& reason : reasons) {
    text += "not possible: " + reason + "\n";
  }
  return text;
}

std::vector<schedule::NamedTimeline> timelines_of(std::vector<ExplorationRow> rows) {
  std::vector<schedule::NamedTimeline> timelines;
  for (auto& row : rows) {
    if (row.prediction) {
      auto name = row.plan.name;
      for (const auto& setting : row.settings) {
        name += " " + setting.path + "=" + setting.value;
      }
      timelines.push_back({std::move(name), std::move(row.prediction->timeline)});
    }
  }
  return timelines;
}

}  // namespace gnomon::apps
