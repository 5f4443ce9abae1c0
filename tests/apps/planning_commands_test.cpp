#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <sstream>

#include "base/atomic_file.h"
#include "plan/disk_plans.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "program.h"
#include "tests/apps/exact_presets.h"

namespace gnomon::apps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void expect_one_line(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(outcome.code, 2) << outcome.error;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr(part));
}

/// What a command says besides its progress, of which it tells where it takes long.
std::string without_progress(const std::string& error) {
  std::istringstream lines(error);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    rest += line.ends_with(" ...") ? "" : line + "\n";
  }
  return rest;
}

class Planning : public ::testing::Test {
 protected:
  Planning() { place.write("p.json", small_profile().dump()); }
  Outcome run(std::vector<std::string> arguments) { return run_gnomon(arguments, place.path()); }
  base::Json document(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    EXPECT_EQ(without_progress(outcome.error), "");
    return base::Json::parse(outcome.out);
  }
  Workplace place;
};

TEST_F(Planning, SequentialEpochIsTheSumOfItsStages) {
  // 60 batches of 0.015 s of preparing and 0.03 s of training on one lane, without spread.
  const auto rows = document({"explore", "p.json", "--plan", "device"})["rows"];
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0]["epoch_s"].get<double>(), 60 * 0.045, 1e-6);
}

