#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "base/document.h"
#include "base/usable.h"
#include "graph/order/reorder.h"
#include "plan/default_plan.h"
#include "plan/exactness.h"
#include "plan/plan.h"
#include "profiles/catalog.h"
#include "profiles/profile.h"
#include "program.h"
#include "sim/costs/macro_read.h"
#include "tests/apps/exact_presets.h"
#include "tests/fixtures/graphs.h"

namespace gnomon::apps {
namespace {

namespace fs = std::filesystem;
using base::Json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

/// A directory of its own for each test, with the store "tiny" in it.
class ComputeCommands : public ::testing::Test {
 protected:
  void SetUp() override { graph::generate(test::tiny_partition(), here_ / "tiny"); }

  static std::vector<std::string> with_job(std::vector<std::string> words) {
    for (const char* word : {"--fanouts", "4,3", "--batch-size", "50", "--hidden", "8"}) {
      words.emplace_back(word);
    }
    return words;
  }
  Outcome run(const std::vector<std::string>& words) const { return run_gnomon(words, here_); }
  Json json_of(const std::vector<std::string>& words) const {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return base::parse_json(outcome.out, "stdout");
  }
  void expect_refused(const std::vector<std::string>& words, const std::string& message) const {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr(message));
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
    EXPECT_FALSE(fs::exists(here_ / "runs")) << "a refused command left a directory behind";
  }

  Workplace workplace_;
  const fs::path& here_ = workplace_.path();
};

std::int64_t lines_in(const fs::path& path) {
  std::ifstream stream(path);
  return std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
}

TEST_F(ComputeCommands, ProfileWritesADocumentThatReadsBack) {
  const auto outcome =
      run(with_job({"profile", "tiny", "-o", "p.json", "--interval", "0.5", "--time-limit", "1"}));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("training, one thread"));
  EXPECT_THAT(outcome.out, HasSubstr("written to p.json"));
  const auto profile = profiles::read_profile(here_ / "p.json");
  EXPECT_EQ(profile.workload.batches, 8);
  EXPECT_EQ(profile.workload.job.hidden, 8);
}

TEST_F(ComputeCommands, ProfilePrintsADocument) {
  const auto json = json_of(with_job({"profile", "tiny", "--time-limit", "0.5", "--json"}));
  EXPECT_EQ(json["schema"], "gnomon.profile/1");
  EXPECT_EQ(json["workload"]["graph"], "tiny");
}

TEST_F(ComputeCommands, ProfilesKeepTheSpeedsOfTheirMachine) {
  ASSERT_EQ(run({"machine", "-o", "m.json", "--device", "cpu", "--time-limit", "0.5"}).code, 0);
  const std::vector<std::string> words = {"profile",      "tiny", "-o",        "p.json",
                                          "--time-limit", "0.5",  "--machine", "m.json"};
  ASSERT_EQ(run(with_job(words)).code, 0);
  EXPECT_EQ(profiles::read_profile(here_ / "p.json").machine_speeds,
            profiles::read_machine(here_ / "m.json").speeds);
  const auto explored =
      json_of({"explore", "p.json", "--plan", "device", "--set", "workload.job.model=sage,gat", "--json"});
  ASSERT_EQ(explored["rows"].size(), 2U);
  EXPECT_THAT(explored["rows"][1]["extrapolated"], HasSubstr("another model than measured (model sage)"));
  auto machine = profiles::read_machine(here_ / "m.json");
  machine.machine.cpu.name = "another";
  base::write_document(here_ / "m.json", machine);
  expect_refused(with_job(words),
                 "--machine: m.json: is the document of another machine: processor \"another\"");
}

/// Its arguments for an emulated device.
std::vector<std::string> emulated(std::vector<std::string> words) {
  for (const char* word : {"--device", "emulated", "--device-memory", "64MB", "--link", "2GB/s"}) {
    words.emplace_back(word);
  }
  return words;
}

TEST_F(ComputeCommands, AnEmulatedDeviceTrainsAsTheHost) {
  const auto hash_of = [&](const std::vector<std::string>& words) {
    return json_of(with_job(words))["weights_hash"];
  };
  const auto expected = hash_of({"train", "tiny", "--plan", "device", "--epochs", "1", "--json"});
  EXPECT_EQ(hash_of(emulated({"train", "tiny", "--plan", "ducati", "--epochs", "1", "--json"})), expected);
  EXPECT_EQ(hash_of({"train", "tiny", "--plan", "sota", "--epochs", "1", "--json", "--device",
                     "emulated:aws-g5.2xlarge", "--link-latency", "0.5 us", "--link-request", "64"}),
            expected);
}

TEST_F(ComputeCommands, SeveralEmulatedDevicesAverageTheirGradients) {
  const auto hash_of = [&](const std::string& plan, const char* devices) {
    return json_of(with_job(emulated(
        {"train", "tiny", "--plan", plan, "--epochs", "1", "--json", "--devices", devices})))["weights_hash"];
  };
  workplace_.write("two.json", R"({"schema": "gnomon.plan/1", "name": "two", "schedule": "pipelined",
                                   "route": "cpu", "devices": 2})");
  const auto of_two = hash_of("two.json", "2");
  EXPECT_EQ(hash_of("t_sota", "2"), of_two);  // it uses all devices
  EXPECT_NE(hash_of("t_sota", "1"), of_two);
  const auto hash_on = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"train", "tiny", "--plan", "t_sota", "--epochs", "1", "--json"});
    return json_of(with_job(words))["weights_hash"];
  };
  const std::vector<std::string> machine{"--device", "emulated:aws-g5.12xlarge"};
  EXPECT_EQ(hash_on(machine), hash_of("t_sota", "4")) << "that machine has four";
  EXPECT_EQ(hash_on({"--device", "emulated:aws-g5.12xlarge", "--devices", "2"}), of_two);
}

