#include "tuner/tuning.h"

namespace gnomon::tuner {
namespace {

base::Json candidates_document(const std::vector<Candidate>& candidates) {
  base::Json document = base::Json::array();
  for (const auto& [plan, prediction] : candidates) {
    document.push_back({{"plan", base::to_document(plan)}, {"prediction", base::write_value(prediction)}});
  }
  return document;
}

base::Json sensitivities_document(const std::vector<Sensitivity>& sensitivities) {
  base::Json document = base::Json::array();
  for (const auto& [change, share] : sensitivities) {
    document.push_back({{"change", change}, {"share", share}});
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

base::Json fidelities_document(const Tuning& tuning, int real_runs) {
  return {{"bounds", tuning.bounds},
          {"estimates", tuning.estimates},
          {"simulations", tuning.found.evaluated.size()},
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
                         {"candidates", candidates_document(tuning.candidates)}};
  if (!tuning.sensitivities.empty()) {
    document["sensitivities"] = sensitivities_document(tuning.sensitivities);
  }
  if (tuning.accuracy) {
    document["accuracy"] = {{"best", tuning.accuracy->accuracy},
                            {"exact", tuning.exact_accuracy->accuracy},
                            {"error", tuning.accuracy->error},
                            {"outside", tuning.exact_accuracy->outside}};
  }
  if (tuning.options.front) {
    document["front"] = front_document(tuning.front);
    document["hypervolume"] = tuning.hypervolume;
  }
  return document;
}

}  // namespace gnomon::tuner