// Each by what it is: a profile, the document of a machine, the directory of a run.
TEST_F(Planning, ServeTakesProfilesMachinesAndRuns) {
  const auto machine = run({"catalog", "aws-g5.2xlarge", "--json"});
  ASSERT_EQ(machine.code, 0);
  place.write("m.json", machine.out);
  std::filesystem::create_directories(place.path() / "run");
  place.write("run/job.json", R"({"schema": "gnomon.job/1"})");
  expect_one_line(run({"serve", "p.json", "run", "--port", "0", "--seconds", "0.1"}),
                  "run: is not the directory of a run (job.json and plan.json)");
  place.write("run/plan.json", R"({"schema": "gnomon.plan/1", "name": "device"})");
  const auto outcome = run({"serve", "p.json", "m.json", "run", "--port", "0", "--seconds", "0.1"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  expect_one_line(run({"serve", "p.json", "--machine", "nobody", "--port", "0"}), "\"nobody\" is not known");
}

// The same relative interval stands beside the epoch, its price, the training and the training's price.
TEST_F(Planning, PricesAndTrainingsHaveTheIntervalOfTheEpoch) {
  auto profile = small_profile();
  profile["machine"]["running"]["price_per_hour"] = 2.0;
  profile["workload"]["train"]["interval_s"] = 0.0045;  // of 0.045 s a mini-batch
  profile["workload"]["device_batch"]["interval_s"] = 1e-9;
  place.write("p.json", profile.dump());
  const auto row = document({"explore", "p.json", "--plan", "device", "--epochs", "10"})["rows"][0];
  EXPECT_NEAR(row["interval_s"].get<double>(), 60 * 0.0045, 1e-6);
  for (const char* column : {"price", "training_s", "training_price"}) {
    const std::string name = column;
    const std::string interval = name == "training_s" ? "training_interval_s" : name + "_interval";
    EXPECT_NEAR(row[interval].get<double>(), 0.1 * row[name].get<double>(), 1e-7) << column;
  }
  const auto text = run({"explore", "p.json", "--plan", "device"}).out;
  std::size_t places = 0;
  for (auto at = text.find("+-10.0 %"); at != std::string::npos; at = text.find("+-10.0 %", at + 1)) {
    ++places;
  }
  EXPECT_GE(places, 2U) << text;
}

// A profile that was measured, moved by data sheets: nothing is known of the error, but a bound.
TEST_F(Planning, MachinesFromDataSheetsHaveABoundAndNoInterval) {
  auto profile = small_profile();
  profile["workload"]["batch_bytes"] = 3e7;
  profile["workload"]["batch_vertices"] = 5e4;
  profile["workload"]["feature_row_bytes"] = 400;
  for (const char* stage : {"cpu_batch", "device_batch", "train"}) {
    profile["workload"][stage]["interval_s"] = 1e-4;
  }
  place.write("p.json", profile.dump());
  const std::vector<std::string> words{"explore", "p.json",    "--plan",
                                       "device",  "--machine", "aws-g5.2xlarge"};
  const auto row = document(words)["rows"][0];
  EXPECT_TRUE(row["interval_s"].is_null());
  EXPECT_EQ(row["moved_by"], "bandwidths");
  const double bound_s = row["data_sheet_bound_s"];
  EXPECT_GT(bound_s, 0);
  EXPECT_LE(bound_s, row["epoch_s"].get<double>());
  const auto text = run(words).out;
  EXPECT_THAT(text, HasSubstr("bandwidths"));
  EXPECT_THAT(text, HasSubstr("data-sheet"));
  EXPECT_THAT(text, Not(HasSubstr("+-")));
}

TEST_F(Planning, TuneTellsWhatCannotBeToldApart) {
  auto profile = small_profile();
  for (const char* stage : {"cpu_batch", "device_batch", "train"}) {
    profile["workload"][stage]["interval_s"] = 0.004;
  }
  place.write("p.json", profile.dump());
  const auto text = run({"tune", "p.json", "--budget", "20"}).out;
  EXPECT_THAT(text, HasSubstr("cannot be told apart from the best: "));
  EXPECT_THAT(text, testing::ContainsRegex("[0-9] m?s \\+-[0-9.]+ %"));
  place.write("p.json", small_profile().dump());
  EXPECT_THAT(run({"tune", "p.json", "--budget", "20"}).out, Not(HasSubstr("cannot be told apart")));
}

TEST_F(Planning, SetChangesProfileAndPlanInAllCombinations) {
  const auto rows =
      document({"explore", "p.json", "--plan", "device,salient", "--set",
                "workload.train.mean_s=0.01:0.02:0.01", "--set", "machine.cpu.cores=2,4"})["rows"];
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[0]["plan"], "device");
  EXPECT_EQ(rows[1]["plan"], "salient");
  EXPECT_EQ(rows[2]["machine.cpu.cores"], 4);
  EXPECT_NEAR(rows[0]["epoch_s"].get<double>(), 60 * 0.025, 1e-6);
  EXPECT_NEAR(rows[4]["epoch_s"].get<double>(), 60 * 0.035, 1e-6);

  const auto workers =
      document({"explore", "p.json", "--plan", "salient", "--set", "plan.workers=1:4:*2"})["rows"];
  ASSERT_EQ(workers.size(), 3U);
  EXPECT_EQ(workers[2]["workers"], 4);
}

TEST_F(Planning, ImpossibleCombinationsAreRowsUnlessAllAre) {
  const auto rows = document({"explore", "p.json", "--plan", "salient", "--set", "plan.workers=2,9"})["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[1]["epoch_s"].is_null());
  EXPECT_THAT(rows[1]["why_not"].get<std::string>(), HasSubstr("4 cores"));
  EXPECT_THAT(run({"explore", "p.json", "--plan", "salient", "--set", "plan.workers=2,9"}).out,
              HasSubstr("not possible: plan \"salient\": workers: 9 is more"));
  expect_one_line(run({"explore", "p.json", "--plan", "salient", "--set", "plan.workers=9"}),
                  "workers: 9 is more");
}

TEST_F(Planning, CsvHasARowForEachAndTheSeedMatters) {
  const auto csv = [&](const std::string& seed) {
    return run({"explore", "p.json", "--plan", "all", "--csv", "--seed", seed}).out;
  };
  const auto text = csv("1");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            1 + static_cast<std::ptrdiff_t>(plan::presets().size()));
  EXPECT_EQ(text.substr(0, 5), "plan,");
  EXPECT_EQ(csv("1"), text);
  EXPECT_NE(csv("2"), text);
}

TEST_F(Planning, TraceHoldsEveryTimeline) {
  ASSERT_EQ(run({"explore", "p.json", "--plan", "device,gnomon", "--trace", "t.json"}).code, 0);
  const auto trace = base::Json::parse(base::read_file(place.path() / "t.json"));
  EXPECT_THAT(trace.dump(), HasSubstr("\"gnomon\""));
  EXPECT_THAT(trace.dump(), HasSubstr("device_batch"));
}

TEST_F(Planning, TuneWritesThePlanThatItCallsBest) {
  const auto tuning = document({"tune", "p.json", "-o", "plan.json"});
  const auto plan = plan::read_plan(place.path() / "plan.json");
  EXPECT_EQ(tuning["best"], plan.name);
  EXPECT_GE(tuning["candidates"].size(), exact_presets());
  const auto& best = tuning["candidates"][0];
  EXPECT_EQ(base::to_document(plan), best["plan"]);
  double before = 0;
  for (const auto& candidate : tuning["candidates"]) {
    const auto& prediction = candidate["prediction"];
    EXPECT_GE(prediction["epoch_s"].get<double>(), prediction["lower_bound_s"].get<double>() * (1 - 1e-9));
    EXPECT_GE(prediction["epoch_s"].get<double>(), before);
    // The one to take stands before those that are less than a percent faster.
    before = &candidate == &best ? 0.99 * best["prediction"]["epoch_s"].get<double>()
                                 : prediction["epoch_s"].get<double>();
  }
  // What it wrote can be explored, and gives the same prediction.
  const auto rows = document({"explore", "p.json", "--plan", "plan.json"})["rows"];
  EXPECT_EQ(rows[0]["epoch_s"], best["prediction"]["epoch_s"]);
  const auto text = run({"tune", "p.json"});
  EXPECT_THAT(text.out, HasSubstr("over the lower bound"));
}

TEST_F(Planning, TuneTellsWhatEvaluationTakes) {
  auto profile = small_profile();
  EXPECT_FALSE(document({"tune", "p.json"}).contains("evaluation"));
  profile["workload"]["evaluation"] = {{"time_s", 1.5}, {"host_bytes", std::int64_t{3} << 30}};
  place.write("evaluated.json", profile.dump());
  EXPECT_THAT(run({"tune", "evaluated.json"}).out,
              HasSubstr("evaluation after an epoch: 1.50 s on all cores; "));
  const auto tuning = document({"tune", "evaluated.json"});
  EXPECT_EQ(tuning["evaluation"]["time_s"], 1.5);
  EXPECT_GT(tuning["candidates"][0]["prediction"]["memory"]["evaluation_bytes"], 2e9);
  expect_one_line(run({"tune", "evaluated.json", "--host-memory", "2GiB"}), "memory");
}

TEST_F(Planning, ApproximateAndSimulatedPlansAreTunedToTheEnd) {
  const auto outcome = run({"tune", "p.json", "--simulated", "--allow-approximate", "-o", "x.json"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, Not(HasSubstr("not computed")));
  EXPECT_EQ(plan::read_plan(place.path() / "x.json").name.empty(), false);
}

TEST_F(Planning, TuneTakesWhatIsExactAsAskedAndTellsThePrice) {
  const auto usual = document({"tune", "p.json", "-o", "plan.json"});
  EXPECT_EQ(plan::read_plan(place.path() / "plan.json").order, plan::Order::index);
  EXPECT_EQ(usual["candidates"][0]["exact"], "bits");
  EXPECT_GE(usual["exactness_price"]["share"].get<double>(), 0);
  const auto text = run({"tune", "p.json"}).out;
  EXPECT_THAT(text,
              HasSubstr("\nexact: bits: trains each mini-batch as the update of its index; all such plans"));
  EXPECT_THAT(text, HasSubstr("\ncost of exactness: "));
  const auto any = document({"tune", "p.json", "--exact", "batches"});
  EXPECT_FALSE(any.contains("exactness_price"));
  EXPECT_LE(any["candidates"][0]["prediction"]["epoch_s"].get<double>(),
            1.04 * usual["candidates"][0]["prediction"]["epoch_s"].get<double>());
  expect_one_line(run({"tune", "p.json", "--exact", "bytes"}), "--exact");
  expect_one_line(run({"tune", "p.json", "--exact", "bits", "--allow-approximate"}), "excludes");
}

TEST_F(Planning, TuneSaysHowManyPlansWereEvaluated) {
  auto profile = small_profile();
  profile["workload"]["batches"] = 3;  // few buffers to choose from
  place.write("small.json", profile.dump());
  const auto all = run({"tune", "small.json", "--strategy", "exhaustive"}).out;
  EXPECT_THAT(all, HasSubstr("best of all "));
  EXPECT_THAT(all, HasSubstr("stopped by strategy"));
  const auto some = run({"tune", "small.json", "--strategy", "exhaustive", "--budget", "20"}).out;
  EXPECT_THAT(some, HasSubstr("best of 20 evaluated of "));
  EXPECT_THAT(some, HasSubstr("stopped by evaluations"));
}

TEST_F(Planning, TuneTakesCatalogProfilesAndMachines) {
  const auto scaled = run({"tune", "p.json", "--machine", "aws-g5.2xlarge", "--budget", "20"});
  EXPECT_EQ(scaled.code, 0) << scaled.error;
  EXPECT_THAT(scaled.out, ::testing::StartsWith("machine aws-g5.2xlarge: cpu_batch kept ("));
  const auto paper = run({"tune", "morphgl/A/GCN/PA", "--budget", "20", "-o", "plan.json"});
  EXPECT_EQ(paper.code, 0) << paper.error;
  EXPECT_TRUE(std::filesystem::exists(place.path() / "plan.json"));
  expect_one_line(run({"tune", "p.json", "--machine", "nonesuch"}), "--machine: \"nonesuch\" is not known");
}

TEST_F(Planning, TuneQuestionsGainsByContention) {
  auto profile = small_profile();
  profile["machine"]["contention"] = {{"crowded_team", 0.53}};
  place.write("odd.json", profile.dump());
  EXPECT_THAT(
      run({"tune", "odd.json", "--budget", "20"}).out,
      HasSubstr("questionable: crowded team 0.53x; a stage is not predicted to be faster than alone"));
  // Training keeps the device busy, so that the best epoch is at its bound.
  profile["workload"]["train"]["mean_s"] = 1;
  place.write("odd.json", profile.dump());
  const auto best = document({"tune", "odd.json"})["candidates"][0]["prediction"];
  EXPECT_LT(best["epoch_s"].get<double>(), 1.05 * best["lower_bound_s"].get<double>());
}

TEST_F(Planning, EveryStrategyTunesWithinItsBudget) {
  const auto best_s = [](const base::Json& tuning) {
    return tuning["candidates"][0]["prediction"]["epoch_s"].get<double>();
  };
  const double auto_s = best_s(document({"tune", "p.json"}));
  for (const char* strategy : {"gp", "trees", "ppo", "dispatcher", "sobol", "random", "exhaustive"}) {
    const auto tuning = document({"tune", "p.json", "--strategy", strategy, "--budget", "20"});
    EXPECT_EQ(tuning["strategy"], strategy);
    EXPECT_LE(tuning["evaluations"].get<int>(), 20);
    EXPECT_GE(best_s(tuning), auto_s * 0.99) << strategy;
  }
  EXPECT_EQ(document({"tune", "p.json", "--strategy", "random", "--budget", "0.2s"})["stopped_by"],
            "seconds");
  expect_one_line(run({"tune", "p.json", "--strategy", "best"}), "use one of auto, gp, trees");
  for (const char* budget : {"0", "-3", "2.5", "s", "xs", "0s"}) {
    expect_one_line(run({"tune", "p.json", std::string("--budget=") + budget}), "--budget");
  }
}

// A limit on the size of files kills a process with SIGXFSZ when it begins a write behind it: the same line
// of the journal on any machine.
TEST_F(Planning, ASearchKilledAtALineOfItsJournalGoesOnWhereItWas) {
  for (const char* strategy : {"gp", "ppo"}) {
    const std::vector<std::string> tune = {"tune",       "p.json", "--budget",  "60",
                                           "--seed",     "3",      "--journal", "journal",
                                           "--strategy", strategy, "-o",        "plan.json"};
    ASSERT_EQ(run(tune).code, 0);
    const auto plan = base::read_file(place.path() / "plan.json");
    const auto journal = base::read_file(place.path() / "journal");
    const auto expect_killed = [&](std::size_t max_file_bytes) {
      std::filesystem::remove(place.path() / "plan.json");
      const auto outcome = RunningProgram(GNOMON_PROGRAM, tune, place.path(), max_file_bytes).wait();
      EXPECT_EQ(outcome.code, 128 + SIGXFSZ) << outcome.error;
      EXPECT_FALSE(std::filesystem::exists(place.path() / "plan.json"));
    };
    const auto expect_completed = [&] {
      ASSERT_EQ(run(tune).code, 0);
      EXPECT_EQ(base::read_file(place.path() / "plan.json"), plan);
      EXPECT_EQ(base::read_file(place.path() / "journal"), journal);
    };
    const auto lines = std::count(journal.begin(), journal.end(), '\n');
    ASSERT_GT(lines, 12);
    // With the first line, which names the search; with more and more answers; with all but the last one.
    std::size_t end = 0;
    for (std::ptrdiff_t line = 1; line < lines; ++line) {
      end = journal.find('\n', end) + 1;
      if (line == 1 || line % (lines / 6) == 0 || line == lines - 1) {
        SCOPED_TRACE(std::string(strategy) + ", line " + std::to_string(line) + " of " +
                     std::to_string(lines));
        std::filesystem::remove(place.path() / "journal");
        expect_killed(end);
        EXPECT_EQ(base::read_file(place.path() / "journal"), journal.substr(0, end));
        expect_completed();
      }
    }
    expect_killed(0);  // all is known, and the plan about to be written
    expect_completed();
    std::filesystem::rename(place.path() / "journal", place.path() / "last");
  }
  expect_one_line(run({"tune", "p.json", "--journal", "last"}), "another search");
}

TEST_F(Planning, AJournalIsContinuedWithALargerBudget) {
  const auto words = [](const char* budget, const char* journal) {
    return std::vector<std::string>{"tune",     "p.json", "--strategy", "random",
                                    "--budget", budget,   "--journal",  journal};
  };
  const auto evaluations = [&] { return std::ranges::count(base::read_file(place / "j"), '\n') - 1; };
  EXPECT_EQ(run(words("10", "j")).code, 0);
  const auto first = evaluations();
  EXPECT_GE(first, 10);
  EXPECT_THAT(run(words("40", "j")).out, HasSubstr(std::to_string(first) + " of them from j\n"));
  EXPECT_GT(evaluations(), first);
  EXPECT_EQ(document(words("40", "j"))["best"], document(words("40", "another"))["best"]);
}

TEST_F(Planning, ProcessesChangeNeitherJournalNorResult) {
  auto profile = small_profile();
  profile["workload"]["train"]["deviation_s"] = 0.004;
  place.write("p.json", profile.dump());
  for (const char* strategy : {"auto", "gp", "trees", "ppo", "dispatcher", "sobol", "random", "exhaustive"}) {
    std::vector<std::string> outcomes;
    for (const char* processes : {"1", "2", "5"}) {
      const auto outcome = run({"tune", "p.json", "--strategy", strategy, "--budget", "40", "--processes",
                                processes, "--journal", "journal", "--front", "--json"});
      ASSERT_EQ(outcome.code, 0) << outcome.error;
      outcomes.push_back(outcome.out + base::read_file(place.path() / "journal"));
      std::filesystem::remove(place.path() / "journal");
    }
    EXPECT_EQ(outcomes[0], outcomes[1]) << strategy;
    EXPECT_EQ(outcomes[0], outcomes[2]) << strategy;
  }
  expect_one_line(run({"tune", "p.json", "--processes", "0"}), "--processes");
}

TEST_F(Planning, TuneKeepsToWhatAnEpochMayTake) {
  expect_one_line(run({"tune", "p.json", "--price-limit", "1"}), "machine.running.price_per_hour is unknown");
  expect_one_line(run({"tune", "p.json", "--energy-limit", "1"}), "machine.running.core_w is unknown");
  expect_one_line(run({"tune", "p.json", "--energy-limit", "-1"}), "--energy-limit");
  auto profile = small_profile();
  profile["machine"]["running"] = {{"idle_w", 2}, {"core_w", 40}, {"price_per_hour", 3.6}};
  place.write("running.json", profile.dump());
  const auto best = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"tune", "running.json"};
    words.insert(words.end(), more.begin(), more.end());
    return document(words)["candidates"][0]["prediction"];
  };
  const auto fastest = best({});
  const double epoch_s = fastest["epoch_s"];
  const double energy_j = fastest["energy_j"];
  EXPECT_NEAR(fastest["price"].get<double>(), epoch_s * 1e-3, 1e-9);
  EXPECT_THAT(run({"tune", "running.json"}).out, HasSubstr("kJ an epoch"));
  const auto text_of = [](double value) { return base::Json(value).dump(); };
  const auto frugal = best({"--energy-limit", text_of(0.97 * energy_j)});
  EXPECT_LE(frugal["energy_j"].get<double>(), 0.97 * energy_j);
  EXPECT_GE(frugal["epoch_s"].get<double>(), epoch_s * 0.99);
  expect_one_line(run({"tune", "running.json", "--price-limit", text_of(0.5 * epoch_s * 1e-3)}),
                  "no plan that was tried keeps to them");
}

