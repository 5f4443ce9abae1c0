#include "tuner/history/lessons.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/student_t.h"
#include "tuner/models/boosted_trees.h"
#include "tuner/surrogate/learned.h"
#include "tuner/verify/correction.h"

namespace gnomon::tuner {
namespace {

using profiles::Correction;
using profiles::Corrections;

constexpr std::size_t max_folds = 5;
/// Few trees, which shrink corrections towards none: there are few graphs to learn from.
constexpr TreesOptions trees_options{.members = 4, .rounds = 15, .depth = 2, .rate = 0.1};
/// Beyond this relative standard error a ratio says little.
constexpr double max_relative_error = 0.2;
/// What corrections are limited to: a run may have been disturbed.
constexpr double max_factor = 2;

/// One plan of a run, for one stage.
struct Row {
  std::vector<double> inputs;
  double log_ratio = 0;
  bool is_own = false;  ///< of this machine and such a device
  std::string graph;
  std::size_t run = 0;
  plan::Regime regime;
};

/// Inputs by name, so that outcomes of versions with other inputs can be read; NaN where absent.
std::vector<double> ordered(const std::vector<std::string>& names, const std::vector<std::string>& known,
                            const std::vector<double>& values) {
  std::map<std::string, double> by_name;
  for (std::size_t i = 0; i < known.size(); ++i) {
    by_name.emplace(known[i], values[i]);
  }
  std::vector<double> row;
  for (const auto& name : names) {
    const auto found = by_name.find(name);
    row.push_back(found == by_name.end() ? std::numeric_limits<double>::quiet_NaN() : found->second);
  }
  return row;
}

std::vector<std::string> input_names() {
  std::vector<std::string> names;
  for (auto& [name, value] : workload_inputs({})) {
    names.push_back(std::move(name));
  }
  return names;
}

std::vector<double> with_regime(std::vector<double> inputs, const plan::Regime& regime) {
  inputs.push_back(regime.route != plan::Route::device ? 1 : 0);
  inputs.push_back(regime.route != plan::Route::cpu ? 1 : 0);
  inputs.push_back(regime.is_crowded ? 1 : 0);
  inputs.push_back(regime.trains_on_threads ? 1 : 0);
  return inputs;
}

std::vector<Row> rows_of(const std::vector<Outcomes>& history, const CorrectedStage& stage,
                         const profiles::MachineKey& machine, plan::DeviceKind device) {
  const auto names = input_names();
  std::vector<Row> rows;
  for (std::size_t run = 0; run < history.size(); ++run) {
    const auto& outcomes = history[run];
    const auto inputs = ordered(names, outcomes.inputs, outcomes.values);
    const bool is_own = outcomes.device == device && is_same_machine(outcomes.machine, machine, true);
    for (const auto& plan : outcomes.plans) {
      const auto& ratio = plan.stages.*stage.correction;
      if (ratio && ratio->standard_error <= max_relative_error * ratio->ratio) {
        rows.push_back({.inputs = with_regime(inputs, plan.regime),
                        .log_ratio = std::log(ratio->ratio),
                        .is_own = is_own,
                        .graph = outcomes.graph,
                        .run = run,
                        .regime = plan.regime});
      }
    }
  }
  return rows;
}

BoostedTrees learn(const std::vector<Row>& rows) {
  std::vector<std::vector<double>> inputs;
  std::vector<double> values;
  for (const auto& row : rows) {
    inputs.push_back(row.inputs);
    values.push_back(row.log_ratio);
  }
  return BoostedTrees(inputs, values, trees_options);
}

double limited(double log_ratio) {
  return std::clamp(log_ratio, -std::log(max_factor), std::log(max_factor));
}

/// Squared errors of a group's rows, as predicted and corrected.
struct Errors {
  double before = 0, after = 0;
  int rows = 0;
};

/// Of each held-out group: a graph, or with `of_graph` a run on it.
std::map<std::string, Errors> held_out_errors(const std::vector<Row>& rows,
                                              const std::optional<std::string>& of_graph) {
  const auto group_of = [&](const Row& row) { return of_graph ? std::to_string(row.run) : row.graph; };
  std::map<std::string, Errors> errors;
  for (const auto& row : rows) {
    if (row.is_own && (!of_graph || row.graph == *of_graph)) {
      errors[group_of(row)];
    }
  }
  if (std::ssize(errors) < min_lessons) {
    return errors;
  }
  for (std::size_t fold = 0; fold < max_folds; ++fold) {
    std::set<std::string> held;
    std::size_t number = 0;
    for (const auto& [group, none] : errors) {
      if (number++ % max_folds == fold) {
        held.insert(group);
      }
    }
    std::vector<Row> known;
    std::vector<Row> asked;
    for (const auto& row : rows) {
      // Other machines' runs on a held-out graph may be learned from: this is how the user's will be used.
      (row.is_own && held.contains(group_of(row)) ? asked : known).push_back(row);
    }
    if (known.empty()) {
      continue;
    }
    std::vector<std::vector<double>> inputs;
    for (const auto& row : asked) {
      inputs.push_back(row.inputs);
    }
    const auto found = learn(known).at(inputs);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      auto& of_group = errors[group_of(asked[i])];
      of_group.before += std::pow(asked[i].log_ratio, 2);
      of_group.after += std::pow(asked[i].log_ratio - limited(found[i].mean), 2);
      ++of_group.rows;
    }
  }
  return errors;
}

/// Whether the mean gain of groups is positive, by the lower end of its 95 % confidence interval.
bool helps(const std::map<std::string, Errors>& groups) {
  if (std::ssize(groups) < min_lessons) {
    return false;
  }
  const auto count = static_cast<double>(groups.size());
  const auto gain_of = [](const Errors& errors) { return (errors.before - errors.after) / errors.rows; };
  double mean = 0;
  for (const auto& [group, errors] : groups) {
    mean += gain_of(errors) / count;
  }
  double squares = 0;
  for (const auto& [group, errors] : groups) {
    squares += std::pow(gain_of(errors) - mean, 2);
  }
  return mean > base::student_t_975(std::ssize(groups) - 1) * std::sqrt(squares / (count - 1) / count);
}

StageLesson lesson_of(const std::vector<Row>& rows, const CorrectedStage& stage,
                      const std::optional<std::string>& of_graph = {}) {
  const auto groups = held_out_errors(rows, of_graph);
  StageLesson lesson;
  lesson.stage = schedule::name_of(stage.stage);
  lesson.groups = std::ssize(groups);
  lesson.helps = helps(groups);
  double before = 0;
  double after = 0;
  for (const auto& [group, errors] : groups) {
    lesson.rows += errors.rows;
    before += errors.before;
    after += errors.after;
  }
  if (lesson.rows > 0) {
    lesson.error_before = std::sqrt(before / static_cast<double>(lesson.rows));
    lesson.error_after = std::sqrt(after / static_cast<double>(lesson.rows));
  }
  return lesson;
}

/// The regimes of this machine's rows.
std::vector<plan::Regime> known_regimes(const std::vector<Row>& rows) {
  std::vector<plan::Regime> known;
  for (const auto& regime : plan::all_regimes()) {
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const Row& row) { return row.is_own && row.regime == regime; })) {
      known.push_back(regime);
    }
  }
  return known;
}