TEST_F(ComputeCommands, SeveralDevicesAreRefusedWhereTheyAreNotExecuted) {
  expect_refused({"train", "tiny", "--devices", "2"}, "--devices: needs an emulated device");
  expect_refused({"train", "tiny", "--peer-link", "50GB/s"}, "--peer-link: needs an emulated device");
  expect_refused(emulated({"train", "tiny", "--devices", "2", "--peer-link", "fast"}),
                 "--peer-link: \"fast\" is not a bandwidth; use a number as in 12GB/s");
}

TEST_F(ComputeCommands, PredictedClassesAreWrittenAsCsvOnly) {
  expect_refused({"train", "tiny", "--predictions", "x.parquet"},
                 "--predictions: x.parquet: classes are written as CSV; name a .csv file");
}

TEST_F(ComputeCommands, CompareRunsPresetsOfSeveralDevices) {
  auto words = with_job(
      emulated({"compare", "tiny", "--plans", "quiver,dsp,gnnlab,dgl-uva", "--epochs", "2", "--rounds", "1",
                "--time-limit", "1", "--devices", "2", "--peer-link", "20GB/s", "--json"}));
  std::map<std::string, Json> rows;
  const auto compared = json_of(words);
  for (const auto& row : compared["presets"]) {
    rows[row["preset"]] = row;
  }
  ASSERT_EQ(rows.size(), 4U);
  for (const auto& [preset, row] : rows) {
    EXPECT_EQ(row["runs"], true) << preset << row["why_not"];
    EXPECT_EQ(row["plan"]["devices"], preset == "dgl-uva" ? 1 : 2) << preset;
    EXPECT_GT(row["predicted_s"], 0) << preset;
  }
  EXPECT_EQ(rows.at("quiver")["weights_hash"], rows.at("dsp")["weights_hash"]);
  EXPECT_GT(rows.at("quiver")["row_peer_share"], 0);
  EXPECT_GT(rows.at("dsp")["list_peer_share"], 0);
  EXPECT_TRUE(rows.at("dgl-uva")["row_peer_share"].is_null());
}

TEST_F(ComputeCommands, ProfileSaysThatItsDeviceIsEmulated) {
  const auto outcome = run(with_job(emulated({"profile", "tiny", "-o", "p.json", "--time-limit", "1"})));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("emulated on the host's cores: runs at host speed"));
  expect_refused({"validate", "tiny", "p.json", "--plans", "device"},
                 "p.json: machine.device.kind: the profile is of a device of kind \"emulated\", and --device "
                 "auto is one of kind \"host\"; use the --device that was profiled");
}

// As profile and then tune: the profile that was measured first is kept, and tuning it gives the same plan.
TEST_F(ComputeCommands, TuneMeasuresOnAnEmulatedDevice) {
  const std::vector<std::string> search{"--budget", "20", "--json"};
  auto words = with_job(emulated(
      {"tune", "tiny", "-o", "plan.json", "--profile", "p.json", "--interval", "0.5", "--time-limit", "20"}));
  words.insert(words.end(), search.begin(), search.end());
  const auto tuning = json_of(words);
  EXPECT_EQ(tuning["schema"], "gnomon.tuning/1");
  const auto profile = profiles::read_profile(here_ / "p.json");
  EXPECT_EQ(profile.machine.device.kind, plan::DeviceKind::emulated);
  EXPECT_EQ(profile.machine.device.memory_bytes, 64e6);
  EXPECT_EQ(profile.workload.graph, "tiny");
  EXPECT_NO_THROW(plan::read_plan(here_ / "plan.json"));
  std::vector<std::string> again{"tune", "p.json"};
  again.insert(again.end(), search.begin(), search.end());
  EXPECT_EQ(json_of(again)["candidates"], tuning["candidates"]);
  expect_refused(with_job({"tune", "tiny", "--device", "emulated:nowhere"}), "\"nowhere\" is not known");
}

TEST_F(ComputeCommands, TuneSearchesThePlansOfAnEmulatedMachine) {
  auto words = with_job({"tune", "tiny", "--device", "emulated:aws-g5.2xlarge", "--interval", "0.5",
                         "--time-limit", "20", "--budget", "20"});
  const auto outcome = run(words);
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("emulated NVIDIA A10G"));
  EXPECT_THAT(outcome.out, HasSubstr("ducati")) << "a plan with caches, which a host does not execute";
}

TEST_F(ComputeCommands, AutotuneTrainsOnAnEmulatedDevice) {
  const auto json = json_of(with_job(
      emulated({"autotune", "tiny", "--epochs", "1", "--time-limit", "1", "--run", "here", "--json"})));
  EXPECT_EQ(json["schema"], "gnomon.autotuning/1");
  EXPECT_EQ(profiles::read_profile(here_ / "here" / "profile.json").machine.device.kind,
            plan::DeviceKind::emulated);
  const auto plan = plan::read_plan(here_ / "here" / "plan.json");
  EXPECT_EQ(plan::refusal_of(plan, plan::abilities_of(plan::DeviceKind::emulated)), "");
  if (plan::exactness_of(plan) == plan::Exactness::bits) {
    const auto host = json_of(with_job({"train", "tiny", "--plan", "device", "--epochs", "1", "--json"}));
    EXPECT_EQ(json["training"]["weights_hash"], host["weights_hash"]) << "a device changes no training";
  }
}

/// A comparison on an emulated device of a plan without and one with caches, one of the CPU's, and one that
/// is simulated only.
std::vector<std::string> comparison() {
  return emulated({"compare", "tiny", "--plans", "dgl-uva,ducati,salient,hanoi", "--epochs", "2", "--rounds",
                   "1", "--time-limit", "1"});
}