TEST_F(Planning, CorrectionsChangeWhatIsPredictedAndAreTold) {
  auto profile = small_profile();
  profile["corrections"] = {{"train", {{"ratio", 1.5}, {"standard_error", 0.02}, {"batches", 80}}}};
  place.write("corrected.json", profile.dump());
  const auto rows = document({"explore", "corrected.json", "--plan", "device"})["rows"];
  EXPECT_NEAR(rows[0]["epoch_s"].get<double>(), 60 * (0.015 + 1.5 * 0.03), 1e-6);
  const auto tuned = run({"tune", "corrected.json"});
  EXPECT_THAT(tuned.out, HasSubstr("corrected by real runs: training x 1.50 (+- 0.02)"));
  EXPECT_GT(document({"tune", "corrected.json"})["candidates"][0]["prediction"]["epoch_s"].get<double>(),
            1.2 * document({"tune", "p.json"})["candidates"][0]["prediction"]["epoch_s"].get<double>());
  profile["corrections"]["train"]["ratio"] = -1;
  place.write("wrong.json", profile.dump());
  expect_one_line(run({"tune", "wrong.json"}), "wrong.json: corrections.train.ratio: -1 is out of range");
}

/// A machine with a GPU whose cache holds a part of the rows, so that a bias towards it saves time.
base::Json cached_profile() {
  auto profile = small_profile();
  profile["machine"]["device"] = {
      {"kind", "cuda"}, {"memory_bytes", 4e9}, {"memory_bandwidth_bytes_per_s", 5e11}};
  profile["machine"]["link"] = {{"bandwidth_bytes_per_s", 1e10}};
  profile["machine"]["cpu"]["memory_bytes"] = 6.4e10;
  profile["machine"]["cpu"]["cores"] = 2;
  auto& workload = profile["workload"];
  workload["graph"] = "g";
  workload["batches"] = 1;  // no buffers to choose from
  workload["vertices"] = 10000000;
  workload["edges"] = 120000000;
  workload["feature_columns"] = 256;
  workload["feature_row_bytes"] = 1024;
  workload["train_vertices"] = 60000;
  workload["batch_vertices"] = 20000;
  workload["batch_edges"] = 50000;
  workload["batch_bytes"] = 2.1e7;
  workload["device_batch_link_s"] = 0.012;
  workload["features"] = {{"skew", 0.4}};
  workload["topology"] = {{"skew", 0.4}};
  return profile;
}

