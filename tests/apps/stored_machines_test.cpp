#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiles/machine_store.h"
#include "program.h"
#include "tests/fixtures/keyed_machine.h"
#include "tests/fixtures/variable.h"

namespace gnomon::apps {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Commands with a user's cache of their own.
class StoredMachines : public ::testing::Test {
 protected:
  Outcome run(const std::vector<std::string>& arguments) { return run_gnomon(arguments, place.path()); }
  std::string text_of(const std::vector<std::string>& arguments) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return outcome.out;
  }
  void expect_one_line(const std::vector<std::string>& arguments, const std::string& line) {
    const auto outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.error, line + "\n");
  }
  /// Stores a machine as if it had been measured here.
  void store(const profiles::MachineKey& key) {
    auto machine = test::keyed_machine(40);
    machine.name = machine.machine.name = "named";
    machine.key = key;
    ASSERT_EQ(machines.store(machine, profiles::Replace::always), "");
  }

  Workplace place;
  test::Variable own{"GNOMON_CACHE", std::nullopt};
  test::Variable xdg{"XDG_CACHE_HOME", (place / "cache").string()};
  profiles::MachineStore machines;
  profiles::MachineKey here = profiles::machine_key();
};

TEST_F(StoredMachines, MeasuringStoresWithAndWithoutAFile) {
  const std::vector<std::string> measuring{"machine", "--time-limit", "0.1", "--device", "cpu"};
  EXPECT_THAT(text_of(measuring), HasSubstr("stored in " + machines.file_of(here).string()));
  ASSERT_TRUE(machines.find(here).machine.has_value()) << machines.find(here).problem;
  text_of({"machine", "--forget"});
  auto with_file = measuring;
  with_file.insert(with_file.end(), {"-o", "m.json", "--json"});
  EXPECT_THAT(text_of(with_file), Not(HasSubstr("stored in")));
  ASSERT_TRUE(machines.find(here).machine.has_value()) << machines.find(here).problem;
  EXPECT_EQ(base::read_file(machines.file_of(here)), base::read_file(place / "m.json"));
}

TEST_F(StoredMachines, AreListed) {
  EXPECT_THAT(text_of({"machine", "--stored"}), StartsWith("this machine is not stored: "));
  auto other = here;
  other.cpu = "A CPU (R)";
  store(other);
  store(here);
  const auto text = text_of({"machine", "--stored"});
  EXPECT_THAT(text, StartsWith("this machine: named\n"));
  EXPECT_THAT(text, HasSubstr(machines.file_of(here).string()));
  EXPECT_THAT(text, HasSubstr(" ago in 40.0 s, 16 rates"));
  EXPECT_THAT(text, HasSubstr("key: A CPU (R), "));
  const auto list = base::Json::parse(text_of({"machine", "--stored", "--json"}));
  EXPECT_EQ(list["schema"], "gnomon.stored_machines/1");
  EXPECT_EQ(list["directory"], machines.directory().string());
  ASSERT_EQ(list["machines"].size(), 2U);
  for (const auto& row : list["machines"]) {
    EXPECT_EQ(row["this_machine"], row["key"]["cpu"] != "A CPU (R)");
    EXPECT_EQ(row["measured_s"], 40);
    EXPECT_GE(row["age_s"].get<double>(), 0);
  }
}

TEST_F(StoredMachines, DamagedOnesAreListedWithTheReason) {
  std::filesystem::create_directories(machines.directory());
  base::write_file_atomically(machines.file_of(here), "{");
  EXPECT_THAT(text_of({"machine", "--stored"}), StartsWith("this machine: ignored, "));
  const auto list = base::Json::parse(text_of({"machine", "--stored", "--json"}));
  EXPECT_THAT(list["machines"][0]["problem"].get<std::string>(), HasSubstr("not valid JSON"));
  const auto outcome = run({"machine", "--share", "m.json"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("measure this machine with gnomon machine"));
}

TEST_F(StoredMachines, AreForgotten) {
  EXPECT_THAT(text_of({"machine", "--forget"}), StartsWith("nothing was stored"));
  auto other = here;
  other.kernel = "0.1";
  store(other);
  store(here);
  EXPECT_THAT(text_of({"machine", "--forget"}), StartsWith("removed 1 machine from"));
  EXPECT_EQ(machines.list().size(), 1U);
  store(here);
  EXPECT_THAT(text_of({"machine", "--forget", "all"}), StartsWith("removed 2 machines from"));
  EXPECT_EQ(machines.list().size(), 0U);
}

TEST_F(StoredMachines, AreSharedAsMachineFiles) {
  expect_one_line({"machine", "--share", "m.json"},
                  "gnomon machine: --share: this machine is not stored; measure it with gnomon machine");
  store(here);
  EXPECT_EQ(text_of({"machine", "--share", "m.json"}), "written to m.json\n");
  EXPECT_EQ(profiles::read_machine(place / "m.json").key, here);
  place.write("p.json", small_profile().dump());
  EXPECT_EQ(run({"explore", "p.json", "--machine", "m.json"}).code, 0);
}

TEST_F(StoredMachines, RefuseContradictionsInOneLine) {
  EXPECT_EQ(run({"machine", "--stored", "--forget"}).code, 2);
  EXPECT_EQ(run({"machine", "--stored", "-o", "m.json"}).code, 2);
  EXPECT_EQ(run({"machine", "--share", "m.json", "-o", "n.json"}).code, 2);
  EXPECT_EQ(run({"machine", "--forget", "most"}).code, 2);
  EXPECT_EQ(run({"machine", "--share", "nowhere/m.json"}).code, 2);
  const test::Variable off("GNOMON_CACHE", "off");
  expect_one_line({"machine", "--forget"}, "gnomon machine: --forget: GNOMON_CACHE is off");
  expect_one_line({"machine", "--share", "m.json"}, "gnomon machine: --share: GNOMON_CACHE is off");
  EXPECT_EQ(text_of({"machine", "--stored"}), "no machine is stored: GNOMON_CACHE is off\n");
}

TEST_F(StoredMachines, AreNotNeededToMeasure) {
  const std::vector<std::string> measuring{"machine", "--time-limit", "0.1", "--device", "cpu"};
  {
    const test::Variable off("GNOMON_CACHE", "off");
    EXPECT_THAT(text_of(measuring), Not(HasSubstr("stored")));
  }
  const test::Variable unwritable("XDG_CACHE_HOME", "/proc/self");
  EXPECT_THAT(text_of(measuring), HasSubstr("not stored: "));
}

}  // namespace
}  // namespace gnomon::apps