TEST_F(ComputeCommands, CompareRunsWhatTheDeviceExecutes) {
  auto words = with_job(comparison());
  words.insert(words.end(), {"--json", "--html", "c.html"});
  const auto json = json_of(words);
  EXPECT_EQ(json["schema"], "gnomon.comparison/1");
  EXPECT_EQ(json["device"], "emulated");
  EXPECT_EQ(json["trained_epochs"], 2);
  ASSERT_EQ(json["presets"].size(), 4U);
  std::map<std::string, Json> rows;
  for (const auto& row : json["presets"]) {
    rows[row["preset"]] = row;
  }
  EXPECT_EQ(json["presets"][0]["over_best"], 0);
  for (const char* name : {"dgl-uva", "ducati", "salient"}) {
    const auto& row = rows.at(name);
    EXPECT_EQ(row["runs"], true) << name;
    EXPECT_GT(row["predicted_s"], 0) << name;
    EXPECT_GT(row["measured_s"], 0) << name;
    EXPECT_GT(row["measured_bytes"], 1e6) << name;
    EXPECT_GT(row["measured_device_bytes"], 0) << name;
    EXPECT_LE(row["measured_device_bytes"], 64e6) << name;
    EXPECT_GT(row["test_accuracy"], 0) << name;
    EXPECT_EQ(row["epochs_s"].size(), 1U) << name;
  }
  EXPECT_EQ(rows.at("dgl-uva")["weights_hash"], rows.at("ducati")["weights_hash"]);
  EXPECT_GT(rows.at("ducati")["row_hit_share"], 0);
  EXPECT_TRUE(rows.at("dgl-uva")["row_hit_share"].is_null());
  EXPECT_EQ(json["presets"][3]["preset"], "hanoi");
  EXPECT_EQ(rows.at("hanoi")["runs"], false);
  EXPECT_THAT(rows.at("hanoi")["why_not"].get<std::string>(),
              StartsWith("this device does not execute topology"));
  EXPECT_TRUE(rows.at("hanoi")["measured_s"].is_null());
  const auto page = base::read_file(here_ / "c.html");
  const auto data = page.substr(page.find("const data = ") + 13);
  EXPECT_EQ(Json::parse(data.substr(0, data.find(";\n")))["rows"].size(), 4U);
}

TEST_F(ComputeCommands, ComparePrintsOneTableWithTheReasonsBelow) {
  const auto outcome = run(with_job(comparison()));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  for (const char* text : {"preset", "predicted", "accuracy on the test vertices after 2 epochs",
                           "hanoi: this device does not execute topology"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
  expect_refused(with_job({"compare", "tiny", "--plans", "nothing"}), "nothing");
}

TEST_F(ComputeCommands, EmulatedDevicesWithoutNumbersAreRefused) {
  expect_refused(
      {"train", "tiny", "--device", "emulated", "--link", "2GB/s"},
      "--device emulated: the device's memory is not known; add --device-memory as in 2GB, or name a "
      "machine as in emulated:NAME (see gnomon catalog)");
  expect_refused({"train", "tiny", "--device", "emulated", "--device-memory", "2GB"},
                 "--device emulated: the link's bandwidth is not known; add --link as in 12GB/s");
  expect_refused({"train", "tiny", "--device", "emulated:nothing"},
                 "--device emulated:nothing: \"nothing\" is not known; use a machine file or one of aws-");
  expect_refused({"train", "tiny", "--device", "emulated", "--device-memory", "2GB", "--link", "12 apples"},
                 "--link: \"12 apples\" is not a bandwidth above 0; use a number as in 12GB/s");
  expect_refused({"train", "tiny", "--device", "emulated", "--device-memory", "2GB", "--link", "4Gb/s"},
                 "--link: \"4Gb/s\" is in bits; use bytes, eight times fewer, as in 12GB/s");
  expect_refused(emulated({"train", "tiny", "--link-latency", "2h"}),
                 "--link-latency: \"2h\" is not a time of at most 1s; use a number with s, ms, us or ns");
  expect_refused(emulated({"train", "tiny", "--link-request", "48"}),
                 "--link-request: 48 not in {32,64,128}");
  expect_refused({"train", "tiny", "--link-latency", "2us"}, "--link-latency: needs an emulated device");
  expect_refused({"train", "tiny", "--link", "12GB/s"},
                 "--link: needs an emulated device; add --device emulated");
  expect_refused({"train", "tiny", "--device", "toaster"},
                 "\"toaster\" is not a device; use cpu, gpu, auto, emulated");
}

TEST_F(ComputeCommands, TrainLeavesItsDocuments) {
  const auto outcome = run(with_job({"train", "tiny", "--epochs", "3"}));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  const auto taken = plan::default_plan({base::usable_cores(), plan::DeviceKind::host});
  EXPECT_THAT(outcome.out, StartsWith("plan " + taken.name + ": no GPU"));
  EXPECT_THAT(outcome.out, HasSubstr("\nepoch      loss"));
  EXPECT_THAT(outcome.out, HasSubstr("test accuracy"));
  const auto directory = here_ / "runs" / "tiny-1";
  const auto report = base::parse_json(base::read_file(directory / "report.json"), "report");
  EXPECT_EQ(report["schema"], "gnomon.training/1");
  EXPECT_EQ(report["epochs"].size(), 3U);
  EXPECT_EQ(report["plan"]["name"], taken.name);
  EXPECT_GT(report["epochs"][2]["device_utilisation"].get<double>(), 0);
  EXPECT_LE(report["epochs"][2]["device_utilisation"].get<double>(), 1);
  EXPECT_EQ(lines_in(directory / "order.jsonl"), 3);
  EXPECT_THAT(base::read_file(directory / "trace.json"), HasSubstr("measured"));
  EXPECT_EQ(run(with_job({"train", "tiny", "--epochs", "1"})).code, 0);
  EXPECT_TRUE(fs::exists(here_ / "runs" / "tiny-2" / "report.json"));
}

// The number of an epoch is the same wherever a person reads it.
TEST_F(ComputeCommands, EpochsCountFromOneInTablesAndDocuments) {
  const auto outcome = run(with_job({"train", "tiny", "--epochs", "3", "--run", "run"}));
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const auto report = base::parse_json(base::read_file(here_ / "run" / "report.json"), "report");
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report["epochs"][static_cast<std::size_t>(i)]["epoch"], i + 1);
    EXPECT_THAT(outcome.out, HasSubstr("\n    " + std::to_string(i + 1) + "  "));
  }
  EXPECT_THAT(outcome.out,
              HasSubstr("(weights of epoch " + std::to_string(report["best_epoch"].get<int>()) + ";"));
  for (const char* file : {"log.jsonl", "order.jsonl"}) {
    std::ifstream lines(here_ / "run" / file);
    std::string first;
    std::getline(lines, first);
    EXPECT_EQ(base::parse_json(first, file)["epoch"], 1) << file;
  }
}