/// A run's document in a directory of its own: the accuracy falls with the bias.
void write_run(const Workplace& place, const std::string& name, double bias, double noise) {
  plan::Plan plan = plan::find_plan("device");
  plan.bias = bias;
  plan.exact = bias == 1;
  plan.cache.policy = plan::CachePolicy::out_degree;
  std::filesystem::create_directory(place.path() / name);
  const auto profile = cached_profile();
  const base::Json job =
      profile["workload"].contains("job") ? profile["workload"]["job"] : base::write_value(plan::Job{});
  place.write(name + "/report.json", base::Json{{"schema", "gnomon.training/1"},
                                                {"job", job},
                                                {"plan", base::write_value(plan)},
                                                {"test_accuracy", 0.9 - 0.01 * std::log2(bias) + noise},
                                                {"graph",
                                                 {{"name", "g"},
                                                  {"vertices", 10000000},
                                                  {"edges", 120000000},
                                                  {"feature_columns", 256},
                                                  {"train_vertices", 60000}}}}
                                         .dump());
}

TEST_F(Planning, AccuracyOfRecordedRunsLimitsApproximatePlans) {
  place.write("gpu.json", cached_profile().dump());
  std::vector<std::string> learn = {"surrogate", "learn", "-o", "s.json", "--runs"};
  for (int run_number = 0; run_number < 14; ++run_number) {
    const std::string name = "run" + std::to_string(run_number);
    write_run(place, name, std::pow(2, run_number % 7), 0.0005 * (run_number / 7));
    learn.push_back(name);
  }
  const auto learned = run(learn);
  ASSERT_EQ(learned.code, 0) << learned.error;
  EXPECT_THAT(learned.out, HasSubstr("accuracy from 14 runs on 1 graphs"));
  EXPECT_THAT(run({"surrogate", "show", "s.json"}).out, HasSubstr("plan.bias"));
  const auto predicted =
      document({"surrogate", "predict", "s.json", "gpu.json", "--plan", "device"})["rows"][0];
  EXPECT_NEAR(predicted["accuracy"].get<double>(), 0.9, 0.01);
  const auto biased =
      document({"surrogate", "predict", "s.json", "gpu.json", "--plan", "a3gnn-mode1"})["rows"][0];
  EXPECT_LT(biased["accuracy"].get<double>(), predicted["accuracy"].get<double>() - 0.003);
  const auto most_bias = [&](double floor) {
    const auto found =
        run({"tune", "gpu.json", "--allow-approximate", "--simulated", "--surrogate", "s.json",
             "--accuracy-floor", std::to_string(floor), "--front", "--budget", "30", "--json"});
    EXPECT_EQ(found.code, 0) << found.error;
    const auto tuning = base::Json::parse(found.out);
    EXPECT_NEAR(tuning["accuracy"]["exact"].get<double>(), 0.9, 0.01);
    EXPECT_GT(tuning["hypervolume"].get<double>(), 0);
    double most = 1;
    for (const auto& point : tuning["front"]) {
      EXPECT_GE(point["accuracy"].get<double>(), std::min(0.89, floor));
    }
    for (const auto& candidate : tuning["candidates"]) {
      most = std::max(most, candidate["plan"].value("bias", 1.0));
    }
    return most;
  };
  EXPECT_LE(most_bias(0.875), 8);
  const auto text = run({"tune", "gpu.json", "--allow-approximate", "--simulated", "--surrogate", "s.json"});
  EXPECT_THAT(text.out, HasSubstr("over held-out runs"));
  expect_one_line(run({"tune", "gpu.json", "--surrogate", "s.json"}), "--allow-approximate");
  expect_one_line(run({"tune", "gpu.json", "--allow-approximate", "--accuracy-floor", "0.8"}), "--surrogate");
}