Corrections& entry_of(profiles::LearnedCorrections& learned, const plan::Regime& regime) {
  for (auto& known : learned.regimes) {
    if (known.regime == regime) {
      return known.stages;
    }
  }
  return learned.regimes.emplace_back(profiles::RegimeCorrections{regime, {}}).stages;
}

void add_corrections(const std::vector<Row>& rows, const CorrectedStage& stage, const StageLesson& lesson,
                     const profiles::Profile& profile, profiles::LearnedCorrections& learned) {
  std::vector<double> inputs;
  for (const auto& [name, value] : workload_inputs(profile)) {
    inputs.push_back(value);
  }
  const auto trees = learn(rows);
  for (const auto& regime : known_regimes(rows)) {
    const double ratio = std::exp(limited(trees.at({with_regime(inputs, regime)}).front().mean));
    entry_of(learned, regime).*stage.correction = Correction{
        .ratio = ratio,
        .standard_error = std::min(0.9, lesson.error_after) * ratio,  // a document's error is below its ratio
        .batches = std::max<std::int64_t>(1, lesson.rows)};
  }
  learned.stages.push_back({lesson.stage, lesson.rows, lesson.error_before, lesson.error_after});
}

}  // namespace

std::vector<StageLesson> lessons_of(const std::vector<Outcomes>& history, const profiles::MachineKey& machine,
                                    plan::DeviceKind device) {
  std::vector<StageLesson> lessons;
  for (const auto& stage : corrected_stages) {
    const auto rows = rows_of(history, stage, machine, device);
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_own; })) {
      lessons.push_back(lesson_of(rows, stage));
    }
  }
  return lessons;
}

std::optional<profiles::LearnedCorrections> learned_corrections(const std::vector<Outcomes>& history,
                                                                const profiles::MachineKey& machine,
                                                                const profiles::Profile& profile) {
  const auto device = profile.machine.device.kind;
  const auto graph = graph_of(profile.workload);
  profiles::LearnedCorrections learned;
  for (const auto& stage : corrected_stages) {
    const auto rows = rows_of(history, stage, machine, device);
    const auto by_runs = lesson_of(rows, stage, graph);
    const auto lesson = by_runs.groups >= min_lessons ? by_runs : lesson_of(rows, stage);
    if (lesson.helps) {
      add_corrections(rows, stage, lesson, profile, learned);
    }
  }
  return learned.stages.empty() ? std::nullopt : std::optional(std::move(learned));
}

}  // namespace gnomon::tuner
