#include "profiles/speeds.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "profiles/catalog.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/speeds.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::profiles {
namespace {

CatalogMachine machine_with(MachineSpeeds speeds) {
  CatalogMachine machine;
  machine.name = machine.machine.name = "mine";
  machine.machine.cpu.name = "a CPU";
  machine.speeds = std::move(speeds);
  return machine;
}

TEST(MachineDocument, HoldsEveryFieldThroughAFile) {
  const test::TemporaryDirectory place;
  auto machine = machine_with(test::uniform_speeds(3.25e9, 0.012));
  machine.speeds->seconds = 38.5;
  machine.speeds->other_load = {.processes_share = 0.25, .steal_share = 0.5};
  machine.speeds->speeds[3] = {Work::random_lines, 2, 4096.0, 1.0 / 3, 0.1, 0.07, 12, true};
  base::write_document(place.path() / "m.json", machine);
  const auto read = read_machine(place.path() / "m.json");
  EXPECT_EQ(read.speeds, machine.speeds);
  EXPECT_EQ(base::to_document(read), base::to_document(machine));
}

TEST(MachineDocument, WithoutSpeedsIsOneOfTheCatalog) {
  for (const auto& machine : catalog()) {
    EXPECT_FALSE(machine.speeds.has_value()) << machine.name;
    EXPECT_FALSE(base::to_document(machine).contains("speeds")) << machine.name;
  }
}

/// What reading the document says once `path` holds `value`.
std::string refusal(const std::string& path, const base::Json& value) {
  const test::TemporaryDirectory place;
  auto document = base::to_document(machine_with(test::uniform_speeds(1e9)));
  document[base::Json::json_pointer(path)] = value;
  place.write("m.json", document.dump());
  return test::message_of(place.path(), [&] { read_machine(place.path() / "m.json"); });
}

TEST(MachineDocument, RefusesWhatIsWrongInOneLine) {
  EXPECT_EQ(refusal("/name", "mine"), "no error");
  EXPECT_EQ(refusal("/schema", "gnomon.plan/1").substr(0, 16), "m.json: schema: ");
  EXPECT_EQ(refusal("/speeds/speeds/0/work", "dance").substr(0, 71),
            "m.json: speeds.speeds[0].work: \"dance\" is not known; use one of dense_f");
  EXPECT_EQ(refusal("/speeds/speeds/1/per_s", 0),
            "m.json: speeds.speeds[1].per_s: 0 is out of range; use 1e-06 to 1e+18");
  EXPECT_EQ(refusal("/speeds/speeds/1/per_s", "fast"),
            "m.json: speeds.speeds[1].per_s: must be a number, not \"fast\"");
  EXPECT_EQ(refusal("/speeds/speeds/0/size", nullptr), "m.json: speeds.speeds[0].size: is missing");
  EXPECT_EQ(refusal("/speeds/speeds/0/size", 2e3),
            "m.json: speeds.speeds[1]: \"dense_fp32\" is given twice with the same size and threads");
  EXPECT_EQ(refusal("/speeds/speeds/14/size", 5),
            "m.json: speeds.speeds[14].size: has no meaning for \"branches\"");
  EXPECT_EQ(refusal("/speeds/speed", 5),
            "m.json: speeds.speed: is not a known field; the fields here are asked_interval, other_load, "
            "seconds, speeds");
  EXPECT_EQ(refusal("/speeds", base::Json::object()), "m.json: speeds.speeds: is missing");
}

TEST(RateAt, IsThatOfTheNearestSizeBeyondTheMeasuredOnes) {
  const auto speeds = test::times(test::uniform_speeds(10), Work::copies, 3);
  for (const double size : {1.0, 1e3, 2e3, 1e9}) {
    EXPECT_EQ(rate_at(speeds, Work::copies, size)->per_s, 30) << size;
    EXPECT_EQ(rate_at(speeds, Work::inserts, size)->per_s, 10) << size;
  }
  EXPECT_FALSE(rate_at(speeds, Work::copies, 1e3, 2).has_value());
  EXPECT_FALSE(rate_at(speeds, Work::link_copies, 1e3).has_value());
}

// At the geometric mean of two sizes the rate is the geometric mean of theirs.
TEST(RateAt, LiesBetweenMeasuredSizes) {
  MachineSpeeds speeds;
  speeds.speeds = {{.work = Work::random_lines, .size = 400, .per_s = 9},
                   {.work = Work::random_lines, .size = 100, .per_s = 4},
                   {.work = Work::random_lines, .threads = 2, .size = 200, .per_s = 100}};
  const auto rate = rate_at(speeds, Work::random_lines, 200);
  EXPECT_NEAR(rate->per_s, 6, 1e-12);
  EXPECT_NEAR(rate->weights.at(0), 0.5, 1e-12);
  EXPECT_NEAR(rate->weights.at(1), 0.5, 1e-12);
  EXPECT_EQ(rate_at(speeds, Work::random_lines, 100)->per_s, 4);
  EXPECT_EQ(rate_at(speeds, Work::random_lines, 400)->per_s, 9);
  EXPECT_EQ(rate_at(speeds, Work::random_lines, 150, 2)->per_s, 100);
}

TEST(Work, EveryKindHasANameAndAUnit) {
  for (const auto& [work, name] : base::EnumNames<Work>::values) {
    EXPECT_TRUE(unit_of(work).ends_with("/s")) << name;
    EXPECT_EQ(base::value_of<Work>("", name), work);
  }
}

}  // namespace
}  // namespace gnomon::profiles