TEST_F(Planning, SurrogatesAreLearnedShownAndUsed) {
  std::vector<std::string> learn = {"surrogate", "learn", "-o", "s.json", "--samples", "40"};
  for (int graph = 0; graph < 6; ++graph) {
    auto profile = small_profile();
    const double size = 1 + graph;
    profile["workload"]["graph"] = "g" + std::to_string(graph);
    profile["workload"]["vertices"] = 100000 * (1 + graph);
    profile["workload"]["edges"] = 1000000;
    profile["workload"]["batch_bytes"] = 1e6 * size;
    profile["workload"]["train"]["mean_s"] = 0.01 * size;
    profile["workload"]["cpu_batch"]["mean_s"] = 0.012 * size;
    profile["workload"]["device_batch"]["mean_s"] = 0.005 * size;
    place.write("p" + std::to_string(graph) + ".json", profile.dump());
    learn.insert(learn.begin() + 2, "p" + std::to_string(graph) + ".json");
  }
  const auto learned = run(learn);
  EXPECT_EQ(learned.code, 0) << learned.error;
  EXPECT_THAT(learned.out, HasSubstr(std::to_string(6 * (40 + plan::runnable_presets_in_memory().size())) +
                                     " plans on 6 graphs"));
  const auto shown = run({"surrogate", "show", "s.json"});
  EXPECT_EQ(shown.code, 0) << shown.error;
  EXPECT_THAT(shown.out, HasSubstr("plan.workers"));
  EXPECT_FALSE(document({"surrogate", "show", "s.json"})["memory"].contains("members"));
  const auto rows = document({"surrogate", "predict", "s.json", "p3.json"})["rows"];
  ASSERT_EQ(rows.size(), plan::runnable_presets_in_memory().size());
  for (const auto& row : rows) {
    EXPECT_NEAR(row["epoch_s"].get<double>(), row["simulated_s"].get<double>(),
                0.2 * row["simulated_s"].get<double>())
        << row["plan"];
  }
  const auto text = run({"surrogate", "predict", "s.json", "p.json", "--plan", "device"});
  EXPECT_THAT(text.out, HasSubstr("not learned: device, graph.vertices: 0.0 is under 100000.0"));
  learn.erase(learn.begin() + 2, learn.begin() + 4);
  expect_one_line(run(learn), "4 graphs are too few");
  expect_one_line(run({"surrogate", "predict", "p.json", "p.json"}), "p.json: schema");
  expect_one_line(run({"surrogate"}), "use learn, show or predict");
}

