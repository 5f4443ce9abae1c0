#include "apps/text/tuning_text.h"

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "apps/text/format.h"
#include "apps/text/table.h"
#include "plan/exactness.h"

namespace gnomon::apps {
namespace {

std::string count_or_dash(int count) { return count == 0 ? "-" : std::to_string(count); }

std::string buffers_of(const plan::Plan& plan) {
  using plan::Schedule;
  switch (plan.schedule) {
    case Schedule::sequential:
      return "-";
    case Schedule::claim_ahead:
      return plan.look_ahead > 0 ? fmt::format("ahead {}", plan.look_ahead) : "ahead as needed";
    default:
      return fmt::format("cpu {}, device {}", plan.cpu_buffer, plan.device_buffer);
  }
}

/// The changes that would help, the best first, without those under a percent; then those that could not be
/// computed.
std::string sensitivities_text(const tuner::Tuning& tuning) {
  std::string text;
  std::string missing;
  for (const auto& [change, share, why_not] : tuning.sensitivities) {
    if (!share) {
      missing += fmt::format("not computed: {}: {}\n", change, why_not);
    } else if (*share <= -0.01) {
      text += fmt::format("{}{}: {:+.0f} %", text.empty() ? "what would help: " : ", ", change, 100 * *share);
    }
  }
  if (text.empty() && !tuning.sensitivities.empty() && missing.empty()) {
    text = "what would help: no single change of cores, stages, link or memory gains a percent";
  }
  return (text.empty() ? "" : text + "\n") + missing;
}

std::string failures_text(const tuner::Tuning& tuning) {
  std::string text;
  for (const auto& failure : tuning.failures) {
    text += "not computed: " + failure + "\n";
  }
  return text;
}

/// "best of all 2,104 possible plans …" or "best of 47 evaluated of 2,320 plans …".
std::string best_text(const tuner::Tuning& tuning) {
  const auto& best = tuning.best();
  const bool is_all =
      tuning.options.strategy == tuner::StrategyKind::exhaustive && tuning.found.stopped_by == "strategy";
  const auto evaluated = format_count(std::ssize(tuning.found.evaluated));
  const auto plans = format_count(tuning.plans);
  return fmt::format(
      "best of {}: {}, {} an epoch, {} over the lower bound {}\n",
      is_all ? fmt::format("all {} possible plans ({} with those that do not fit or break a rule)", evaluated,
                           plans)
             : fmt::format("{} evaluated of {} plans", evaluated, plans),
      best.plan.name, format_with_interval(best.prediction.epoch_s, tuning.interval_s()),
      over_bound(best.prediction), format_seconds(best.prediction.lower_bound_s));
}

/// The plan's exactness, and its cost.
std::string exactness_text(const tuner::Tuning& tuning) {
  const auto promised = plan::exactness_of(tuning.best().plan);
  auto text = fmt::format("exact: {}: {}\n", base::name_of(promised), plan::description_of(promised));
  if (const auto& price = tuning.exactness_price) {
    const auto& fastest = price->fastest;
    const auto less = plan::exactness_of(fastest.plan);
    text += price->share < 0.0005
                ? "cost of exactness: none: the fastest plan is exact enough\n"
                : fmt::format("cost of exactness: {} ({}, exact: {}, takes {}; --exact {} allows it)\n",
                              format_percent(price->share), fastest.plan.name, base::name_of(less),
                              format_seconds(fastest.prediction.epoch_s), base::name_of(less));
  }
  return text;
}

/// "cannot be told apart from the best: salient (+1.2 % +-3.4 %), …", of plans of any exactness.
std::string equal_text(const tuner::Tuning& tuning) {
  std::string list;
  const double best_s = tuning.best().prediction.epoch_s;
  for (std::size_t i = 1; i < tuning.certainties.size(); ++i) {
    const auto& certainty = tuning.certainties[i];
    if (certainty.equals_best()) {
      list += fmt::format("{}{} ({} +-{})", list.empty() ? "" : ", ", tuning.candidates[i].plan.name,
                          format_change(*certainty.over_best_s / best_s),
                          format_percent(*certainty.over_best_interval_s / best_s));
    }
  }
  return list.empty() ? "" : "cannot be told apart from the best: " + list + "\n";
}

/// Why faster rows with the same exactness are not chosen, one line for each reason.
std::string passed_over_text(const tuner::Tuning& tuning) {
  std::string text;
  std::set<tuner::PassedOverFor> told{tuner::PassedOverFor::exactness};  // has a line of its own
  for (const auto& [candidate, reason] : tuning.passed_over) {
    if (told.insert(reason).second) {
      const double gain = tuning.best().prediction.epoch_s / candidate.prediction.epoch_s - 1;
      text += fmt::format("not chosen: {} is predicted {} faster, within the prediction error, but {}\n",
                          candidate.plan.name, format_percent(gain),
                          reason == tuner::PassedOverFor::disk ? "reads the disk"
                          : reason == tuner::PassedOverFor::threads
                              ? "has more threads without a core of their own"
                              : "needs larger buffers");
    }
  }
  return text;
}

/// The best plan's predicted accuracy beside that of exact plans, and the error of such predictions.
std::string accuracy_text(const tuner::Tuning& tuning) {
  if (!tuning.accuracy) {
    return "";
  }
  const auto& accuracy = *tuning.accuracy;
  std::string text = fmt::format(
      "predicted accuracy: {}, of exact plans {}; error {} ({} over held-out runs)\n",
      format_percent(accuracy.accuracy), format_percent(tuning.exact_accuracy->accuracy),
      format_percent(accuracy.error), accuracy.in_doubt ? "twice the root mean square" : "root mean square");
  if (!tuning.accuracy_doubt.empty()) {
    text += tuning.accuracy_doubt + "\n";
  }
  if (tuner::is_at_majority(accuracy.accuracy, accuracy.majority_share)) {
    text +=
        fmt::format("this is the majority-class accuracy, {}: always predicting the most frequent class\n",
                    format_percent(*accuracy.majority_share));
  }
  for (const auto& outside : tuning.exact_accuracy->outside) {
    text += "not learned: " + outside + "\n";
  }
  return text;
}

/// Energy and price of the best plan's epoch, if known.
std::string consumption_text(const sim::Consumption& consumption) {
  std::string text;
  if (consumption.energy_j) {
    text += fmt::format("energy: {:.4g} kJ an epoch\n", *consumption.energy_j / 1e3);
  }
  if (consumption.price) {
    text += fmt::format("price: {:.4g} an epoch\n", *consumption.price);
  }
  return text;
}

/// Time and memory of an evaluation between epochs.
std::string evaluation_text(const tuner::Tuning& tuning) {
  if (!tuning.evaluation) {
    return "";
  }
  const auto& time_s = tuning.evaluation->time_s;
  const auto& beyond = tuning.best().prediction.memory.evaluation_bytes;
  return fmt::format("evaluation after an epoch: {}; {} more host memory than training\n",
                     time_s ? format_seconds(*time_s) + " on all cores" : "time not measured",
                     format_bytes(beyond.value_or(0)));
}

std::string front_text(const tuner::Tuning& tuning) {
  if (!tuning.options.front) {
    return "";
  }
  Table table({"epoch", "memory", "accuracy", "plan", "workers", "buffers"});
  for (const auto& [plan, epoch_s, memory_bytes, accuracy] : tuning.front) {
    table.add_row({format_seconds(epoch_s), format_bytes(memory_bytes),
                   accuracy ? format_percent(*accuracy) : "-", plan.name, count_or_dash(plan.workers),
                   buffers_of(plan)});
  }
  const bool with_accuracy = tuning.exact_accuracy.has_value();
  return fmt::format("\nPareto front of {}:\n",
                     with_accuracy ? "time, memory and predicted accuracy" : "time and memory") +
         table.text() +
         fmt::format("hypervolume: {} of twice the fastest epoch times twice the most memory{}\n",
                     format_percent(tuning.hypervolume), with_accuracy ? " times all accuracy" : "");
}

}  // namespace

std::string fidelities_text(const tuner::Tuning& tuning, int real_runs) {
  return fmt::format("{} bounds, {} estimates, {} simulated epochs, {} real runs",
                     format_count(tuning.bounds), format_count(tuning.estimates),
                     tuner::num_simulations(tuning), real_runs);
}

std::string corrections_text(const std::optional<profiles::Corrections>& corrections) {
  std::string text;
  const auto add = [&text](const char* stage, const std::optional<profiles::Correction>& correction) {
    if (correction) {
      text += fmt::format("{} {} x {:.2f} (+- {:.2f})", text.empty() ? "" : ",", stage, correction->ratio,
                          correction->standard_error);
    }
  };
  if (corrections) {
    add("CPU preparation", corrections->cpu_batch);
    add("transfer", corrections->transfer);
    add("device preparation", corrections->device_batch);
    add("training", corrections->train);
  }
  return text.empty() ? "" : "corrected by real runs:" + text + "\n";
}

std::string learned_text(const std::optional<profiles::LearnedCorrections>& learned) {
  std::string text;
  for (const auto& stage : learned.value_or(profiles::LearnedCorrections{}).stages) {
    text += fmt::format("{} {} (held-out error {} instead of {})", text.empty() ? "" : ",", stage.stage,
                        format_percent(stage.error_after), format_percent(stage.error_before));
  }
  return text.empty() ? "" : "corrected by earlier runs on this machine:" + text + "\n";
}

std::string over_bound(const sim::Prediction& prediction) {
  return prediction.lower_bound_s > 0 ? format_percent(prediction.epoch_s / prediction.lower_bound_s - 1)
                                      : "-";
}

std::string moved_text(const std::string& machine, const std::vector<profiles::StageScaling>& scalings) {
  return scalings.empty() ? "" : "machine " + machine + ": " + profiles::text_of(scalings) + "\n";
}

std::string tuning_text(const tuner::Tuning& tuning) {
  Table table({"plan", "exact", "schedule", "workers", "threads", "buffers", "epoch", "over bound", "cpu",
               "link", "device", "bound by"});
  table.may_omit({"link", "cpu", "threads", "bound by", "device", "over bound"});
  for (std::size_t i = 0; i < tuning.candidates.size(); ++i) {
    const auto& [plan, prediction] = tuning.candidates[i];
    table.add_row({plan.name, std::string(base::name_of(plan::exactness_of(plan))),
                   std::string(base::name_of(plan.schedule)), count_or_dash(plan.workers),
                   count_or_dash(plan.device_threads), buffers_of(plan),
                   format_with_interval(prediction.epoch_s, i < tuning.certainties.size()
                                                                ? tuning.certainties[i].interval_s
                                                                : std::nullopt),
                   over_bound(prediction),
                   plan.workers == 0 ? "-" : format_percent(prediction.cpu_utilisation),
                   format_percent(prediction.link_utilisation), format_percent(prediction.device_utilisation),
                   prediction.bound_by});
  }
  std::string text = table.text() + "\n" + best_text(tuning) + exactness_text(tuning) + equal_text(tuning) +
                     passed_over_text(tuning);
  text += fmt::format("strategy {}: {}, stopped by {}\n", base::name_of(tuning.options.strategy),
                      fidelities_text(tuning, 0), tuning.found.stopped_by);
  if (tuning.resumed > 0) {
    text += fmt::format("{} of them from {}\n", tuning.resumed, tuning.options.journal);
  }
  return text + profiles::text_of(tuning.questionable) + evaluation_text(tuning) +
         consumption_text(tuning.best().prediction.consumption) + learned_text(tuning.learned) +
         corrections_text(tuning.corrections) + accuracy_text(tuning) + sensitivities_text(tuning) +
         failures_text(tuning) + front_text(tuning);
}

}  // namespace gnomon::apps