TEST_F(ComputeCommands, AFinishedRunIsNotOverwrittenUnasked) {
  const auto train = with_job({"train", "tiny", "--epochs", "1", "--run", "run"});
  ASSERT_EQ(run(train).code, 0);
  const auto report = base::read_file(here_ / "run" / "report.json");
  std::ofstream(here_ / "run" / "notes.txt") << "mine";
  expect_refused(train,
                 "run: holds a run; continue it with gnomon train --resume, replace it with --overwrite");
  expect_refused(with_job({"autotune", "tiny", "--epochs", "1", "--run", "run"}), "run: holds a run");
  EXPECT_EQ(base::read_file(here_ / "run" / "report.json"), report);

  auto overwrite = train;
  overwrite.insert(overwrite.end(), {"--overwrite", "--seed", "9"});
  const auto outcome = run(overwrite);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_NE(base::read_file(here_ / "run" / "report.json"), report);
  EXPECT_EQ(base::read_file(here_ / "run" / "notes.txt"), "mine");
  expect_refused({"train", "tiny", "--run", "run", "--resume", "--overwrite"}, "--overwrite");
}

TEST_F(ComputeCommands, AFolderThatIsNoRunIsLeftAlone) {
  for (const char* command : {"train", "autotune"}) {
    expect_refused(with_job({command, "tiny", "--run", "tiny"}),
                   "tiny: holds files but no run; name a new or an empty directory");
    expect_refused(with_job({command, "tiny", "--run", "tiny", "--overwrite"}),
                   "tiny: holds files but no run");
  }
  EXPECT_FALSE(fs::exists(here_ / "tiny" / "job.json"));
}

TEST_F(ComputeCommands, OutputsThatCannotBeWrittenAreRefusedFirst) {
  const std::string missing = "nowhere/out: the directory nowhere does not exist";
  for (const char* option : {"--predictions", "--trace"}) {
    expect_refused(with_job({"train", "tiny", option, "nowhere/out"}), missing);
    expect_refused(with_job({"train", "tiny", option, "tiny"}), "tiny: is a directory");
  }
  expect_refused(with_job({"profile", "tiny", "-o", "nowhere/out"}), missing);
  expect_refused({"validate", "tiny", "p.json", "--correct", "nowhere/out"}, missing);
}

