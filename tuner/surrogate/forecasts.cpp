#include "tuner/surrogate/forecasts.h"

#include "sim/predict.h"

namespace gnomon::tuner {

std::vector<std::string> PlanForecast::outside() const {
  std::vector<std::string> texts;
  if (speed) {
    texts = speed->outside;
  }
  if (accuracy) {
    texts.insert(texts.end(), accuracy->outside.begin(), accuracy->outside.end());
  }
  return texts;
}

std::vector<PlanForecast> forecasts_of(const Learned& learned, const profiles::Profile& profile,
                                       const std::vector<plan::Plan>& plans) {
  const auto& workload = profile.workload;
  std::optional<AccuracyPredictor> accuracy;
  if (learned.accuracy) {
    accuracy.emplace(*learned.accuracy, sizes_of(workload), workload.job);
  }
  std::vector<PlanForecast> forecasts;
  std::vector<std::vector<double>> inputs;
  for (const auto& plan : plans) {
    PlanForecast& made = forecasts.emplace_back();
    made.plan = sim::resolve_on(profile, plan);
    made.simulated_s = sim::predict_quickly(profile, made.plan).epoch_s;
    inputs.push_back(learned_inputs(profile, made.plan));
    if (accuracy) {
      made.accuracy = accuracy->of(made.plan);
    }
  }
  if (learned.has_speed()) {
    const auto speeds = forecast(learned, inputs);
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
      forecasts[i].speed = speeds[i];
      if (trust_of(learned.throughput) != Trust::none) {
        forecasts[i].epoch_s = static_cast<double>(workload.batches) / speeds[i].batches_per_s;
      }
      if (trust_of(learned.memory) != Trust::none) {
        forecasts[i].memory_bytes = speeds[i].memory_bytes;
      }
    }
  }
  return forecasts;
}

std::vector<std::string> doubts_of(const Learned& learned) {
  std::vector<std::string> doubts;
  const auto add = [&doubts](const char* what, const LearnedModel& model) {
    if (const auto doubt = doubt_of(model); !doubt.empty()) {
      doubts.push_back(std::string(what) +
                       (trust_of(model) == Trust::none ? " is not predicted: on held-out graphs "
                                                       : " is uncertain, its errors doubled: on held-out "
                                                         "graphs ") +
                       doubt);
    }
  };
  if (learned.has_speed()) {
    add("throughput", learned.throughput);
    add("memory", learned.memory);
  }
  if (learned.accuracy) {
    if (auto doubt = accuracy_doubt(*learned.accuracy); !doubt.empty()) {
      doubts.push_back(std::move(doubt));
    }
  }
  return doubts;
}

base::Json to_document(const std::vector<PlanForecast>& forecasts, const std::vector<std::string>& doubts) {
  base::Json rows = base::Json::array();
  for (const auto& made : forecasts) {
    base::Json json = {
        {"plan", made.plan.name}, {"simulated_s", made.simulated_s}, {"outside", made.outside()}};
    if (made.epoch_s) {
      json.update({{"epoch_s", *made.epoch_s}, {"epoch_error", made.speed->batches_per_s_error}});
    }
    if (made.memory_bytes) {
      json.update({{"memory_bytes", *made.memory_bytes}, {"memory_error", made.speed->memory_error}});
    }
    if (const auto& accuracy = made.accuracy) {
      json.update({{"accuracy", accuracy->accuracy}, {"accuracy_error", accuracy->error}});
      if (accuracy->majority_share) {
        json["majority_share"] = *accuracy->majority_share;
      }
    }
    rows.push_back(json);
  }
  return {{"schema", "gnomon.forecasts/1"}, {"doubts", doubts}, {"rows", rows}};
}

}  // namespace gnomon::tuner
