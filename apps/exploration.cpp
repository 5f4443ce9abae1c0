#include "apps/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/format.h"
#include "apps/packed_prediction.h"
#include "apps/table.h"
#include "apps/tuning.h"
#include "base/error.h"
#include "base/processes.h"
#include "base/usable.h"

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

/// A row that is still to be predicted, and which of all changed profiles it is for.
struct Task {
  ExplorationRow row;
  std::size_t profile = 0;
};

Task task_of(const ExploredProfile& explored, const profiles::Profile& profile, const plan::Plan& plan,
             const std::vector<Setting>& settings) {
  Task task{{changed_plan(plan, settings), settings, std::nullopt, ""}};
  try {
    task.row.plan = resolved(task.row.plan, profile);
  } catch (const base::InputError& error) {
    task.row.why_not = error.what();
  }
  auto& columns = task.row.settings;
  columns.insert(columns.begin(), explored.names.begin(), explored.names.end());
  return task;
}

/// All profiles and rows, checked before anything is simulated.
struct Tasks {
  std::vector<profiles::Profile> profiles;
  std::vector<Task> all;
};

Tasks tasks_of(const ExplorationRequest& request) {
  Tasks tasks;
  for (const auto& explored : request.profiles) {
    for (const auto& settings : combinations(request.sweeps)) {
      const auto& profile = tasks.profiles.emplace_back(changed_profile(explored, settings));
      for (const auto& plan : request.plans) {
        tasks.all.push_back(task_of(explored, profile, plan, settings));
        tasks.all.back().profile = tasks.profiles.size() - 1;
      }
    }
  }
  return tasks;
}

/// A prediction on its way between processes, or, after a mark, why there is none.
constexpr char possible = '+';
constexpr char impossible = '-';

void take_answer(ExplorationRow& row, const std::string& answer) {
  if (answer.starts_with(impossible)) {
    row.why_not = answer.substr(1);
    return;
  }
  row.prediction = unpack(answer.substr(1));
  if (row.prediction->memory.shortage != sim::Shortage::none) {
    row.why_not = "plan \"" + row.plan.name + "\": " + sim::shortage_text(row.prediction->memory);
    row.prediction.reset();
  }
}

}  // namespace

std::vector<ExplorationRow> explore(const ExplorationRequest& request, const base::Progress& progress) {
  Tasks tasks = tasks_of(request);
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < tasks.all.size(); ++i) {
    if (tasks.all[i].row.why_not.empty()) {
      numbers.push_back(i);
    }
  }
  std::optional<sim::Simulator> simulator;  // each process makes its own
  const auto predict = [&](std::int64_t number) {
    const Task& task = tasks.all[numbers[static_cast<std::size_t>(number)]];
    if (!simulator) {
      simulator.emplace();
    }
    try {
      return possible + pack(sim::predict(*simulator, tasks.profiles[task.profile], task.row.plan,
                                          request.with_timeline, request.seed));
    } catch (const base::InputError& error) {
      return impossible + std::string(error.what());
    }
  };
  const int jobs = request.jobs > 0 ? request.jobs : base::usable_cores();
  const auto answers = base::in_processes(std::ssize(numbers), jobs, predict, progress, "simulating");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    take_answer(tasks.all[numbers[i]].row, answers[i]);
  }
  std::vector<ExplorationRow> rows;
  for (Task& task : tasks.all) {
    rows.push_back(std::move(task.row));
  }
  const auto is_possible = [](const ExplorationRow& row) { return row.prediction.has_value(); };
  if (!rows.empty() && std::none_of(rows.begin(), rows.end(), is_possible)) {
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
    json["over_bound"] = nullptr;
    json["host_memory_bytes"] = nullptr;
    json["device_memory_bytes"] = nullptr;
    if (row.prediction) {
      json["over_bound"] = row.prediction->epoch_s / row.prediction->lower_bound_s - 1;
      json["host_memory_bytes"] = row.prediction->memory.host.total();
      json["device_memory_bytes"] = row.prediction->memory.device.total();
    }
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

std::string name_of(const ExplorationRow& row) {
  auto name = row.plan.name;
  for (const auto& setting : row.settings) {
    name += " " + setting.path + "=" + setting.value;
  }
  return name;
}

std::vector<schedule::NamedTimeline> timelines_of(std::vector<ExplorationRow> rows) {
  std::vector<schedule::NamedTimeline> timelines;
  for (auto& row : rows) {
    if (row.prediction) {
      timelines.push_back({name_of(row), std::move(row.prediction->timeline)});
    }
  }
  return timelines;
}

}  // namespace gnomon::apps
