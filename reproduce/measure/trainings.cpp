#include "reproduce/measure/trainings.h"

#include <utility>

#include "base/document.h"
#include "base/usable.h"

namespace gnomon::reproduce {

const std::vector<runtime::TrainReport>& Trainings::of(const graph::Graph& graph, const plan::Job& job,
                                                       const plan::Plan& plan, int seeds,
                                                       const base::Progress& progress,
                                                       const std::atomic<bool>* stop) {
  const auto key = graph.name + base::write_value(job).dump() + base::write_value(plan).dump();
  const auto found = done_.find(key);
  if (found != done_.end()) {
    return found->second;
  }
  runtime::TrainOptions options;
  options.job = job;
  options.plan =
      plan::resolve(plan, {base::usable_cores(), plan::DeviceKind::host, 1}, "plan \"" + plan.name + "\"");
  options.stop = stop;
  const auto& stored = stores_.graph_for(graph, plan, job.layers(), progress);
  std::vector<runtime::TrainReport> reports;
  const std::string what = "training, plan " + plan.name;
  for (int seed = 0; seed < seeds; ++seed) {
    options.job.seed = job.seed + static_cast<std::uint64_t>(seed);
    options.on_epoch = [&, seed](const runtime::EpochReport& epoch) {
      base::report(progress, what, seed * job.epochs + epoch.epoch + 1, std::int64_t{seeds} * job.epochs);
    };
    reports.push_back(runtime::train(stored, options));
  }
  return done_.emplace(key, std::move(reports)).first->second;
}

}  // namespace gnomon::reproduce