TEST_F(ComputeCommands, AResultWhoseDirectoryVanishedIsKeptElsewhere) {
  fs::create_directory(here_ / "out");
  RunningProgram child(
      GNOMON_PROGRAM,
      with_job({"train", "tiny", "--run", "run", "--epochs", "400", "--predictions", "out/classes.csv"}),
      here_);
  for (int i = 0; i < 6000 && !fs::exists(here_ / "run" / "log.jsonl"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  fs::remove_all(here_ / "out");
  const auto outcome = child.wait();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("test accuracy")) << "the rest of the result is told";
  const std::string mark = "the result is kept in ";
  const auto at = outcome.error.find(mark);
  ASSERT_NE(at, std::string::npos) << outcome.error;
  const fs::path kept =
      outcome.error.substr(at + mark.size(), outcome.error.find('\n', at) - at - mark.size());
  EXPECT_EQ(kept.filename(), "classes.csv");
  EXPECT_EQ(lines_in(kept), 601);
  fs::remove_all(kept.parent_path());
}

TEST_F(ComputeCommands, ResumingNamesWhatDiffersAndChangesNothing) {
  ASSERT_EQ(run(with_job({"train", "tiny", "--epochs", "2", "--run", "run"})).code, 0);
  const auto resume = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"train", "tiny", "--run", "run", "--resume"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  expect_refused(resume({"--hidden", "16"}), "job.hidden: the run was started with 8, not 16; resume with");
  expect_refused(resume({"--seed", "3"}), "job.seed: the run was started with 0, not 3");
  expect_refused(resume({"--model", "gcn"}), "job.model: the run was started with \"sage\", not \"gcn\"");
  auto other = test::tiny_partition();
  other.vertices = 500;
  graph::generate(other, here_ / "other");
  expect_refused({"train", "other", "--run", "run", "--resume"},
                 "graph.vertices: the run was started with 600, not 500");
  auto biased = plan::find_plan("device");
  biased.bias = 8;
  biased.exact = false;
  biased.cache.policy = plan::CachePolicy::out_degree;
  biased.cache.budget = 0.1;
  base::write_document(here_ / "biased.json", biased);
  expect_refused(resume({"--plan", "biased.json"}), "plan.exact: the run was started with true, not false");
  const auto outcome = run(resume({"--epochs", "3"}));
  EXPECT_EQ(outcome.code, 0) << "a refused command changed the run: " << outcome.error;
}

TEST_F(ComputeCommands, AnEndedRunIsNotBegunAnewByResuming) {
  ASSERT_EQ(run(with_job({"train", "tiny", "--epochs", "2", "--run", "run"})).code, 0);
  expect_refused({"train", "tiny", "--run", "run", "--resume", "--epochs", "1"},
                 "job.epochs: the run has trained 2 epochs; use at least as many, not 1");
  const auto report = base::read_file(here_ / "run" / "report.json");
  fs::remove(here_ / "run" / "checkpoint.pt");
  expect_refused({"train", "tiny", "--run", "run", "--resume", "--epochs", "3"},
                 "run: has ended, and its checkpoint.pt, from which it could go on, is missing");
  EXPECT_EQ(base::read_file(here_ / "run" / "report.json"), report);
}

TEST_F(ComputeCommands, ARunIsOfOneProcess) {
  RunningProgram child(GNOMON_PROGRAM, with_job({"train", "tiny", "--run", "run", "--epochs", "100000"}),
                       here_);
  for (int i = 0; i < 6000 && !fs::exists(here_ / "run" / "log.jsonl"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::string in_use = "run: is in use by another process of gnomon";
  expect_refused({"train", "tiny", "--run", "run", "--resume"}, in_use);
  expect_refused(with_job({"train", "tiny", "--run", "run", "--overwrite"}), in_use);
  child.signal(SIGKILL);
  EXPECT_EQ(child.wait().code, 128 + SIGKILL);
  EXPECT_EQ(run({"train", "tiny", "--run", "run", "--resume", "--epochs", "1000"}).code, 0);
}

TEST_F(ComputeCommands, OptionsWithoutEffectAreRefused) {
  expect_refused(
      with_job({"train", "tiny", "--device", "cpu", "--device-memory", "1GB"}),
      "--device-memory: limits the memory of a GPU or of an emulated device; the device is the CPU");
  expect_refused(with_job({"train", "tiny", "--patience", "3", "--evaluate-every", "never"}),
                 "patience: counts epochs by their evaluations, of which there are none");
  expect_refused(with_job({"train", "tiny", "--plan", "device", "--adapt-hot-ratio"}),
                 "plan \"device\": reuses no hot embeddings, whose number could be adapted");
  expect_refused(with_job({"train", "tiny", "--heads", "2"}),
                 "--heads: applies to --model gat only; leave it out");
  std::ofstream(here_ / "file") << "text";
  expect_refused(with_job({"train", "tiny", "--tensorboard", "file"}),
                 "file: is a file; name a directory for TensorBoard's files");
  EXPECT_FALSE(fs::exists(here_ / "runs")) << "a refused training left a run";
}

TEST_F(ComputeCommands, ATrainingThatCannotBeginLeavesNoRun) {
  ASSERT_EQ(run(with_job({"train", "tiny", "--epochs", "1", "--run", "run"})).code, 0);
  const auto outcome = run({"train", "tiny", "--epochs", "1", "--run", "other", "--fanouts", "4,3",
                            "--batch-size", "7", "--replay", "run/order.jsonl"});
  EXPECT_EQ(outcome.code, 2) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("replay: epoch 1"));
  EXPECT_FALSE(fs::exists(here_ / "other"));
}

TEST_F(ComputeCommands, ADamagedCheckpointAndAnEmptyReplayAreRefused) {
  ASSERT_EQ(run(with_job({"train", "tiny", "--epochs", "2", "--run", "run"})).code, 0);
  const auto checkpoint = base::read_file(here_ / "run" / "checkpoint.pt");
  for (const auto& damaged : {std::string("text"), checkpoint.substr(0, checkpoint.size() / 2)}) {
    std::ofstream(here_ / "run" / "checkpoint.pt", std::ios::binary) << damaged;
    expect_refused({"train", "tiny", "--run", "run", "--resume", "--epochs", "3"},
                   "run/checkpoint.pt: is damaged, or no checkpoint: ");
  }
  std::ofstream(here_ / "empty.jsonl");
  expect_refused(with_job({"train", "tiny", "--replay", "empty.jsonl"}), "empty.jsonl: holds no epochs");
}

TEST_F(ComputeCommands, ARunThatGoesOnHasNotEnded) {
  ASSERT_EQ(run(with_job({"train", "tiny", "--epochs", "2", "--run", "run"})).code, 0);
  {
    RunningProgram child(GNOMON_PROGRAM, {"train", "tiny", "--run", "run", "--resume", "--epochs", "100000"},
                         here_);
    for (int i = 0; i < 6000 && lines_in(here_ / "run" / "log.jsonl") < 4; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    child.signal(SIGKILL);
    child.wait();
  }
  const auto runs = json_of({"runs", "run", "--json"});
  EXPECT_EQ(runs["runs"][0]["has_ended"], false) << runs.dump(2);
}

TEST_F(ComputeCommands, PredictionsHaveTheDatasOwnIds) {
  // Vertex v of tiny is of class v mod 4, whatever the store calls it.
  graph::write_in_order(graph::VertexOrder::degree, here_ / "ordered",
                        [&](const fs::path& store) { graph::generate(test::tiny_partition(), store); });
  const auto outcome = run(with_job({"train", "ordered", "--epochs", "60", "--predictions", "classes.csv"}));
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  std::ifstream file(here_ / "classes.csv");
  std::string heading;
  std::getline(file, heading);
  EXPECT_EQ(heading, "vertex,class");
  int correct = 0;
  for (int expected = 0; expected < 600; ++expected) {
    int vertex = -1;
    int predicted = -1;
    char comma = 0;
    ASSERT_TRUE(file >> vertex >> comma >> predicted);
    ASSERT_EQ(vertex, expected);
    correct += predicted == vertex % 4 ? 1 : 0;
  }
  EXPECT_GT(correct, 300);  // 150 by chance
}

TEST_F(ComputeCommands, TrainFollowsARecordedOrder) {
  const auto first = json_of(with_job({"train", "tiny", "--plan", "morphgl", "--epochs", "2", "--json"}));
  const auto again = json_of(with_job({"train", "tiny", "--plan", "morphgl", "--epochs", "2", "--json",
                                       "--replay", "runs/tiny-1/order.jsonl", "--trace", "t.json"}));
  EXPECT_EQ(first["weights_hash"], again["weights_hash"]);
  EXPECT_TRUE(fs::exists(here_ / "t.json"));
}

TEST_F(ComputeCommands, AnInterruptedTrainingGoesOnToTheSameWeights) {
  const auto order = here_ / "run" / "order.jsonl";
  RunningProgram child(GNOMON_PROGRAM, with_job({"train", "tiny", "--run", "run", "--epochs", "1000000"}),
                       here_);
  for (int i = 0; i < 6000 && lines_in(order) < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_GE(lines_in(order), 3) << "training did not start within a minute";
  child.signal(SIGINT);
  const auto outcome = child.wait();
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("resume with: gnomon train tiny --run run --resume"));

  const auto epochs = std::to_string(lines_in(order) + 3);
  const auto resumed = json_of({"train", "tiny", "--run", "run", "--resume", "--epochs", epochs, "--json"});
  const auto whole = json_of(with_job({"train", "tiny", "--epochs", epochs, "--json"}));
  EXPECT_EQ(resumed["weights_hash"], whole["weights_hash"]);
  EXPECT_EQ(resumed["job"], whole["job"]);
  EXPECT_EQ(lines_in(order), std::stoll(epochs));
}

TEST_F(ComputeCommands, TrainRefusesWithOneLine) {
  expect_refused({"train", "nowhere"}, "nowhere: does not exist");
  std::ofstream(here_ / "edges.txt") << "0 1\n";
  expect_refused({"train", "edges.txt"}, "gnomon import");
  expect_refused({"train", "tiny", "--plan", "nothing"}, "\"nothing\" is not known");
  expect_refused({"train", "tiny", "--resume"}, "--run");
  expect_refused({"train", "tiny", "--resume", "--run", "tiny"}, "holds no run");
  expect_refused({"train", "tiny", "--fanouts", "0"}, "fanouts");
  expect_refused({"train", "tiny", "--batch-size", "0"}, "--batch-size");
}

TEST_F(ComputeCommands, TrainRefusesAPlanForABiggerMachine) {
  auto plan = plan::find_plan("salient");
  plan.workers = 4096;
  base::write_document(here_ / "big.json", plan);
  expect_refused({"train", "tiny", "--plan", "big.json"}, "workers");
}

TEST_F(ComputeCommands, AutotuneGoesTheWholeWay) {
  const auto outcome =
      run(with_job({"autotune", "tiny", "--epochs", "3", "--time-limit", "1", "--run", "here"}));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  for (const char* text : {"CPU preparation, one worker", "salient", "morphgl", "Training with plan",
                           "epoch      loss", "predicted", "measured", "here/trace.json"}) {
    EXPECT_THAT(outcome.out, HasSubstr(text));
  }
  const auto files = {"profile.json", "tuning.json", "plan.json", "job.json", "report.json", "trace.json"};
  for (const char* file : files) {
    EXPECT_NO_THROW(base::parse_json(base::read_file(here_ / "here" / file), file)) << file;
  }
  const auto trace = base::read_file(here_ / "here" / "trace.json");
  EXPECT_THAT(trace, HasSubstr("predicted"));
  EXPECT_THAT(trace, HasSubstr("measured"));
}

/// The parts differ in size by several times.
TEST_F(ComputeCommands, MacroBatchesReadWhatIsSimulated) {
  run({"generate", "rmat", "rmat", "--scale", "14", "--feature-columns", "64", "--train-share", "0.2"});
  const auto made =
      json_of({"partition", "rmat", "--parts", "8", "--method", "gnn_aware", "--store", "parted", "--json"});
  EXPECT_GT(made["quality"]["edges"]["max"].get<double>(),
            1.5 * made["quality"]["edges"]["min"].get<double>());
  run(with_job({"profile", "parted", "-o", "p.json", "--time-limit", "1"}));
  const auto profile = profiles::read_profile(here_ / "p.json");
  ASSERT_TRUE(profile.workload.store_parts);
  auto plan = plan::find_plan("hanoi");
  plan.macro = {.partitions = 8, .resident = 2, .partitioner = plan::Partitioner::gnn_aware};
  base::write_document(here_ / "plan.json", plan);
  const auto trained = json_of(with_job(
      {"train", "parted", "--plan", "plan.json", "--epochs", "1", "--evaluate-every", "never", "--json"}));
  double simulated = 0;
  for (const auto& read : sim::macro_reads(profile.workload, plan.macro, 0)) {
    simulated += read.bytes;
  }
  EXPECT_NEAR(trained["epochs"][0]["disk_read_bytes"].get<double>(), simulated, 0.05 * simulated);
}

TEST_F(ComputeCommands, AutotuneEvaluatesAsOftenAsAsked) {
  const auto json = json_of(with_job(
      {"autotune", "tiny", "--epochs", "4", "--evaluate-every", "3", "--time-limit", "1", "--json"}));
  std::vector<bool> evaluated;
  for (const auto& epoch : json["training"]["epochs"]) {
    evaluated.push_back(epoch["valid_accuracy"].is_number());
  }
  EXPECT_THAT(evaluated, ElementsAre(false, false, true, true)) << "every third and the last";
}

// Real runs of several plans are the beginning of the training, which ends with the bits of any one plan.
TEST_F(ComputeCommands, AutotuneVerifiesPlansWithTheTrainingItself) {
  const auto with_small_batches = [](std::vector<std::string> words) {
    for (const char* word :
         {"--fanouts", "8,8", "--batch-size", "12", "--hidden", "64", "--epochs", "120", "--seed", "3"}) {
      words.emplace_back(word);
    }
    return words;
  };
  // By a profile of a machine that is busy at times, a single plan may be beyond doubt.
  base::Json json;
  for (int attempt = 0; attempt < 3 && (attempt == 0 || json["verification"]["real_runs"] == 0); ++attempt) {
    json = json_of(with_small_batches(
        {"autotune", "tiny", "--run", "here", "--overwrite", "--time-limit", "2", "--json"}));
  }
  const auto& verification = json["verification"];
  EXPECT_GT(verification["real_runs"].get<int>(), 0);
  EXPECT_EQ(json["fidelities"]["real_runs"], verification["real_runs"]);
  int counted = 0;
  double fastest_s = 1e9;
  for (const auto& entry : verification["plans"]) {
    counted += entry["real_runs"].get<int>();
    fastest_s =
        entry.contains("measured_s") ? std::min(fastest_s, entry["measured_s"].get<double>()) : fastest_s;
  }
  EXPECT_GT(counted, 0);
  EXPECT_LT(counted, verification["real_runs"].get<int>()) << "those that warm up do not count";
  EXPECT_EQ(json["training"]["plan"]["name"], verification["best"]);
  EXPECT_EQ(json["training"]["plan"]["name"], verification["plans"][0]["plan"]["name"]);
  const auto& costs = json["costs"];
  EXPECT_NEAR(costs["share_of_an_epoch"].get<double>() * json["measured_epoch_s"].get<double>(),
              costs["profile_s"].get<double>() + costs["tune_s"].get<double>() +
                  costs["verification_s"].get<double>(),
              1e-9);

  const auto profile = profiles::read_profile(here_ / "here" / "profile.json");
  ASSERT_TRUE(profile.corrections.has_value());
  EXPECT_GT(profile.corrections->train->batches, 10);
  EXPECT_EQ(base::to_document(plan::read_plan(here_ / "here" / "plan.json")),
            verification["plans"][0]["plan"]);

  for (const char* plan : {"gnomon", "device"}) {
    const auto trained = json_of(with_small_batches({"train", "tiny", "--plan", plan, "--json"}));
    EXPECT_EQ(trained["weights_hash"], json["training"]["weights_hash"]) << plan;
    EXPECT_EQ(trained["test_accuracy"], json["training"]["test_accuracy"]);
  }
}

TEST_F(ComputeCommands, AutotuneDoesNotVerifyWhatCouldNotRepayIt) {
  const auto json = json_of(with_job({"autotune", "tiny", "--epochs", "1", "--time-limit", "1", "--json"}));
  EXPECT_EQ(json["verification"]["real_runs"], 0);
  EXPECT_EQ(json["costs"]["verification_s"], 0);
  EXPECT_EQ(json["predicted_epoch_s"], json["corrected_epoch_s"]);
}

TEST_F(ComputeCommands, AWeightedGraphGoesTheWholeWay) {
  {
    std::ofstream edges(here_ / "edges.txt");
    for (int i = 0; i < 2000; ++i) {
      edges << i % 300 << " " << (i * 37 + i / 300) % 300 << " " << i % 4 << ".5\n";
    }
  }
  const auto imported = json_of({"import", "edges", "edges.txt", "weighted", "--edge-weights", "given",
                                 "--random-features", "8", "--random-classes", "3", "--json"});
  EXPECT_EQ(imported["edge_weights"], true);
  EXPECT_THAT(run({"info", "weighted", "--check"}).out, HasSubstr("weights   of every edge\n"));
  const auto profiled =
      run(with_job({"profile", "weighted", "--weighted", "-o", "p.json", "--time-limit", "0.5"}));
  EXPECT_EQ(profiled.code, 0) << profiled.error;
  EXPECT_TRUE(profiles::read_profile(here_ / "p.json").workload.job.weighted);
  const auto tuned = json_of(
      with_job({"autotune", "weighted", "--weighted", "--epochs", "2", "--time-limit", "1", "--json"}));
  EXPECT_EQ(tuned["training"]["job"]["weighted"], true);
  const auto trained = json_of(with_job({"train", "weighted", "--weighted", "--epochs", "2", "--json"}));
  const auto other_plan =
      json_of(with_job({"train", "weighted", "--weighted", "--epochs", "2", "--plan", "device", "--json"}));
  EXPECT_EQ(trained["weights_hash"], other_plan["weights_hash"]);
  const auto uniform = json_of(with_job({"train", "weighted", "--epochs", "2", "--json"}));
  EXPECT_NE(uniform["weights_hash"], trained["weights_hash"]);
}

TEST_F(ComputeCommands, WeightedDrawsNeedWeights) {
  for (const char* command : {"train", "autotune", "profile"}) {
    expect_refused({command, "tiny", "--weighted"},
                   "graph \"tiny\" has no edge weights; import it with --edge-weights");
  }
}

TEST_F(ComputeCommands, TrainRefusesWhatOnlyTheSimulatorRuns) {
  workplace_.write("recent.json", R"({"schema": "gnomon.plan/1", "name": "recent", "schedule": "sequential",
                                "route": "device", "cache": {"policy": "recent"}})");
  const auto outcome = run(with_job({"train", "tiny", "--plan", "recent.json", "--epochs", "1"}));
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.error,
            "gnomon train: plan \"recent\": simulated only: the runtime does not execute cache.policy "
            "\"recent\" yet\n");
}

TEST_F(ComputeCommands, AGpuThatIsNotThereIsRefused) {
  for (const char* command : {"train", "autotune", "profile"}) {
    const auto outcome = run(with_job({command, "tiny", "--device", "gpu"}));
    if (outcome.code == 0) {
      GTEST_SKIP() << "there is one";
    }
    EXPECT_EQ(outcome.code, 2) << command;
    EXPECT_THAT(outcome.error, StartsWith(std::string("gnomon ") + command + ": --device gpu: "));
    EXPECT_THAT(outcome.error, EndsWith("; use --device cpu\n"));
  }
  const auto outcome = run(with_job({"train", "tiny", "--device", "auto", "--epochs", "1"}));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
}

TEST_F(ComputeCommands, AutotunePrintsOneDocument) {
  const auto json =
      json_of(with_job({"autotune", "tiny", "--epochs", "2", "--time-limit", "1", "--replan", "--json"}));
  EXPECT_EQ(json["schema"], "gnomon.autotuning/1");
  EXPECT_EQ(json["replanning"]["schema"], "gnomon.replanning/1");
  EXPECT_GE(json["tuning"]["candidates"].size(), exact_presets());
  EXPECT_EQ(json["training"]["epochs"].size(), 2U);
  EXPECT_GT(json["predicted_epoch_s"].get<double>(), 0);
  EXPECT_GT(json["measured_epoch_s"].get<double>(), 0);
}

TEST_F(ComputeCommands, DemoTakesAnExistingGraph) {
  const auto outcome = run(with_job({"demo", "tiny", "--epochs", "1", "--time-limit", "1", "--run", "demo"}));
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("test accuracy"));
}