TEST_F(Planning, BadDocumentsAreOneLineNamingFileAndField) {
  const auto broken = [&](const char* name, const char* pointer, const base::Json& value) {
    auto profile = small_profile();
    profile[base::Json::json_pointer(pointer)] = value;
    place.write(name, profile.dump());
    return run({"explore", name});
  };
  expect_one_line(broken("a.json", "/schema", "gnomon.profile/2"),
                  "a.json: schema: \"gnomon.profile/2\" cannot be read here; must be \"gnomon.profile/1\"");
  expect_one_line(broken("b.json", "/machine/cpu/coers", 3),
                  "b.json: machine.cpu.coers: is not a known field");
  expect_one_line(broken("c.json", "/machine/cpu/cores", 0), "c.json: machine.cpu.cores: 0 is out of range");
  expect_one_line(broken("d.json", "/workload/train/mean_s", "fast"),
                  "d.json: workload.train.mean_s: must be");
  place.write("e.json", "{\"schema\": ");
  expect_one_line(run({"tune", "e.json"}), "e.json: not valid JSON");
  expect_one_line(run({"tune", "missing.json"}), "missing.json");
}

TEST_F(Planning, BadPlansAndSettingsAreOneLine) {
  place.write(
      "plan.json",
      R"({"schema": "gnomon.plan/1", "name": "big", "schedule": "pipelined", "route": "cpu", "workers": 64})");
  expect_one_line(run({"explore", "p.json", "--plan", "plan.json"}),
                  "workers: 64 is more than this machine's 4 cores");
  expect_one_line(run({"explore", "p.json", "--plan", "nonesuch"}), "\"nonesuch\" is not known");
  expect_one_line(run({"explore", "p.json", "--set", "machine.cpu.core=4"}),
                  "machine.cpu.core: \"core\" is not a field; the fields there are name, cores");
  expect_one_line(run({"explore", "p.json", "--set", "plan.worker=4"}),
                  "plan.worker: \"worker\" is not a field");
  for (const char* field : {"workload.job.batch_size", "workload.job.fanouts", "workload.job.norm"}) {
    expect_one_line(run({"explore", "p.json", "--set", std::string(field) + "=8"}),
                    std::string(field) + ": the profile's times are of its own job");
  }
  expect_one_line(run({"explore", "p.json", "--set", "workload.job.hidden=8"}),
                  "workload.job.hidden: needs the machine's speeds: write them with gnomon machine -o FILE");
  expect_one_line(run({"explore", "p.json", "--set", "workload.job.hidden=0"}),
                  "workload.job.hidden: 0 is out of range; use 1 to 65536");
  expect_one_line(run({"explore", "p.json", "--set", "workload.batch_edges=8"}),
                  "workload.batch_edges: the profile's times are of its own mini-batches");
  EXPECT_EQ(run({"explore", "p.json", "--set", "workload.batches=8", "--set", "workload.job.epochs=3"}).code,
            0);
  expect_one_line(run({"explore", "p.json", "--set", "machine.cpu.cores=2.5"}),
                  "must be an integer, not 2.5");
  expect_one_line(run({"explore", "p.json", "--set", "machine.cpu.cores=8:2:1"}), "must be ascending");
  expect_one_line(run({"explore", "p.json", "--set", "machine.cpu.cores"}), "PATH=VALUES");
  expect_one_line(run({"explore", "p.json", "--json", "--csv"}), "excludes");
  expect_one_line(run({"explore", "p.json", "--plann", "dgl"}),
                  "--plann is not an option; did you mean --plan?");
  expect_one_line(run({"tune", "p.json", "dgl"}),
                  "\"dgl\" is one argument too many (see gnomon tune --help)");
  expect_one_line(run({"explore", "p.json", "--epochs", "many"}), "\"many\" is not a number");
  expect_one_line(run({"explore", "p.json", "--epochs", "0"}), "0 is out of range; use 1 to 1000000");
  expect_one_line(run({"explore", "p.json", "--price-per-hour", "-2"}), "-2 is out of range; use 0 or more");
  expect_one_line(run({"surrogate", "predict", "x", "y", "z"}), "(see gnomon surrogate predict --help)");
  expect_one_line(run({"explore", "p.json", "--sort", "cost"}),
                  "--sort: \"cost\" is not known; use one of epoch, price");
  EXPECT_THAT(place.names(), ElementsAre("p.json", "plan.json"));
}

