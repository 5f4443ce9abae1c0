#include "sim/utilisation.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace gnomon::sim {
namespace {

using schedule::Stage;

std::string busiest(const Prediction& prediction) {
  const std::pair<double, const char*> all[] = {{prediction.device_utilisation, "device"},
                                                {prediction.cpu_utilisation, "cpu"},
                                                {prediction.link_utilisation, "link"},
                                                {prediction.disk_utilisation, "disk"},
                                                {prediction.reduce_utilisation, "peers"}};
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  return std::max_element(std::begin(all), std::end(all), less)->second;  // ties: the first
}

}  // namespace

double scale_s(const MachineModel& model, std::int64_t batches) {
  const StageCosts& costs = model.costs;
  return static_cast<double>(std::max<std::int64_t>(batches, 1)) *
         (costs.cpu_batch_disk_s + costs.cpu_batch_s + costs.transfer_s + costs.device_batch_s +
          costs.device_gather_s + costs.train_s);
}

Prediction times_of(const schedule::EpochLog& log) {
  Prediction prediction;
  prediction.epoch_s = log.seconds();
  prediction.blocked_on_cpu_s = log.blocked_on_cpu_s;
  prediction.blocked_on_device_s = log.blocked_on_device_s;
  prediction.cpu_batches = log.cpu_batches;
  return prediction;
}

void fill_utilisation(Prediction& prediction, const Totals& totals, const MachineModel& model) {
  if (prediction.epoch_s > 0) {
    const auto share = [&](double busy_s, int engines) {
      return busy_s / std::max(1, engines) / prediction.epoch_s;
    };
    const auto busy_s = [&](Stage stage) { return totals.busy_s[static_cast<std::size_t>(stage)]; };
    const double cpu_s = busy_s(Stage::cpu_batch) + busy_s(Stage::group_prepare);
    const double prepare_s = busy_s(Stage::device_batch) + busy_s(Stage::device_gather);
    const int links = (model.devices + model.devices_per_link - 1) / model.devices_per_link;
    prediction.cpu_utilisation = share(cpu_s, model.workers);
    prediction.link_utilisation = share(totals.link_s, links);
    // The streams of a GPU that prepares beside training overlap; the busier one is busy that long.
    const bool has_two_streams = model.prepare_share > 0 && !model.on_cores();
    const double device_s =
        has_two_streams ? std::max(prepare_s, busy_s(Stage::train)) : prepare_s + busy_s(Stage::train);
    prediction.device_utilisation = std::min(1.0, share(device_s, model.devices));
    prediction.disk_utilisation = share(totals.disk_s, 1);
    prediction.reduce_utilisation = share(busy_s(Stage::all_reduce), 1);
  }
  prediction.bound_by = busiest(prediction);
}

}  // namespace gnomon::sim
