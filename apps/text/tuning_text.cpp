#include "apps/text/tuning_text.h"

#include <fmt/format.h>

#include "apps/text/format.h"
#include "apps/text/table.h"

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

/// The changes that would help, the best first, without those under a percent.
std::string sensitivities_text(const tuner::Tuning& tuning) {
  std::string text;
  for (const auto& [change, share] : tuning.sensitivities) {
    if (share <= -0.01) {
      text += fmt::format("{}{}: {:+.0f} %", text.empty() ? "what would help: " : ", ", change, 100 * share);
    }
  }
  if (text.empty() && !tuning.sensitivities.empty()) {
    text = "what would help: no single change of cores, stages, link or memory gains a percent";
  }
  return text.empty() ? "" : text + "\n";
}

/// The best plan's predicted accuracy beside that of exact plans, and the error of such predictions.
std::string accuracy_text(const tuner::Tuning& tuning) {
  if (!tuning.accuracy) {
    return "";
  }
  std::string text = fmt::format(
      "predicted accuracy: {}, of exact plans {}; error {} (root mean square over held-out runs)\n",
      format_percent(tuning.accuracy->accuracy), format_percent(tuning.exact_accuracy->accuracy),
      format_percent(tuning.accuracy->error));
  for (const auto& outside : tuning.exact_accuracy->outside) {
    text += "not learned: " + outside + "\n";
  }
  return text;
}

/// Energy and price of the best plan's epoch, as far as they are known.
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
  return fmt::format("\nplans that no other beats in {}:\n",
                     with_accuracy ? "time, memory and predicted accuracy" : "both time and memory") +
         table.text() +
         fmt::format("hypervolume: {} of twice the fastest epoch times twice the most memory{}\n",
                     format_percent(tuning.hypervolume), with_accuracy ? " times all accuracy" : "");
}

}  // namespace

std::string fidelities_text(const tuner::Tuning& tuning, int real_runs) {
  return fmt::format("{} bounds, {} estimates, {} simulated epochs, {} real runs",
                     format_count(tuning.bounds), format_count(tuning.estimates),
                     tuning.found.evaluated.size(), real_runs);
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
    add("CPU batching", corrections->cpu_batch);
    add("transfer", corrections->transfer);
    add("device batching", corrections->device_batch);
    add("training", corrections->train);
  }
  return text.empty() ? "" : "corrected by real runs:" + text + "\n";
}

std::string over_bound(const sim::Prediction& prediction) {
  return prediction.lower_bound_s > 0 ? format_percent(prediction.epoch_s / prediction.lower_bound_s - 1)
                                      : "-";
}

std::string tuning_text(const tuner::Tuning& tuning) {
  Table table({"plan", "schedule", "workers", "threads", "buffers", "epoch", "bound", "over bound", "cpu",
               "link", "device", "bound by"});
  table.may_omit({"link", "cpu", "threads", "bound", "device", "over bound"});
  for (const auto& [plan, prediction] : tuning.candidates) {
    table.add_row({plan.name, std::string(base::name_of(plan.schedule)), count_or_dash(plan.workers),
                   count_or_dash(plan.device_threads), buffers_of(plan), format_seconds(prediction.epoch_s),
                   format_seconds(prediction.lower_bound_s), over_bound(prediction),
                   plan.workers == 0 ? "-" : format_percent(prediction.cpu_utilisation),
                   format_percent(prediction.link_utilisation), format_percent(prediction.device_utilisation),
                   prediction.bound_by});
  }
  const auto& best = tuning.best();
  std::string text = table.text();
  text += fmt::format("\nbest of {} plans: {}, {} an epoch, {} over the lower bound {}\n",
                      format_count(tuning.plans), best.plan.name, format_seconds(best.prediction.epoch_s),
                      over_bound(best.prediction), format_seconds(best.prediction.lower_bound_s));
  text += fmt::format("strategy {}: {}, stopped by {}\n", base::name_of(tuning.options.strategy),
                      fidelities_text(tuning, 0), tuning.found.stopped_by);
  if (tuning.resumed > 0) {
    text += fmt::format("{} of them from {}\n", tuning.resumed, tuning.options.journal);
  }
  return text + consumption_text(best.prediction.consumption) + corrections_text(tuning.corrections) +
         accuracy_text(tuning) + sensitivities_text(tuning) + front_text(tuning);
}

}  // namespace gnomon::apps