// Refused before the search, not after it.
TEST_F(Planning, OutputsThatCannotBeWrittenAreRefusedFirst) {
  std::filesystem::create_directory(place.path() / "folder");
  for (const auto& words : std::vector<std::vector<std::string>>{{"tune", "p.json", "-o"},
                                                                 {"explore", "p.json", "--trace"},
                                                                 {"explore", "p.json", "--html"},
                                                                 {"surrogate", "learn", "p.json", "-o"}}) {
    const auto with = [&](const std::string& file) {
      auto all = words;
      all.push_back(file);
      return run(all);
    };
    expect_one_line(with("nowhere/out"), "nowhere/out: the directory nowhere does not exist");
    expect_one_line(with("folder"), "folder: is a directory; name a file in it");
  }
  EXPECT_THAT(place.names(), ElementsAre("folder", "p.json"));
}

TEST_F(Planning, SizesHaveTheUnitsOfAllCommands) {
  EXPECT_EQ(document({"tune", "p.json", "--host-memory", "1000GiB"})["best"],
            document({"tune", "p.json"})["best"]);
  expect_one_line(run({"tune", "p.json", "--device-memory", "4XB"}), "powers of 1000");
  EXPECT_THAT(run({"tune", "--help"}).out, HasSubstr("powers of 1024"));
}

std::vector<std::string> words_of_first_column(const std::string& table) {
  std::vector<std::string> names;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    names.push_back(line.substr(0, line.find(' ')));
  }
  return names;
}

