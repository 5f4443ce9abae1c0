// Counts the simulated epochs that each search strategy needs to come within 1 % of the best plan in a large
// space, on random workloads with known optimum. The optimum is found by simulating every plan that its lower
// bound does not rule out. bench/compare_tuners.py adds other optimisers, which query this program with
// --serve.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/document.h"
#include "base/error.h"
#include "base/philox.h"
#include "base/processes.h"
#include "bench/tuner_workloads.h"
#include "tuner/search/candidate.h"
#include "tuner/search/search.h"

namespace {

using gnomon::base::Json;
using gnomon::bench::Workload;
namespace base = gnomon::base;
namespace plan = gnomon::plan;
namespace sim = gnomon::sim;
namespace tuner = gnomon::tuner;

struct Options {
  int workloads = 30;
  int first = 0;
  std::vector<std::string> strategies = {"auto", "gp", "trees", "sobol", "random"};
  int seeds = 5;
  int budget = 200;
  int jobs = 2;
  std::string output = "bench/results/tuner.json";
  std::string optima;
  int serve = -1;
  std::uint64_t seed = 0;
};

/// Tolerance of the lower bound, which holds for mean stage times: an epoch with varying times may be
/// slightly shorter.
constexpr double bound_slack = 0.97;

struct Optimum {
  std::int64_t plans = 0;      ///< feasible
  std::int64_t simulated = 0;  ///< plans that the bound does not rule out
  double epoch_s = 0;
  std::string plan;
};

Optimum optimum_of(Workload& workload, const tuner::Candidate& known) {
  Optimum optimum{0, 0, known.prediction.epoch_s, known.plan.name};
  std::vector<std::pair<double, std::int64_t>> order;
  for (std::int64_t number = 0; number < workload.space.size(); ++number) {
    if (const auto point = workload.space.at(number); workload.space.is_feasible(point)) {
      order.emplace_back(workload.facts.lower_bound_s(point), number);
    }
  }
  optimum.plans = std::ssize(order);
  std::sort(order.begin(), order.end());
  for (const auto& [bound_s, number] : order) {
    if (bound_s * bound_slack >= optimum.epoch_s) {
      break;
    }
    const auto plan = workload.space.plan_at(workload.space.at(number));
    const double epoch_s = workload.predict(plan).epoch_s;
    ++optimum.simulated;
    if (epoch_s < optimum.epoch_s) {
      optimum.epoch_s = epoch_s;
      optimum.plan = plan.name;
    }
  }
  return optimum;
}

tuner::SearchResult search(Workload& workload, const std::string& strategy, std::uint64_t seed, int budget) {
  const auto kind = base::value_of<tuner::StrategyKind>("--strategies", strategy);
  return tuner::search({workload.profile, workload.space, workload.facts, seed}, kind,
                       {.evaluations = budget},
                       tuner::one_by_one([&](const plan::Plan& plan) { return workload.predict(plan); }), {});
}

/// Returns the number of evaluations until the first plan within 1 % of the optimum, or null.
Json evaluations_to(double goal_s, const tuner::SearchResult& result) {
  for (std::size_t i = 0; i < result.evaluated.size(); ++i) {
    if (result.evaluated[i].prediction.epoch_s <= goal_s) {
      return i + 1;
    }
  }
  return nullptr;
}

/// Returns a workload's optimum, computed now or, with --optima, read from an earlier run.
Json optimum_row(const Options& options, Workload& workload) {
  const std::string name = "random-" + std::to_string(workload.number);
  if (!options.optima.empty()) {
    const Json document = base::parse_json(base::read_file(options.optima), options.optima);
    for (Json row : document["rows"]) {
      if (row["workload"] == name) {
        return row;
      }
    }
    throw base::InputError(options.optima, "has no row " + name);
  }
  const auto start = search(workload, "auto", 99, options.budget);
  const auto optimum = optimum_of(workload, start.best);
  return {{"workload", name},
          {"space", workload.number % 2 == 0 ? "runnable" : "simulated"},
          {"plans", optimum.plans},
          {"simulated_for_the_optimum", optimum.simulated},
          {"optimum_s", optimum.epoch_s},
          {"optimum", optimum.plan}};
}

Json row_of(const Options& options, int number) {
  Workload workload(number);
  Json row = optimum_row(options, workload);
  const double goal_s = 1.01 * row["optimum_s"].get<double>();
  for (const auto& strategy : options.strategies) {
    const std::string name = strategy == "auto" ? "gnomon" : "gnomon_" + strategy;
    Json& counts = row["evaluations_to_1_percent"][strategy == "random" ? "random" : name] = Json::array();
    Json& totals = row["evaluations"][strategy == "random" ? "random" : name] = Json::array();
    for (int seed = 0; seed < options.seeds; ++seed) {
      const auto result = search(workload, strategy, static_cast<std::uint64_t>(seed), options.budget);
      counts.push_back(evaluations_to(goal_s, result));
      totals.push_back(result.evaluated.size());
    }
  }
  return row;
}

std::vector<Json> rows_of(const Options& options) {
  const auto row = [&](std::int64_t number) {
    const auto text = row_of(options, options.first + static_cast<int>(number)).dump();
    std::cerr << text << "\n";
    return text;
  };
  std::vector<Json> rows;
  for (const auto& text : base::in_processes(options.workloads, options.jobs, row, {}, "")) {
    rows.push_back(Json::parse(text));
  }
  return rows;
}

/// Prints quantiles of each strategy's evaluations over all workloads and seeds; a run that did not reach 1 %
/// counts as infinite.
void print(const Json& rows) {
  for (const auto& [name, ignored] : rows[0]["evaluations_to_1_percent"].items()) {
    std::vector<double> counts;
    for (const Json& row : rows) {
      for (const Json& count : row["evaluations_to_1_percent"][name]) {
        counts.push_back(count.is_null() ? INFINITY : count.get<double>());
      }
    }
    if (counts.empty()) {
      continue;
    }
    std::sort(counts.begin(), counts.end());
    const auto at = [&](double share) {
      return counts[static_cast<std::size_t>(share * static_cast<double>(counts.size() - 1))];
    };
    std::printf("%-18s median %5g   p75 %5g   p95 %5g   most %5g\n", name.c_str(), at(0.5), at(0.75),
                at(0.95), at(1));
  }
}

tuner::Point point_of(const Json& json) { return json.get<tuner::Point>(); }

Json describe(const tuner::Space& space) {
  Json dimensions = Json::array();
  for (const auto& dimension : space.dimensions()) {
    dimensions.push_back({{"path", dimension.field.path},
                          {"category", dimension.is_category()},
                          {"values", dimension.values.size()}});
  }
  return {{"dimensions", dimensions}};
}

/// Returns feasible points, drawn uniformly, with their encodings for a surrogate.
Json random_points(const tuner::Space& space, base::RandomStream& random, int count) {
  Json points = Json::array();
  while (std::ssize(points) < count) {
    const auto number = random.below(static_cast<std::uint64_t>(space.size()));
    if (const auto point = space.at(static_cast<std::int64_t>(number)); space.is_feasible(point)) {
      points.push_back({{"point", point}, {"code", space.encode(point)}});
    }
  }
  return points;
}

Json all_points(const tuner::Space& space) {
  Json points = Json::array();
  for (std::int64_t number = 0; number < space.size(); ++number) {
    if (const auto point = space.at(number); space.is_feasible(point)) {
      points.push_back(point);
    }
  }
  return points;
}

/// Answers lines of JSON on stdin: {"describe": …}, {"all": …}, {"random": count}, {"evaluate": point}. A
/// point has a position for each dimension; positions of irrelevant dimensions are ignored. The answer is
/// null for an infeasible point.
void serve(int number, std::uint64_t seed) {
  Workload workload(number);
  base::RandomStream random({.seed = seed, .purpose = base::Purpose::test});
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line);
    Json answer;
    if (request.contains("all")) {
      answer = all_points(workload.space);
    } else if (request.contains("random")) {
      answer = random_points(workload.space, random, request["random"].get<int>());
    } else if (request.contains("evaluate")) {
      const auto point = workload.space.normalised(point_of(request["evaluate"]));
      answer = nullptr;
      if (point && workload.space.is_feasible(*point)) {
        answer = {{"epoch_s", workload.predict(workload.space.plan_at(*point)).epoch_s}, {"point", *point}};
      }
    } else {
      answer = describe(workload.space);
    }
    std::cout << answer.dump() << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Count the evaluations that search strategies need to come within 1 % of the best plan");
  app.add_option("--workloads", options.workloads)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--first", options.first, "number of the first workload")->capture_default_str();
  app.add_option("--strategies", options.strategies)->delimiter(',')->capture_default_str();
  app.add_option("--seeds", options.seeds)->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--budget", options.budget)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--output", options.output)->capture_default_str();
  app.add_option("--optima", options.optima, "take the optima from this document of an earlier run");
  app.add_option("--serve", options.serve, "answer queries about this workload instead");
  app.add_option("--seed", options.seed, "seed of the random plans in --serve");
  CLI11_PARSE(app, argc, argv);
  try {
    if (options.serve >= 0) {
      serve(options.serve, options.seed);
      return 0;
    }
    const Json document = {
        {"schema", "gnomon.tuner/1"}, {"budget", options.budget}, {"rows", rows_of(options)}};
    base::write_file_atomically(options.output, document.dump(2) + "\n");
    print(document["rows"]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
