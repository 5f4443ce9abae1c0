// Compares search strategies with random search at equal numbers of simulated epochs, on random workloads:
// how far the best plan of each is from the best known one, and a one-sided Wilcoxon signed-rank test over
// the workloads. Each workload enters with its mean over the seeds, because the seeds of one workload are not
// independent.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/error.h"
#include "base/median.h"
#include "base/processes.h"
#include "bench/tuner_workloads.h"
#include "tuner/search/search.h"

namespace {

using gnomon::base::Json;
using gnomon::bench::Workload;
namespace base = gnomon::base;
namespace plan = gnomon::plan;
namespace tuner = gnomon::tuner;

struct Options {
  int workloads = 30;
  int first = 0;
  int seeds = 10;
  std::vector<int> budgets = {25, 50, 100, 200};
  std::vector<std::string> strategies = {"ppo", "random"};
  int jobs = 2;
  std::string output = "bench/results/policy.json";
  std::string optima;
};

/// Returns the fastest epoch after each of the budgets, which are ascending.
std::vector<double> best_after(const Options& options, Workload& workload, const std::string& strategy,
                               int seed) {
  const auto kind = base::value_of<tuner::StrategyKind>("--strategies", strategy);
  const auto found =
      tuner::search({workload.profile, workload.space, workload.facts, static_cast<std::uint64_t>(seed)},
                    kind, {.evaluations = options.budgets.back()},
                    tuner::one_by_one([&](const plan::Plan& plan) { return workload.predict(plan); }), {});
  std::vector<double> best;
  double least = found.evaluated.front().prediction.epoch_s;
  std::size_t next = 0;
  for (const int budget : options.budgets) {
    for (; next < found.evaluated.size() && std::cmp_less(next, budget); ++next) {
      least = std::min(least, found.evaluated[next].prediction.epoch_s);
    }
    best.push_back(least);
  }
  return best;
}

/// Returns the best known epoch from an earlier run of bench_tuner, or null.
Json optimum_of(const Options& options, const std::string& name) {
  if (options.optima.empty()) {
    return nullptr;
  }
  const Json document = base::parse_json(base::read_file(options.optima), options.optima);
  for (const Json& row : document["rows"]) {
    if (row["workload"] == name) {
      return row["optimum_s"];
    }
  }
  throw base::InputError(options.optima, "has no row " + name);
}

Json row_of(const Options& options, int number) {
  Workload workload(number);
  const std::string name = "random-" + std::to_string(number);
  Json row = {{"workload", name}, {"optimum_s", optimum_of(options, name)}};
  for (const auto& strategy : options.strategies) {
    for (int seed = 0; seed < options.seeds; ++seed) {
      row["best_s"][strategy].push_back(best_after(options, workload, strategy, seed));
    }
  }
  return row;
}

Json rows_of(const Options& options) {
  const auto row = [&](std::int64_t number) {
    return row_of(options, options.first + static_cast<int>(number)).dump();
  };
  Json rows = Json::array();
  for (const auto& text : base::in_processes(options.workloads, options.jobs, row, {}, "")) {
    rows.push_back(Json::parse(text));
  }
  return rows;
}

/// Returns the p-value of the one-sided Wilcoxon signed-rank test that the differences are below 0 (Wilcoxon,
/// 1945; normal approximation with tie correction; zeros are excluded).
double wilcoxon_below_zero(std::vector<double> differences) {
  std::erase(differences, 0.0);
  std::sort(differences.begin(), differences.end(),
            [](double a, double b) { return std::abs(a) < std::abs(b); });
  const auto count = static_cast<double>(differences.size());
  double above = 0;
  double ties = 0;
  for (std::size_t begin = 0, end = 0; begin < differences.size(); begin = end) {
    while (end < differences.size() && std::abs(differences[end]) == std::abs(differences[begin])) {
      ++end;
    }
    const auto tied = static_cast<double>(end - begin);
    ties += tied * tied * tied - tied;
    for (std::size_t i = begin; i < end; ++i) {
      above += differences[i] > 0 ? static_cast<double>(begin + end + 1) / 2 : 0;
    }
  }
  const double variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48;
  const double z = (above - count * (count + 1) / 4 + 0.5) / std::sqrt(std::max(variance, 1e-12));
  return std::erfc(-z / std::sqrt(2.0)) / 2;
}

/// Returns the mean over the seeds of the logarithms of one workload's best epochs.
double mean_log(const Json& row, const std::string& strategy, std::size_t budget) {
  double mean = 0;
  for (const Json& best : row["best_s"][strategy]) {
    mean += std::log(best[budget].get<double>()) / static_cast<double>(row["best_s"][strategy].size());
  }
  return mean;
}

/// Compares a strategy with random search at each budget.
Json tests_of(const Options& options, const Json& rows, const std::string& strategy) {
  Json tests = Json::array();
  for (std::size_t budget = 0; budget < options.budgets.size(); ++budget) {
    std::vector<double> differences;
    std::vector<double> over_optimum;
    for (const Json& row : rows) {
      differences.push_back(mean_log(row, strategy, budget) - mean_log(row, "random", budget));
      if (row["optimum_s"].is_number()) {
        over_optimum.push_back(mean_log(row, strategy, budget) - std::log(row["optimum_s"].get<double>()));
      }
    }
    tests.push_back({{"evaluations", options.budgets[budget]},
                     {"workloads_better", std::count_if(differences.begin(), differences.end(),
                                                        [](double difference) { return difference < 0; })},
                     {"median_over_random", std::expm1(base::median(differences))},
                     {"p_better_than_random", wilcoxon_below_zero(differences)}});
    if (!over_optimum.empty()) {
      tests.back()["median_over_optimum"] = std::expm1(base::median(over_optimum));
    }
  }
  return tests;
}

void print(const std::string& strategy, const Json& tests) {
  for (const Json& test : tests) {
    std::printf(
        "%-8s %4d evaluations: better on %2d workloads, %+.2f %% of random's epoch, p = %.2g; %+.2f %% over "
        "the optimum\n",
        strategy.c_str(), test["evaluations"].get<int>(), test["workloads_better"].get<int>(),
        100 * test["median_over_random"].get<double>(), test["p_better_than_random"].get<double>(),
        100 * test.value("median_over_optimum", NAN));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compare search strategies with random search at equal numbers of evaluations");
  app.add_option("--workloads", options.workloads)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--first", options.first, "number of the first workload")->capture_default_str();
  app.add_option("--seeds", options.seeds)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--budgets", options.budgets, "numbers of evaluations, ascending")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--strategies", options.strategies,
                 "strategies to run; if random is among them, the others are tested against it")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--output", options.output)->capture_default_str();
  app.add_option("--optima", options.optima, "take the optima from this document of bench_tuner");
  CLI11_PARSE(app, argc, argv);
  try {
    Json document = {{"schema", "gnomon.policy/1"}, {"budgets", options.budgets}};
    document["rows"] = rows_of(options);
    for (const auto& strategy : options.strategies) {
      if (strategy != "random" && document["rows"][0]["best_s"].contains("random")) {
        document["tests"][strategy] = tests_of(options, document["rows"], strategy);
        print(strategy, document["tests"][strategy]);
      }
    }
    base::write_file_atomically(options.output, document.dump(2) + "\n");
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