TEST_F(Planning, ExploreSortsByEpochAndPutsWhatDoesNotRunBelowALine) {
  auto profile = small_profile();
  profile["machine"]["running"] = {{"price_per_hour", 3.6}};
  profile["machine"]["cpu"]["memory_bytes"] = 1.6e10;
  place.write("p.json", profile.dump());
  place.write("recent.json", R"({"schema": "gnomon.plan/1", "name": "recent", "schedule": "sequential",
                                "route": "device", "cache": {"policy": "recent"}})");
  const auto outcome = run({"explore", "p.json", "--plan", "recent.json,pyg,device,gnomon"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const auto rows = document({"explore", "p.json", "--plan", "recent.json,pyg,device,gnomon"})["rows"];
  std::vector<base::Json> running;
  for (const auto& row : rows) {
    EXPECT_EQ(row["runs_here"].get<bool>(), row["plan"] != "recent");
    EXPECT_EQ(row["exact"], "bits") << row["plan"];
    EXPECT_GE(row["over_bound"].get<double>(), 0);
    EXPECT_NEAR(row["price"].get<double>(), row["epoch_s"].get<double>() * 1e-3, 1e-9);
    EXPECT_GT(row["host_memory_bytes"].get<double>(), 0);
    EXPECT_EQ(row["extrapolated"], "");
    if (row["runs_here"]) {
      running.push_back(row);
    }
  }
  std::sort(running.begin(), running.end(),
            [](const auto& a, const auto& b) { return a["epoch_s"] < b["epoch_s"]; });
  const auto names = words_of_first_column(outcome.out);
  const auto rule = std::find_if(names.begin(), names.end(),
                                 [](const std::string& name) { return name.starts_with("----"); });
  ASSERT_GE(names.end() - rule, 7);
  for (std::ptrdiff_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rule[1 + i], running[static_cast<std::size_t>(i)]["plan"]);
  }
  EXPECT_THAT(rule[4], ::testing::StartsWith("----"));
  EXPECT_EQ(rule[5], "recent");
  EXPECT_THAT(outcome.out,
              HasSubstr("recent: simulated only: the runtime does not execute cache.policy \"recent\""));
  for (const char* heading : {"price", "memory", "exact"}) {
    EXPECT_THAT(outcome.out, HasSubstr(heading));
  }
}

TEST_F(Planning, ExploreMarksWhatLiesBeyondTheMeasurement) {
  auto profile = small_profile();
  profile["workload"]["worker_efficiency"] = {{{"threads", 1}, {"value", 1}},
                                              {{"threads", 2}, {"value", 0.9}}};
  place.write("p.json", profile.dump());
  const std::vector<std::string> explore = {"explore", "p.json", "--plan",
                                            "salient", "--set",  "plan.workers=2,4"};
  const auto rows = document(explore)["rows"];
  EXPECT_EQ(rows[0]["extrapolated"], "");
  EXPECT_THAT(rows[1]["extrapolated"].get<std::string>(), HasSubstr("more workers than measured (2)"));
  EXPECT_THAT(run(explore).out,
              HasSubstr("* extrapolated: more workers than measured (2): counts over nominal speeds\n"));
  EXPECT_EQ(rows[0]["rests_on"], "measured");
  EXPECT_EQ(rows[1]["rests_on"], "assumed");
  EXPECT_THAT(rows[1]["rests_on_why"].get<std::string>(), HasSubstr("more workers than measured (2)"));
}

TEST_F(Planning, ExploreExplainsItsRows) {
  const std::vector<std::string> explore = {"explore", "p.json", "--plan", "salient,device", "--explain"};
  const auto text = run(explore).out;
  EXPECT_THAT(text, HasSubstr("rests on"));
  for (const char* line : {"\nsalient: ", ", rests on: measured\n  cpu_batch: measured 20 ms\n",
                           "  train, counts over nominal speeds: operations ", "; measured 30 ms",
                           "  stages with this plan: cpu_batch 20 ms, transfer 1 ms, train 30 ms\n",
                           "  epoch: 60 mini-batches, at least "}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  const auto rows = document(explore)["rows"];
  EXPECT_EQ(rows[0]["explanation"].size(), 4U);
  EXPECT_FALSE(document({"explore", "p.json", "--plan", "device"})["rows"][0].contains("explanation"));
  EXPECT_EQ(run({"explore", "p.json", "--explain", "--csv"}).code, 2);
}

TEST_F(Planning, TablesFitTheWidthTheyAreGiven) {
  const auto widest = [&](const char* columns, const std::vector<std::string>& command) {
    std::string line = "COLUMNS=" + std::string(columns) + " " + GNOMON_PROGRAM;
    for (const auto& word : command) {
      line += " " + word;
    }
    const auto outcome = run_program_at("/bin/sh", {"-c", line}, place.path());
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    std::ptrdiff_t most = 0;
    std::istringstream lines(outcome.out);
    for (std::string row; std::getline(lines, row) && !row.starts_with("(");) {
      if (row.starts_with("* ") || row.find(": ") != std::string::npos) {
        break;  // the sentences below the table
      }
      most = std::max(
          most, std::count_if(row.begin(), row.end(), [](unsigned char c) { return (c & 0xC0U) != 0x80U; }));
    }
    EXPECT_GT(most, 20);
    return most;
  };
  for (const auto& command : std::vector<std::vector<std::string>>{
           {"explore", "p.json", "--plan", "all"},
           {"explore", "p.json", "--plan", "device,gnomon", "--set", "machine.cpu.cores=2,4", "--set",
            "workload.train.mean_s=0.01,0.02"},
           {"tune", "p.json"},
           {"catalog"}}) {
    EXPECT_LE(widest("100", command), 100) << command.front();
    EXPECT_LE(widest("80", command), 80) << command.front();
  }
}

}  // namespace
}  // namespace gnomon::apps
