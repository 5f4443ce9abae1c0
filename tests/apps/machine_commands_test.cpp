#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "profiles/catalog.h"
#include "program.h"
#include "tests/fixtures/speeds.h"

namespace gnomon::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class MachineCommands : public ::testing::Test {
 protected:
  MachineCommands() {
    profile = small_profile();
    profile["machine"]["cpu"]["name"] = "a CPU";
    profile["workload"].update({{"vertices", 1000},
                                {"edges", 9000},
                                {"feature_columns", 64},
                                {"feature_row_bytes", 256},
                                {"batch_vertices", 500},
                                {"batch_edges", 2000}});
    place.write("p.json", profile.dump());
    write("here.json", test::uniform_speeds(1e9, 0.01), 4);
  }
  void write(const std::string& file, const profiles::MachineSpeeds& speeds, int cores) {
    profiles::CatalogMachine machine;
    machine.name = machine.machine.name = file;
    machine.machine.cpu.name = "a CPU";
    machine.machine.cpu.cores = cores;
    machine.machine.cpu.memory_bytes = 1.6e10;
    machine.speeds = speeds;
    base::write_document(place / file, machine);
  }
  Outcome run(std::vector<std::string> arguments) { return run_gnomon(arguments, place.path()); }
  base::Json rows(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "explore");
    arguments.emplace_back("--json");
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return outcome.code == 0 ? base::Json::parse(outcome.out)["rows"] : base::Json();
  }
  void expect_one_line(const std::vector<std::string>& arguments, const std::string& line) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.error, line + "\n");
  }
  Workplace place;
  base::Json profile;
};

