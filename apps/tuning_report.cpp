#include <fmt/format.h>

#include "apps/format.h"
#include "apps/table.h"
#include "apps/tuning.h"

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

/// What would help most, the best first; what would change less than a percent is left out.
std::string sensitivities_text(const Tuning& tuning) {
  std::string text;
  for (const auto& [change, share] : tuning.sensitivities) {
    if (share <= -0.01) {
      text += fmt::format("{}{}: {:+.0f} %", text.empty() ? "what would help: " : ", ", change, 100 * share);
    }
  }
  if (text.empty() && !tuning.sensitivities.empty()) {
    text = "what would help: none of more cores, faster stages, link or memory alone, by a percent";
  }
  return text.empty() ? "" : text + "\n";
}

/// What the best plan's accuracy is predicted to be, beside exact plans', and how far that may be off.
std::string accuracy_text(const Tuning& tuning) {
  if (!tuning.accuracy) {
    return "";
  }
  std::string text = fmt::format(
      "predicted accuracy: {}, of exact plans {}; predictions are off by {} (root mean square of runs left "
      "out)\n",
      format_percent(tuning.accuracy->accuracy), format_percent(tuning.exact_accuracy->accuracy),
      format_percent(tuning.accuracy->error));
  for (const auto& outside : tuning.exact_accuracy->outside) {
    text += "not learned: " + outside + "\n";
  }
  return text;
}

/// What the best plan's epoch takes beside time, as far as the profile tells.
std::string use_text(const sim::EpochUse& use) {
  std::string text;
  if (use.energy_j > 0) {
    text += fmt::format("energy: {:.4g} kJ an epoch\n", use.energy_j / 1e3);
  }
  if (use.price > 0) {
    text += fmt::format("price: {:.4g} an epoch\n", use.price);
  }
  return text;
}

std::string front_text(const Tuning& tuning) {
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
  return fmt::format("\nno plan that was tried beats these in {}:\n",
                     with_accuracy ? "time, memory and predicted accuracy" : "both time and memory") +
         table.text() +
         fmt::format("hypervolume: {} of twice the fastest epoch times twice the most memory{}\n",
                     format_percent(tuning.hypervolume), with_accuracy ? " times all accuracy" : "");
}

}  // namespace

base::Json prediction_document(const sim::Prediction& prediction) {
  base::Json document = {{"epoch_s", prediction.epoch_s},
                         {"lower_bound_s", prediction.lower_bound_s},
                         {"cpu_utilisation", prediction.cpu_utilisation},
                         {"link_utilisation", prediction.link_utilisation},
                         {"device_utilisation", prediction.device_utilisation},
                         {"blocked_on_cpu_s", prediction.blocked_on_cpu_s},
                         {"blocked_on_device_s", prediction.blocked_on_device_s},
                         {"cpu_batches", prediction.cpu_batches},
                         {"bound_by", prediction.bound_by}};
  if (prediction.use.energy_j > 0) {
    document["energy_j"] = prediction.use.energy_j;
  }
  if (prediction.use.price > 0) {
    document["price"] = prediction.use.price;
  }
  return document;
}

std::string fidelities_text(const Tuning& tuning, int real_runs) {
  return fmt::format("{} bounds, {} estimates, {} simulated epochs, {} real runs",
                     format_count(tuning.bounds), format_count(tuning.estimates),
                     tuning.found.evaluated.size(), real_runs);
}

base::Json fidelities_document(const Tuning& tuning, int real_runs) {
  return {{"bounds", tuning.bounds},
          {"estimates", tuning.estimates},
          {"simulations", tuning.found.evaluated.size()},
          {"real_runs", real_runs}};
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

base::Json tuning_document(const Tuning& tuning) {
  base::Json candidates = base::Json::array();
  for (const auto& candidate : tuning.candidates) {
    candidates.push_back({{"plan", base::to_document(candidate.plan)},
                          {"prediction", prediction_document(candidate.prediction)}});
  }
  base::Json document = {{"schema", "gnomon.tuning/1"},
                         {"best", tuning.best().plan.name},
                         {"strategy", std::string(base::name_of(tuning.options.strategy))},
                         {"seed", tuning.options.seed},
                         {"plans", tuning.plans},
                         {"bounds", tuning.bounds},
                         {"estimates", tuning.estimates},
                         {"evaluations", tuning.found.evaluated.size()},
                         {"fidelities", fidelities_document(tuning, 0)},
                         {"stopped_by", tuning.found.stopped_by},
                         {"candidates", candidates}};
  if (!tuning.sensitivities.empty()) {
    document["sensitivities"] = base::Json::array();
    for (const auto& [change, share] : tuning.sensitivities) {
      document["sensitivities"].push_back({{"change", change}, {"share", share}});
    }
  }
  if (tuning.accuracy) {
    document["accuracy"] = {{"best", tuning.accuracy->accuracy},
                            {"exact", tuning.exact_accuracy->accuracy},
                            {"error", tuning.accuracy->error},
                            {"outside", tuning.exact_accuracy->outside}};
  }
  if (tuning.options.front) {
    document["front"] = base::Json::array();
    for (const auto& point : tuning.front) {
      document["front"].push_back({{"epoch_s", point.epoch_s},
                                   {"memory_bytes", point.memory_bytes},
                                   {"plan", base::to_document(point.plan)}});
      if (point.accuracy) {
        document["front"].back()["accuracy"] = *point.accuracy;
      }
    }
    document["hypervolume"] = tuning.hypervolume;
  }
  return document;
}

std::string over_bound(const sim::Prediction& prediction) {
  return prediction.lower_bound_s > 0 ? format_percent(prediction.epoch_s / prediction.lower_bound_s - 1)
                                      : "-";
}

std::string tuning_text(const Tuning& tuning) {
  Table table({"plan", "schedule", "workers", "threads", "buffers", "epoch", "bound", "over bound", "cpu",
               "link", "device", "bound by"});
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
  return text + use_text(best.prediction.use) + corrections_text(tuning.corrections) + accuracy_text(tuning) +
         sensitivities_text(tuning) + front_text(tuning);
}

}  // namespace gnomon::apps