TEST_F(ComputeCommands, ValidateRunsAtLeastEightPlans) {
  const auto profiled = run(with_job({"profile", "tiny", "-o", "p.json", "--time-limit", "1"}));
  ASSERT_EQ(profiled.code, 0) << profiled.error;
  const auto json = json_of({"validate", "tiny", "p.json", "--epochs", "1", "--json"});
  EXPECT_EQ(json["schema"], "gnomon.validation/1");
  EXPECT_GE(json["plans"].size(), 8U);
  for (const auto& plan : json["plans"]) {
    EXPECT_GT(plan["predicted_s"].get<double>(), 0);
    EXPECT_GT(plan["measured_s"].get<double>(), 0);
    EXPECT_NEAR(plan["error"].get<double>(),
                plan["predicted_s"].get<double>() / plan["measured_s"].get<double>() - 1, 1e-9);
    EXPECT_GT(plan["stages"]["train"]["predicted_s"].get<double>(), 0);
    EXPECT_GT(plan["stages"]["train"]["measured_s"].get<double>(), 0);
    EXPECT_TRUE(plan["plan"]["workers"] > 0 || !plan["stages"].contains("cpu_batch"));
  }
  const auto two = run({"validate", "tiny", "p.json", "--epochs", "2", "--plans", "salient,device"});
  EXPECT_EQ(two.code, 0) << two.error;
  EXPECT_THAT(two.out, HasSubstr("mean absolute error"));

  const auto corrected = run({"validate", "tiny", "p.json", "--epochs", "1", "--correct", "c.json"});
  EXPECT_EQ(corrected.code, 0) << corrected.error;
  EXPECT_THAT(corrected.out, HasSubstr("written to c.json, corrected by real runs: CPU preparation x"));
  EXPECT_TRUE(profiles::read_profile(here_ / "c.json").corrections->cpu_batch.has_value());
}