TEST_F(MachineCommands, MachineWritesADocumentThatExploreReads) {
  const auto outcome = run({"machine", "-o", "m.json", "--name", "mine", "--time-limit", "0.5", "--device",
                            "cpu", "--price-per-hour", "0.25"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("random_lines"));
  EXPECT_THAT(outcome.out, HasSubstr("written to m.json"));
  EXPECT_THAT(place.names(), testing::UnorderedElementsAre("here.json", "m.json", "p.json"));
  const auto machine = profiles::read_machine(place / "m.json");
  EXPECT_EQ(machine.name, "mine");
  EXPECT_EQ(machine.machine.running.price_per_hour, 0.25);
  EXPECT_GT(machine.speeds->speeds.size(), 20U);
  write("slow.json", test::times(*machine.speeds, 0.5), 4);
  const auto moved = rows({"p.json", "--plan", "device", "--machine", "m.json", "--from", "slow.json"});
  EXPECT_GT(moved[0]["epoch_s"].get<double>(), 0);
  EXPECT_GT(moved[0]["price"].get<double>(), 0);
}

TEST_F(MachineCommands, MachineRefusesBadFlagsInOneLine) {
  expect_one_line({"machine", "--disk", "nowhere"}, "gnomon machine: --disk: \"nowhere\" is not a directory");
  EXPECT_EQ(run({"machine", "--time-limit", "0"}).code, 2);
  EXPECT_EQ(run({"machine", "-o", "nowhere/m.json"}).code, 2);
}

TEST_F(MachineCommands, FromAndToOneMachineChangesNoBit) {
  const auto here = rows({"p.json", "--plan", "device,gnomon,salient"});
  const auto there =
      rows({"p.json", "--plan", "device,gnomon,salient", "--machine", "here.json", "--from", "here.json"});
  ASSERT_EQ(here.size(), there.size());
  for (std::size_t i = 0; i < here.size(); ++i) {
    EXPECT_EQ(here[i]["epoch_s"], there[i]["epoch_s"]);
    EXPECT_EQ(here[i]["interval_s"], there[i]["interval_s"]);
    EXPECT_EQ(here[i]["host_memory_bytes"], there[i]["host_memory_bytes"]);
  }
}

TEST_F(MachineCommands, TwiceTheSpeedsHalveTheEpoch) {
  write("fast.json", test::times(test::uniform_speeds(1e9, 0.01), 2), 4);
  const auto here = rows({"p.json", "--plan", "device"});
  const auto there = rows({"p.json", "--plan", "device", "--machine", "fast.json", "--from", "here.json"});
  EXPECT_NEAR(there[0]["epoch_s"].get<double>(), here[0]["epoch_s"].get<double>() / 2, 1e-9);
  EXPECT_GT(there[0]["interval_s"].get<double>(), 0) << "speeds are uncertain by 1 % each";
  EXPECT_THAT(there[0]["scaled"].get<std::string>(), HasSubstr("(measured "));
  const auto tuned =
      run({"tune", "p.json", "--machine", "fast.json", "--from", "here.json", "--budget", "10"});
  EXPECT_EQ(tuned.code, 0) << tuned.error;
  EXPECT_THAT(tuned.out, HasSubstr("cpu_batch x0.5"));
}

TEST_F(MachineCommands, AProfileThatHoldsItsMachinesSpeedsNeedsNoOther) {
  const auto fast = test::times(test::uniform_speeds(1e9, 0.01), 2);
  write("fast.json", fast, 4);
  const auto by_from =
      rows({"p.json", "--plan", "device,gnomon", "--machine", "fast.json", "--from", "here.json"});
  profile["machine_speeds"] = base::write_value(test::uniform_speeds(1e9, 0.01));
  place.write("with.json", profile.dump());
  const std::vector<std::string> moved = {"with.json", "--plan", "device,gnomon", "--machine", "fast.json"};
  EXPECT_EQ(rows(moved), by_from);
  auto both = moved;
  write("slow.json", test::uniform_speeds(1e8), 4);
  both.insert(both.end(), {"--from", "slow.json"});
  EXPECT_NEAR(rows(both)[0]["epoch_s"].get<double>(), rows(moved)[0]["epoch_s"].get<double>() / 10, 1e-9)
      << "--from counts";
  profile["machine_speeds"]["speeds"][0].erase("size");
  place.write("bad.json", profile.dump());
  expect_one_line({"explore", "bad.json"},
                  "gnomon explore: bad.json: machine_speeds.speeds[0].size: is missing");
}

TEST_F(MachineCommands, BadDocumentsAreRefusedInOneLine) {
  auto document = base::Json::parse(base::read_file(place / "here.json"));
  document["speeds"]["speeds"][2]["per_s"] = -1;
  place.write("bad.json", document.dump());
  expect_one_line({"explore", "p.json", "--machine", "bad.json"},
                  "gnomon explore: bad.json: speeds.speeds[2].per_s: -1 is out of range; use 1e-06 to 1e+18");
  document = base::Json::parse(base::read_file(place / "here.json"));
  document["machine"]["cpu"]["cores"] = 2;
  place.write("two.json", document.dump());
  expect_one_line({"explore", "p.json", "--machine", "here.json", "--from", "two.json"},
                  "gnomon explore: --from: two.json: is the document of another machine: "
                  "cores \"2\", not \"4\"");
  expect_one_line({"explore", "p.json", "--from", "here.json"},
                  "gnomon explore: --from: holds the speeds of the measured machine; name another machine "
                  "with --machine");
  expect_one_line({"tune", "p.json", "--machine", "here.json", "--from", "aws-g5.2xlarge"},
                  "gnomon tune: --from: aws-g5.2xlarge: has no measured speeds; write it with gnomon machine "
                  "-o FILE");
}

TEST_F(MachineCommands, TellsWhatTheTrainingTakesAndCosts) {
  const auto all =
      rows({"p.json", "--machine", "all", "--plan", "device", "--sort", "price", "--epochs", "30"});
  ASSERT_EQ(all.size(), profiles::catalog().size());
  std::size_t priced = 0;
  for (const auto& row : all) {
    EXPECT_EQ(row["epochs"], 30);
    EXPECT_DOUBLE_EQ(row["training_s"].get<double>(), 30 * row["epoch_s"].get<double>());
    if (!row["price"].is_null()) {
      ++priced;
      EXPECT_DOUBLE_EQ(row["training_price"].get<double>(), 30 * row["price"].get<double>());
    }
  }
  EXPECT_GE(priced, 12U);
}

TEST_F(MachineCommands, TunedPlansAreNoSlowerThanPresets) {
  const auto tuned = rows({"p.json", "--machine", "here.json", "--plan", "tuned,device,gnomon"});
  ASSERT_EQ(tuned.size(), 3U);
  for (const auto& row : tuned) {
    EXPECT_LE(tuned[0]["epoch_s"].get<double>(), 1.02 * row["epoch_s"].get<double>());
  }
}

TEST_F(MachineCommands, PriceOfTheUserReplacesTheCatalogs) {
  const auto cheap = rows({"p.json", "--plan", "device", "--machine", "aws-g5.2xlarge", "--price-per-hour",
                           "3.6", "--epochs", "10"});
  EXPECT_NEAR(cheap[0]["price"].get<double>(), cheap[0]["epoch_s"].get<double>() * 1e-3, 1e-12);
  EXPECT_THAT(run({"explore", "p.json", "--plan", "device", "--price-per-hour", "3.6"}).out,
              HasSubstr("training"));
  EXPECT_THAT(run({"explore", "p.json", "--plan", "device"}).out, Not(HasSubstr("training")));
}

TEST_F(MachineCommands, MemoryThatDoesNotFitIsARowThatSaysSo) {
  profiles::CatalogMachine tiny;
  tiny.name = "tiny";
  tiny.machine.cpu.memory_bytes = 1e6;
  base::write_document(place / "tiny.json", tiny);
  const auto both = rows({"p.json", "--plan", "tuned", "--machine", "tiny.json,here.json"});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_TRUE(both[0]["epoch_s"].is_null());
  EXPECT_EQ(both[0]["short_of"], "host_memory");
  EXPECT_GT(both[0]["missing_bytes"].get<double>(), 0);
  EXPECT_FALSE(both[1]["epoch_s"].is_null());
  expect_one_line({"explore", "p.json", "--plan", "tuned", "--set", "machine.cpu.cores=2,4"},
                  "gnomon explore: --plan: tuned cannot be combined with --set; name the plans to try");
}

}  // namespace
}  // namespace gnomon::apps
