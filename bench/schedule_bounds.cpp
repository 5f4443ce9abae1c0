// Measures how close schedules come to the lower bound for random stage times, with and without variation
// between batches, and whether any violates the bound that MorphGL's paper proves. Writes the quantiles as a
// JSON document.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/error.h"
#include "base/philox.h"
#include "base/processes.h"
#include "plan/plan.h"
#include "sim/bound.h"
#include "sim/prediction.h"
#include "sim/quick.h"
#include "sim/simulator.h"
#include "tuner/search/dispatcher.h"

namespace {

using gnomon::base::Json;
namespace base = gnomon::base;
namespace plan = gnomon::plan;
namespace profiles = gnomon::profiles;
namespace sim = gnomon::sim;
namespace tuner = gnomon::tuner;

struct Options {
  std::int64_t cases = 10000;
  std::int64_t batches = 1000;
  std::vector<double> spreads = {0, 0.1};
  std::uint64_t seed = 1;
  int jobs = 2;
  std::string output = "bench/results/schedule_bounds.json";
};

constexpr std::array schedules = {
    "sequential, cpu route",   "sequential, device route",      "pipelined",
    "dual_buffer, dispatched", "claim_ahead, tuned look-ahead", "claim_ahead, open look-ahead"};
constexpr std::array<std::pair<const char*, double>, 6> quantiles = {
    {{"least", 0}, {"median", 0.5}, {"p75", 0.75}, {"p90", 0.9}, {"p99", 0.99}, {"most", 1}}};

/// MorphGL's schedule is proven to take less than 3 + BW_pcie / BW_gpu times the optimum (PVLDB 19(6), 2026,
/// theorem 2). The lower bound is at most the optimum, so an epoch below three times the lower bound
/// satisfies the theorem for all bandwidths.
constexpr double paper_bound = 3;

/// The result of one case: epochs divided by lower bounds.
struct CaseResult {
  std::array<double, schedules.size()> over_bound{};  ///< the bound for mean stage times and any route
  std::array<double, schedules.size()>
      over_own_bound{};  ///< the bound for the drawn stage times and the plan's route
};

/// Stage times of a machine with a GPU, relative to training's: CPU preparation 0.5 to 30 (one of 1 to 16
/// workers), device preparation 0.2 to 4 of which half or more reads over the link, a copy 0.05 to 1.5.
profiles::Profile random_profile(const Options& options, std::int64_t number, double spread) {
  base::RandomStream random(
      {.seed = options.seed, .purpose = base::Purpose::test, .epoch = static_cast<std::uint64_t>(number)});
  const auto between = [&](double least, double most) {
    return least * std::pow(most / least, random.uniform());
  };
  profiles::Profile profile;
  profile.machine.device.kind = profiles::DeviceKind::cuda;
  profile.machine.cpu.cores = 1 + static_cast<int>(random.below(16));
  auto& workload = profile.workload;
  workload.batches = options.batches;
  const auto stage = [&](double mean_s) {
    return profiles::StageTime{.mean_s = mean_s, .deviation_s = spread * mean_s};
  };
  workload.train = stage(0.01);
  workload.cpu_batch = stage(0.01 * between(0.5, 30));
  workload.device_batch = stage(0.01 * between(0.2, 4));
  workload.transfer = stage(0.01 * between(0.05, 1.5));
  workload.device_batch_link_s = workload.device_batch.mean_s * between(0.5, 1);
  return profile;
}

/// The look-aheads to try; the best one counts.
constexpr std::array look_aheads = {1, 2, 4, 8, 16, 24, 32, 64};

class Case {
 public:
  Case(const Options& options, std::int64_t number, double spread, sim::Simulator& simulator)
      : profile_(random_profile(options, number, spread)),
        seed_(options.seed + static_cast<std::uint64_t>(number)),
        simulator_(simulator) {
    const auto model = sim::machine_model(profile_, with_all_workers("gnomon"), false, 0);
    bound_s_ = sim::lower_bound_s(model, plan::Route::both, profile_.workload.batches);
  }

  CaseResult run() {
    plan::Plan sequential = with_all_workers("device");
    sequential.route = plan::Route::cpu;
    sequential.workers = 1;
    keep(0, evaluate(sequential));
    keep(1, evaluate(with_all_workers("device")));
    keep(2, evaluate(with_all_workers("salient")));
    const auto dispatched = tuner::dispatch(profile_, with_all_workers("morphgl"),
                                            [this](const plan::Plan& plan) { return evaluate(plan); });
    keep(3, dispatched.best.prediction);
    keep(4, tuned_claim_ahead());
    keep(5, evaluate(with_all_workers("gnomon")));
    return result_;
  }