TEST_F(ComputeCommands, TrainFollowsTheMachineByAProfile) {
  const auto profiled = run(with_job({"profile", "tiny", "-o", "p.json", "--time-limit", "1"}));
  ASSERT_EQ(profiled.code, 0) << profiled.error;
  const auto plain = json_of(with_job({"train", "tiny", "--plan", "gnomon", "--run", "plain", "--json"}));
  EXPECT_FALSE(plain.contains("replanning"));
  const auto replanned = json_of(
      with_job({"train", "tiny", "--plan", "gnomon", "--run", "replanned", "--json", "--replan", "p.json"}));
  EXPECT_EQ(replanned["replanning"]["schema"], "gnomon.replanning/1");
  EXPECT_EQ(replanned["weights_hash"], plain["weights_hash"]);
  expect_refused(with_job({"train", "tiny", "--replan", "nowhere.json"}), "nowhere.json");
  expect_refused(with_job({"train", "tiny", "--plan", "salient", "--replan", "p.json"}), "same bits");
  expect_refused({"train", "tiny", "--plan", "gnomon", "--fanouts", "4,3", "--replan", "p.json"},
                 "workload.job.batch_size");
}

TEST_F(ComputeCommands, ValidateRefusesAProfileOfAnotherGraph) {
  const auto profiled = run(with_job({"profile", "tiny", "-o", "p.json", "--time-limit", "0.5"}));
  ASSERT_EQ(profiled.code, 0) << profiled.error;
  auto other = test::tiny_partition();
  other.vertices = 500;
  graph::generate(other, here_ / "other");
  expect_refused({"validate", "other", "p.json"}, "p.json: workload.vertices");
}

}  // namespace
}  // namespace gnomon::apps
