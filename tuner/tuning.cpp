#include "tuner/tuning.h"

#include "tuner/tuning_request.h"

namespace gnomon::tuner {
namespace {

/// "interval_s": of the epoch; "equals_best": whether the plan cannot be told apart from the best.
void add_certainty(base::Json& entry, const Certainty& certainty) {
  if (certainty.interval_s) {
    entry["interval_s"] = *certainty.interval_s;
  }
  if (certainty.over_best_s) {
    entry["over_best_s"] = *certainty.over_best_s;
    entry["over_best_interval_s"] = *certainty.over_best_interval_s;
    entry["equals_best"] = certainty.equals_best();
  }
}

base::Json candidates_document(const Tuning& tuning) {
  base::Json document = base::Json::array();
  for (const auto& [plan, prediction] : tuning.candidates) {
    document.push_back({{"plan", base::to_document(plan)},
                        {"exact", std::string(base::name_of(plan::exactness_of(plan)))},
                        {"prediction", base::write_value(prediction)}});
  }
  for (std::size_t i = 0; i < tuning.certainties.size(); ++i) {
    add_certainty(document[i], tuning.certainties[i]);
  }
  return document;
}

base::Json sensitivities_document(const std::vector<Sensitivity>& sensitivities) {
  base::Json document = base::Json::array();
  for (const auto& [change, share, why_not] : sensitivities) {
    if (share) {
      document.push_back({{"change", change}, {"share", *share}});
    } else {
      document.push_back({{"change", change}, {"why_not", why_not}});
    }
  }
  return document;
}

base::Json passed_over_document(const std::vector<PassedOver>& passed_over) {
  base::Json document = base::Json::array();
  for (const auto& [candidate, reason] : passed_over) {
    document.push_back({{"plan", candidate.plan.name},
                        {"epoch_s", candidate.prediction.epoch_s},
                        {"reason", std::string(base::name_of(reason))}});
  }
  return document;
}

base::Json front_document(const std::vector<FrontPoint>& front) {
  base::Json document = base::Json::array();
  for (const auto& point : front) {
    document.push_back({{"epoch_s", point.epoch_s},
                        {"memory_bytes", point.memory_bytes},
                        {"plan", base::to_document(point.plan)}});
    if (point.accuracy) {
      document.back()["accuracy"] = *point.accuracy;
    }
  }
  return document;
}

}  // namespace

std::int64_t num_simulations(const Tuning& tuning) {
  return std::ssize(tuning.found.evaluated) + std::ssize(tuning.less_exact);
}

base::Json fidelities_document(const Tuning& tuning, int real_runs) {
  return {{"bounds", tuning.bounds},
          {"estimates", tuning.estimates},
          {"simulations", num_simulations(tuning)},
          {"real_runs", real_runs}};
}

base::Json to_document(const Tuning& tuning) {
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
                         {"candidates", candidates_document(tuning)},
                         {"passed_over", passed_over_document(tuning.passed_over)},
                         {"failures", tuning.failures}};
  if (const auto interval_s = tuning.interval_s()) {
    document["interval_s"] = *interval_s;
  }
  if (tuning.evaluation) {
    document["evaluation"] = base::write_value(*tuning.evaluation);
  }
  if (const auto& price = tuning.exactness_price) {
    document["exactness_price"] = {
        {"required", std::string(base::name_of(required_exactness(tuning.options)))},
        {"fastest", price->fastest.plan.name},
        {"share", price->share}};
  }
  for (const auto& [field, value] : tuning.questionable) {
    document["questionable"][field] = value;
  }
  if (!tuning.sensitivities.empty()) {
    document["sensitivities"] = sensitivities_document(tuning.sensitivities);
  }
  if (tuning.accuracy) {
    document["accuracy"] = {
        {"best", tuning.accuracy->accuracy},
        {"exact", tuning.exact_accuracy->accuracy},
        {"error", tuning.accuracy->error},
        {"doubt", tuning.accuracy_doubt},
        {"at_majority", is_at_majority(tuning.accuracy->accuracy, tuning.accuracy->majority_share)},
        {"outside", tuning.exact_accuracy->outside}};
  }
  if (tuning.options.front) {
    document["front"] = front_document(tuning.front);
    document["hypervolume"] = tuning.hypervolume;
  }
  return document;
}

}  // namespace gnomon::tuner