 private:
  plan::Plan with_all_workers(const char* preset) const {
    plan::Plan plan = plan::find_plan(preset);
    plan.workers = plan.uses_cpu_route() ? profile_.machine.cpu.cores : 0;
    plan.device_threads = 1;
    return plan;
  }

  sim::Prediction evaluate(const plan::Plan& plan) {
    const bool spread = profile_.workload.train.deviation_s > 0;
    const auto model = sim::machine_model(profile_, plan, spread, seed_);
    return spread ? simulator_.run(plan, model, profile_.workload.batches, false)
                  : sim::run_quickly(plan, model, profile_.workload.batches);
  }

  sim::Prediction tuned_claim_ahead() {
    plan::Plan plan = with_all_workers("gnomon");
    sim::Prediction best;
    best.epoch_s = std::numeric_limits<double>::infinity();
    for (const int look_ahead : look_aheads) {
      plan.look_ahead = look_ahead;
      const auto prediction = evaluate(plan);
      best = prediction.epoch_s < best.epoch_s ? prediction : best;
    }
    return best;
  }

  void keep(std::size_t schedule, const sim::Prediction& prediction) {
    result_.over_bound[schedule] = prediction.epoch_s / bound_s_;
    result_.over_own_bound[schedule] = prediction.epoch_s / prediction.lower_bound_s;
  }

  profiles::Profile profile_;
  std::uint64_t seed_;
  sim::Simulator& simulator_;
  double bound_s_ = 0;
  CaseResult result_{};
};

std::vector<CaseResult> run_cases(const Options& options, double spread) {
  std::optional<sim::Simulator> simulator;  // each process makes its own
  const auto run_case = [&](std::int64_t number) {
    if (!simulator) {
      simulator.emplace();
    }
    const CaseResult result = Case(options, number, spread, *simulator).run();
    return std::string(reinterpret_cast<const char*>(&result), sizeof result);
  };
  const auto show = [](std::string_view what, std::int64_t done, std::int64_t total) {
    std::cerr << "\r" << what << " " << done << " of " << total << std::flush;
  };
  std::vector<CaseResult> results;
  for (const auto& bytes : base::in_processes(options.cases, options.jobs, run_case, show, "case")) {
    std::memcpy(&results.emplace_back(), bytes.data(), sizeof(CaseResult));
  }
  return results;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

Json summary(const std::vector<CaseResult>& results, std::size_t schedule) {
  std::vector<double> over_bound;
  std::int64_t under = 0;
  std::int64_t over_paper = 0;
  for (const CaseResult& result : results) {
    over_bound.push_back(result.over_bound[schedule]);
    under += result.over_own_bound[schedule] < 1 - 1e-9 ? 1 : 0;
    over_paper += result.over_bound[schedule] >= paper_bound ? 1 : 0;
  }
  Json json = {{"schedule", schedules[schedule]},
               {"cases_under_their_lower_bound", under},
               {"cases_over_three_times_the_lower_bound", over_paper}};
  for (const auto& [name, share] : quantiles) {
    json[name] = quantile(over_bound, share);
  }
  return json;
}

Json run(const Options& options, double spread) {
  const auto results = run_cases(options, spread);
  Json json = {{"spread", spread}, {"epoch_over_lower_bound", Json::array()}};
  for (std::size_t schedule = 0; schedule < schedules.size(); ++schedule) {
    json["epoch_over_lower_bound"].push_back(summary(results, schedule));
  }
  return json;
}

void print(const Json& document) {
  for (const Json& run : document["runs"]) {
    std::printf("\nspread %g, epoch over lower bound\n%-32s", run["spread"].get<double>(), "");
    for (const auto& [name, share] : quantiles) {
      std::printf("%9s", name);
    }
    for (const Json& row : run["epoch_over_lower_bound"]) {
      std::printf("\n%-32s", row["schedule"].get<std::string>().c_str());
      for (const auto& [name, share] : quantiles) {
        std::printf("%9.4f", row[name].get<double>());
      }
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compare every schedule's epoch with its lower bound for random stage times");
  app.add_option("--cases", options.cases)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--batches", options.batches)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--spread", options.spreads, "coefficients of variation of stage times")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--output", options.output)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    Json document = {{"schema", "gnomon.schedule_bounds/1"},
                     {"cases", options.cases},
                     {"batches", options.batches},
                     {"seed", options.seed},
                     {"runs", Json::array()}};
    for (const double spread : options.spreads) {
      document["runs"].push_back(run(options, spread));
    }
    base::write_file_atomically(options.output, document.dump(2) + "\n");
    print(document);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
