#include "apps/tuning.h"

#include <fmt/format.h>

#include "apps/format.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/table.h"

namespace gnomon::apps {
namespace {

std::string count_or_dash(int count) { return count == 0 ? "-" : std::to_string(count); }

std::string buffers_of(const plan::Plan& plan) {
  using plan::Schedule;
  switch (plan.schedule) {
    case Schedule::sequential:
      return "-";
    case Schedule::claim_ahead:
      return fmt::format("ahead {}", plan.look_ahead);
    default:
      return fmt::format("cpu {}, device {}", plan.cpu_buffer, plan.device_buffer);
  }
}

}  // namespace

tuner::TuneResult tune_with_bar(const profiles::Profile& profile, sim::Simulator& simulator) {
  ProgressBar bar;
  const auto evaluate = [&](const plan::Plan& plan) { return sim::predict(simulator, profile, plan); };
  return tuner::tune(profile, evaluate, interruptible(bar.progress(), stop_on_interrupt()));
}

base::Json prediction_document(const sim::Prediction& prediction) {
  return {{"epoch_s", prediction.epoch_s},
          {"lower_bound_s", prediction.lower_bound_s},
          {"cpu_utilisation", prediction.cpu_utilisation},
          {"link_utilisation", prediction.link_utilisation},
          {"device_utilisation", prediction.device_utilisation},
          {"blocked_on_cpu_s", prediction.blocked_on_cpu_s},
          {"blocked_on_device_s", prediction.blocked_on_device_s},
          {"cpu_batches", prediction.cpu_batches},
          {"bound_by", prediction.bound_by}};
}

base::Json tuning_document(const tuner::TuneResult& result) {
  base::Json candidates = base::Json::array();
  for (const auto& candidate : result.candidates) {
    candidates.push_back({{"plan", base::to_document(candidate.plan)},
                          {"prediction", prediction_document(candidate.prediction)}});
  }
  return {{"schema", "gnomon.tuning/1"},
          {"best", result.best.plan.name},
          {"evaluations", result.evaluations},
          {"dispatcher",
           {{"first_ratio", result.dispatcher.first_ratio},
            {"rounds", result.dispatcher.rounds},
            {"stopped_by", result.dispatcher.stopped_by}}},
          {"candidates", candidates}};
}

std::string over_bound(const sim::Prediction& prediction) {
  return prediction.lower_bound_s > 0 ? format_percent(prediction.epoch_s / prediction.lower_bound_s - 1)
                                      : "-";
}

std::string tuning_text(const tuner::TuneResult& result) {
  Table table({"plan", "schedule", "workers", "threads", "buffers", "epoch", "bound", "over bound", "cpu",
               "link", "device", "bound by"});
  for (const auto& [plan, prediction] : result.candidates) {
    table.add_row({plan.name, std::string(base::name_of(plan.schedule)), count_or_dash(plan.workers),
                   count_or_dash(plan.device_threads), buffers_of(plan), format_seconds(prediction.epoch_s),
                   format_seconds(prediction.lower_bound_s), over_bound(prediction),
                   plan.workers == 0 ? "-" : format_percent(prediction.cpu_utilisation),
                   format_percent(prediction.link_utilisation), format_percent(prediction.device_utilisation),
                   prediction.bound_by});
  }
  const auto& best = result.best;
  return table.text() +
         fmt::format("\nbest of {} simulated plans: {}, {} an epoch, {} over the lower bound {}\n",
                     format_count(result.evaluations), best.plan.name,
                     format_seconds(best.prediction.epoch_s), over_bound(best.prediction),
                     format_seconds(best.prediction.lower_bound_s));
}

}  // namespace gnomon::apps
