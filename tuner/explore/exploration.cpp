#include "tuner/explore/exploration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/processes.h"
#include "base/usable.h"
#include "plan/exactness.h"
#include "profiles/data_sheet.h"
#include "profiles/other_model.h"
#include "schedule/lane.h"
#include "sim/predict.h"
#include "sim/prediction.h"
#include "sim/uncertainty.h"
#include "tuner/explore/explanation.h"
#include "tuner/explore/extrapolation.h"
#include "tuner/explore/measured_fields.h"

namespace gnomon::tuner {
namespace {

constexpr std::string_view plan_prefix = "plan.";

bool changes_plan(const Setting& setting) { return setting.path.starts_with(plan_prefix); }

void set_field(base::Json& document, const std::string& path, const Setting& setting) {
  auto& field = field_at(document, path, setting.path);
  field = value_like(field, setting.value);
}

/// `where` with the settings, for errors in changed fields.
std::string with_settings(const std::string& where, const std::vector<Setting>& settings, bool of_plan) {
  std::string changes;
  for (const auto& setting : settings) {
    if (changes_plan(setting) == of_plan) {
      changes += (changes.empty() ? " with " : ", ") + setting.path + "=" + setting.value;
    }
  }
  return where + changes;
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

/// The plan as the profile's machine runs it. Throws InputError if it cannot.
plan::Plan resolved(const plan::Plan& plan, const profiles::Profile& profile) {
  const auto where = "plan \"" + plan.name + "\"";
  plan::check(plan, where);
  return sim::resolve_on(profile, plan);
}

/// A row to predict, and the position of its profile among all changed profiles.
struct Task {
  ExplorationRow row;
  std::size_t profile = 0;
};

/// "another model than measured (hidden 64): …"; empty if the settings leave the model as it is.
std::string model_note(const ExploredProfile& explored, const std::vector<Setting>& settings) {
  std::string changed;
  for (const auto& setting : settings) {
    if (sets_model(setting.path)) {
      const auto field = setting.path.substr(setting.path.rfind('.') + 1);
      const auto& present = explored.document.at("workload").at("job").at(field);
      const auto measured = present.is_string() ? present.get<std::string>() : present.dump();
      changed += measured == setting.value ? "" : (changed.empty() ? "" : ", ") + field + " " + measured;
    }
  }
  return changed.empty() ? ""
                         : "another model than measured (" + changed +
                               "): training by counts of operations and the machine's speeds";
}

/// Whether times do not depend on a field of the machine or the workload.
bool is_free(const std::string& path) {
  constexpr std::array fields{"machine.name",  "machine.cpu.name", "machine.cpu.cores", "machine.running.",
                              "workload.job.", "workload.batches", "workload.graph"};
  return std::ranges::any_of(fields, [&](const char* field) { return path.starts_with(field); });
}

/// The fields of the profile with other values than measured.
std::vector<Reliance> given_fields(const ExploredProfile& explored, const std::vector<Setting>& settings) {
  std::vector<Reliance> given;
  auto document = explored.document;
  for (const auto& setting : settings) {
    if (changes_plan(setting) || is_free(setting.path)) {
      continue;
    }
    const auto& present = field_at(document, setting.path, setting.path);
    if (present != value_like(present, setting.value)) {
      given.push_back(
          {setting.path.starts_with("machine.") ? profiles::RestsOn::data_sheet : profiles::RestsOn::assumed,
           setting.path + " as given"});
    }
  }
  return given;
}

/// What a row rests on.
void set_reliances(ExplorationRow& row, const std::vector<Reliance>& reliances) {
  auto all = weakest(reliances);
  row.rests_on = all.on;
  row.rests_on_why = std::move(all.why);
}

/// Notes what the epoch of a possible row rests on.
void add_reliances(ExplorationRow& row, const ExploredProfile& explored, const plan::Cores& measured_on,
                   const profiles::Extended& profile, const std::vector<Setting>& settings) {
  auto reliances = extrapolations(profile, measured_on, row.plan);
  if (const auto model = model_note(explored, settings); !model.empty()) {
    reliances.push_back({profiles::RestsOn::speeds, model});
  }
  for (const auto& each : reliances) {
    row.extrapolations.push_back(each.why);
  }
  std::ranges::move(reliances_on(explored.scalings, profile.profile, row.plan),
                    std::back_inserter(reliances));
  std::ranges::move(given_fields(explored, settings), std::back_inserter(reliances));
  set_reliances(row, reliances);
}

Task task_of(const ExploredProfile& explored, const plan::Cores& measured_on,
             const profiles::Extended& extended, const plan::Plan& plan,
             const std::vector<Setting>& settings) {
  const auto& profile = extended.profile;
  Task task{{changed_plan(plan, settings), settings, std::nullopt, ""}};
  try {
    task.row.plan = resolved(task.row.plan, profile);
  } catch (const base::InputError& error) {
    task.row.why_not = error.what();
  }
  if (task.row.why_not.empty()) {
    task.row.why_not_run = plan::refusal_of(task.row.plan, plan::abilities_of(profile.machine.device.kind));
    add_reliances(task.row, explored, measured_on, extended, settings);
  }
  task.row.scalings = explored.scalings;
  auto& columns = task.row.settings;
  columns.insert(columns.begin(), explored.names.begin(), explored.names.end());
  return task;
}

/// The machine on which the times of a profile were measured.
profiles::MeasuredOn machine_of(const ExploredProfile& explored) {
  const auto& cpu = explored.document.at("machine").at("cpu");
  const auto bandwidth = cpu.find("memory_bandwidth_bytes_per_s");
  profiles::MeasuredOn measured{.cores = cpu.at("cores").get<int>()};
  if (explored.measured_on) {
    measured.cores = explored.measured_on->count;
  }
  if (explored.measured_bandwidth_bytes_per_s) {
    measured.memory_bandwidth_bytes_per_s = explored.measured_bandwidth_bytes_per_s;
  } else if (bandwidth != cpu.end() && bandwidth->is_number()) {
    measured.memory_bandwidth_bytes_per_s = bandwidth->get<double>();
  }
  return measured;
}

/// The profile with the settings, as it was measured.
profiles::Profile patched_profile(const ExploredProfile& explored, const std::vector<Setting>& settings) {
  auto document = explored.document;
  std::string model_path;
  for (const auto& setting : settings) {
    if (!changes_plan(setting)) {
      set_field(document, setting.path, setting);
      check_may_be_set(setting.path);
      model_path = sets_model(setting.path) ? setting.path : model_path;
    }
  }
  const auto where = with_settings(explored.where, settings, false);
  auto profile = base::from_document<profiles::Profile>(std::move(document), where);
  profiles::check(profile, where);
  if (model_path.empty()) {
    return profile;
  }
  const auto measured =
      base::from_document<profiles::Profile>(explored.document, explored.where).workload.job;
  if (profile.workload.job == measured) {
    return profile;
  }
  const auto job = std::exchange(profile.workload.job, measured);
  return profiles::with_model(std::move(profile), job, model_path);
}

profiles::Extended extended_profile(const ExploredProfile& explored, const std::vector<Setting>& settings) {
  return profiles::extended(patched_profile(explored, settings), machine_of(explored));
}

/// All profiles and rows, checked before anything is simulated.
struct Tasks {
  std::vector<profiles::Extended> profiles;
  std::vector<profiles::MeasuredOn> measured;  ///< of each profile
  std::vector<Task> all;
};

Tasks tasks_of(const ExplorationRequest& request) {
  Tasks tasks;
  for (const auto& explored : request.profiles) {
    const auto unchanged = patched_profile(explored, {});
    sim::check_precision(unchanged, explored.where);
    const auto measured_on = explored.measured_on.value_or(profiles::cores_of(unchanged));
    for (const auto& settings : combinations(request.sweeps)) {
      const auto& profile = tasks.profiles.emplace_back(extended_profile(explored, settings));
      tasks.measured.push_back(machine_of(explored));
      auto plans = explored.own_plans;
      plans.insert(plans.end(), request.plans.begin(), request.plans.end());
      for (const auto& plan : plans) {
        Task& task = tasks.all.emplace_back(task_of(explored, measured_on, profile, plan, settings));
        task.profile = tasks.profiles.size() - 1;
        task.row.epochs = request.epochs.value_or(profile.profile.workload.job.epochs);
      }
    }
  }
  return tasks;
}

/// The first character of a packet between processes: whether a prediction follows, or the reason why there
/// is none.
constexpr char possible = '+';
constexpr char impossible = '-';

void take_answer(ExplorationRow& row, const std::string& answer) {
  if (answer.starts_with(impossible)) {
    row.why_not = answer.substr(1);
    return;
  }
  row.prediction = sim::unpack(answer.substr(1));
  if (row.prediction->memory.shortage != sim::Shortage::none) {
    row.shortage = row.prediction->memory.shortage;
    row.missing_bytes = row.prediction->memory.missing_bytes;
    row.why_not = "plan \"" + row.plan.name + "\": " + sim::shortage_text(row.prediction->memory);
    row.prediction.reset();
  }
}

sim::Prediction predict(std::optional<sim::Simulator>& simulator, const ExplorationRequest& request,
                        const profiles::Profile& profile, const plan::Plan& plan) {
  if (request.quickly) {
    return sim::predict_quickly(profile, plan);
  }
  if (!simulator) {
    simulator.emplace();
  }
  return sim::predict(*simulator, profile, plan, request.with_timeline, request.seed);
}

/// What the epoch is longer if workers slow other stages down more.
double of_contention_s(const profiles::Extended& profile, const plan::Plan& plan) {
  auto slower = profile.profile;
  slower.machine.contention = *profile.more_contention;
  return sim::predict_quickly(slower, plan).epoch_s - sim::predict_quickly(profile.profile, plan).epoch_s;
}

/// Numbers of the profile, other than speed-ups, that were never measured and that change the epoch.
void add_unmeasured(ExplorationRow& row, const profiles::Profile& profile, const sim::EpochErrors& errors) {
  constexpr double noticeable = 1e-3;
  std::vector<Reliance> reliances{{row.rests_on, row.rests_on_why}};
  const auto first = errors.by_source_s.size() - profile.beliefs.size();  // after stages and speed-ups
  for (std::size_t i = 0; i < profile.beliefs.size(); ++i) {
    const auto& belief = profile.beliefs[i];
    const bool is_speedup = belief.of.find('@') != std::string::npos;
    if (belief.samples == 0 && !is_speedup &&
        std::abs(errors.by_source_s[first + i]) > noticeable * errors.epoch_s) {
      reliances.push_back({profiles::RestsOn::assumed, belief.of + " is believed, not measured"});
    }
  }
  set_reliances(row, reliances);
}

/// The interval of the row's epoch or, of a profile moved by data sheets, the epoch's bound by them.
void add_certainty(ExplorationRow& row, const profiles::Extended& extended) {
  const auto& profile = extended.profile;
  const auto errors = sim::epoch_errors(profile, row.plan);
  row.interval_s = errors ? std::optional(sim::interval_s(*errors)) : std::nullopt;
  if (errors) {
    add_unmeasured(row, profile, *errors);
  }
  if (row.interval_s && extended.more_contention && row.plan.uses_workers()) {
    row.interval_s = std::hypot(*row.interval_s, of_contention_s(extended, row.plan));
  }
  using profiles::MovedBy;
  const auto moved_by = profiles::moved_by(row.scalings);
  if (moved_by == MovedBy::bandwidths || moved_by == MovedBy::both) {
    if (const auto bounds = profiles::data_sheet_bounds(profile)) {
      constexpr double negligible = 1e-6;  // the plan uses no stage with a bound
      const double bound_s =
          sim::predict_quickly(profiles::at_data_sheet_bounds(profile, *bounds), row.plan).lower_bound_s;
      if (bound_s > negligible * row.prediction->epoch_s) {
        row.data_sheet_bound_s = bound_s;
      }
    }
  }
}

base::Json or_null(const std::optional<double>& value) {
  return value ? base::Json(*value) : base::Json(nullptr);
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
  const auto answer = [&](std::int64_t number) {
    const Task& task = tasks.all[numbers[static_cast<std::size_t>(number)]];
    try {
      return possible +
             sim::pack(predict(simulator, request, tasks.profiles[task.profile].profile, task.row.plan));
    } catch (const base::InputError& error) {
      return impossible + std::string(error.what());
    }
  };
  const int jobs = request.quickly ? 1 : request.jobs > 0 ? request.jobs : base::usable_cores();
  const auto answers = base::in_processes(std::ssize(numbers), jobs, answer, progress, "simulating");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Task& task = tasks.all[numbers[i]];
    take_answer(task.row, answers[i]);
    if (task.row.prediction) {
      add_certainty(task.row, tasks.profiles[task.profile]);
      if (request.with_explanation) {
        task.row.explanation = explanation(tasks.profiles[task.profile], tasks.measured[task.profile],
                                           task.row.plan, *task.row.prediction);
      }
    }
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

profiles::Profile changed_profile(const ExploredProfile& explored, const std::vector<Setting>& settings) {
  return extended_profile(explored, settings).profile;
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

double ExplorationRow::over_bound() const {
  constexpr double rounding_error = 1e-9;
  const double share = prediction->epoch_s / prediction->lower_bound_s - 1;
  return std::abs(share) < rounding_error ? 0 : share;
}

std::vector<const ExplorationRow*> sorted(const std::vector<ExplorationRow>& rows, RowOrder order) {
  const double last = std::numeric_limits<double>::infinity();
  const auto key = [order, last](const ExplorationRow& row) {
    const int group = row.runs_here() ? 0 : row.prediction ? 1 : 2;
    const double epoch_s = row.prediction ? row.prediction->epoch_s : last;
    const double price = row.prediction ? row.prediction->consumption.price.value_or(last) : last;
    return std::tuple(group, order == RowOrder::price ? price : 0, epoch_s);
  };
  std::vector<const ExplorationRow*> pointers;
  for (const auto& row : rows) {
    pointers.push_back(&row);
  }
  std::ranges::stable_sort(pointers, {}, [&](const ExplorationRow* row) { return key(*row); });
  return pointers;
}

base::Json flat_row(const ExplorationRow& row) {
  base::Json json = {{"plan", row.plan.name}};
  for (const auto& setting : row.settings) {
    json[setting.path] = value_like(base::Json(0), setting.value);
  }
  json["workers"] = row.plan.workers;
  json["device_threads"] = row.plan.device_threads;
  auto prediction = base::write_value(row.prediction.value_or(sim::Prediction{}), base::Absent::as_null);
  prediction.erase("memory");  // replaced by columns of totals
  if (!row.prediction) {
    std::fill(prediction.begin(), prediction.end(), nullptr);
  }
  json.update(prediction);
  json["interval_s"] = or_null(row.interval_s);
  json["data_sheet_bound_s"] = or_null(row.data_sheet_bound_s);
  json["moved_by"] = std::string(base::name_of(profiles::moved_by(row.scalings)));
  json["epochs"] = row.epochs;
  for (const char* column :
       {"price_interval", "training_s", "training_interval_s", "training_price", "training_price_interval",
        "over_bound", "host_memory_bytes", "device_memory_bytes"}) {
    json[column] = nullptr;
  }
  if (row.prediction) {
    const auto times_interval = [&](const std::optional<double>& value) {
      return value ? or_null(row.times_interval(*value)) : base::Json(nullptr);
    };
    json["price_interval"] = times_interval(row.prediction->consumption.price);
    json["over_bound"] = row.over_bound();
    json["training_s"] = row.training_s();
    json["training_interval_s"] = times_interval(row.training_s());
    json["training_price"] = or_null(row.training_price());
    json["training_price_interval"] = times_interval(row.training_price());
    json["host_memory_bytes"] = row.prediction->memory.host.total();
    json["device_memory_bytes"] = row.prediction->memory.device.total();
  }
  json["runs_here"] = row.runs_here();
  json["why_not_run"] = row.why_not_run;
  json["exact"] = std::string(base::name_of(plan::exactness_of(row.plan)));
  json["why_not"] = row.why_not;
  const bool is_short = row.shortage != sim::Shortage::none;
  json["short_of"] = is_short ? base::Json(std::string(base::name_of(row.shortage))) : base::Json(nullptr);
  json["missing_bytes"] = is_short ? base::Json(row.missing_bytes) : base::Json(nullptr);
  json["rests_on"] =
      row.why_not.empty() ? base::Json(std::string(base::name_of(row.rests_on))) : base::Json(nullptr);
  json["rests_on_why"] = row.rests_on_why;
  json["extrapolated"] = extrapolations_text(row);
  json["scaled"] = profiles::text_of(row.scalings);
  return json;
}

std::vector<base::Json> flat_rows(const std::vector<ExplorationRow>& rows) {
  std::vector<base::Json> flat;
  std::transform(rows.begin(), rows.end(), std::back_inserter(flat), flat_row);
  return flat;
}

std::string extrapolations_text(const ExplorationRow& row) {
  std::string text;
  for (const auto& extrapolation : row.extrapolations) {
    text += (text.empty() ? "" : "; ") + extrapolation;
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

base::Json timeline_document(const ExplorationRow& row) {
  auto spans = row.prediction->timeline;
  std::ranges::stable_sort(spans, {}, &schedule::StageSpan::begin_s);
  spans.resize(std::min(spans.size(), max_spans));
  base::Json json = {{"name", name_of(row)}, {"spans", base::Json::array()}};
  for (const auto& span : spans) {
    json["spans"].push_back({{"stage", std::string(schedule::name_of(span.stage))},
                             {"batch", span.batch},
                             {"lane", schedule::lane_of(span)},
                             {"begin_s", span.begin_s},
                             {"end_s", span.end_s}});
  }
  return json;
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

}  // namespace gnomon::tuner
