#include "profiles/measure/known_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/error.h"
#include "base/usable.h"
#include "profiles/measure/speeds.h"
#include "tests/fixtures/keyed_machine.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/fixtures/variable.h"

namespace gnomon::profiles {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A store, and probes whose rates are set.
class KnownMachineTest : public ::testing::Test {
 protected:
  KnownMachine known() {
    return known_machine(key, store,
                         {.check =
                              [&] {
                                ++checks;
                                return check;
                              },
                          .measure =
                              [&] {
                                ++measurements;
                                return test::keyed_machine(0.8, measured);
                              }});
  }
  double stored_seconds() const { return store.find(key).machine->speeds->seconds; }

  test::TemporaryDirectory place;
  MachineStore store{place / "machines"};
  MachineKey key = test::some_key();
  MachineSpeeds check = test::uniform_speeds(1e9);
  MachineSpeeds measured = test::uniform_speeds(1e9);
  int checks = 0;
  int measurements = 0;
};

TEST_F(KnownMachineTest, IsMeasuredOnceAndThenChecked) {
  const auto first = known();
  EXPECT_EQ(first.by, KnownBy::measured);
  EXPECT_EQ(first.note, "");
  EXPECT_EQ(first.machine.key, key);
  EXPECT_EQ(checks, 0);
  const auto second = known();
  EXPECT_EQ(second.by, KnownBy::stored);
  EXPECT_EQ(second.machine.speeds, first.machine.speeds);
  EXPECT_EQ(second.note, "");
  EXPECT_EQ(checks, 1);
  EXPECT_EQ(measurements, 1);
}

TEST_F(KnownMachineTest, IsMeasuredAgainIfAnotherMachineIsStored) {
  known();
  key.kernel = "7.0";
  EXPECT_EQ(known().by, KnownBy::measured);
  EXPECT_THAT(store.list(), SizeIs(2));
}

TEST_F(KnownMachineTest, DriftReplacesEvenALongerMeasurement) {
  store.store(test::keyed_machine(40), Replace::always);
  check = measured = test::times(test::uniform_speeds(1e9), Work::random_lines, 0.5);
  const auto drifted = known();
  EXPECT_EQ(drifted.by, KnownBy::drifted);
  EXPECT_EQ(drifted.machine.speeds->speeds, measured.speeds);
  EXPECT_THAT(drifted.note, HasSubstr("random_lines 0.50 times the stored rate"));
  EXPECT_EQ(stored_seconds(), 0.8);
  EXPECT_EQ(known().by, KnownBy::stored);
}

TEST_F(KnownMachineTest, ADifferenceThatTheMeasurementDoesNotShowIsNoDrift) {
  store.store(test::keyed_machine(40), Replace::always);
  check = test::times(check, 0.1);
  const auto stayed = known();
  EXPECT_EQ(stayed.by, KnownBy::stored);
  EXPECT_EQ(stayed.machine.speeds->seconds, 40);
  EXPECT_EQ(measurements, 1);
  EXPECT_EQ(stored_seconds(), 40);
}

TEST_F(KnownMachineTest, RatesOfABusyMachineAreUsedButDoNotReplaceOthers) {
  store.store(test::keyed_machine(40), Replace::always);
  check = measured = test::times(check, 0.1);
  measured.other_load = {.processes_share = 0.5, .steal_share = 0};
  const auto busy = known();
  EXPECT_EQ(busy.by, KnownBy::drifted);
  EXPECT_EQ(busy.machine.speeds->speeds, measured.speeds);
  EXPECT_THAT(busy.note, HasSubstr("the stored ones are kept, as the machine was busy"));
  EXPECT_EQ(stored_seconds(), 40);
  auto busy_too = test::keyed_machine(40);
  busy_too.speeds->other_load = measured.other_load;
  store.store(busy_too, Replace::always);
  EXPECT_EQ(known().by, KnownBy::drifted);
  EXPECT_EQ(stored_seconds(), 0.8);
}

TEST_F(KnownMachineTest, ImpreciseRatesAreReplacedByMorePreciseOnes) {
  store.store(test::keyed_machine(40, test::uniform_speeds(1e9, 0.5)), Replace::always);
  measured = test::uniform_speeds(1e9, 0.6);
  EXPECT_EQ(known().by, KnownBy::stored);
  EXPECT_EQ(stored_seconds(), 40);
  measured = test::uniform_speeds(1e9, 0.1);
  EXPECT_EQ(known().by, KnownBy::measured);
  EXPECT_EQ(stored_seconds(), 0.8);
  EXPECT_EQ(checks, 0);
  EXPECT_EQ(known().by, KnownBy::stored);
  EXPECT_EQ(checks, 1);
}

TEST_F(KnownMachineTest, DamagedDocumentsAreNamedAndReplaced) {
  known();
  base::write_file_atomically(store.file_of(key), "{");
  const auto again = known();
  EXPECT_EQ(again.by, KnownBy::measured);
  EXPECT_THAT(again.note, HasSubstr("not valid JSON"));
  EXPECT_EQ(known().by, KnownBy::stored);
}

TEST_F(KnownMachineTest, SaysWhyNothingIsStoredUnlessTheUserWantsThat) {
  store = MachineStore("/proc/self/machines");
  EXPECT_EQ(known().by, KnownBy::measured);
  EXPECT_THAT(known().note, HasSubstr("the machine's speeds are not stored: "));
  const test::Variable off("GNOMON_CACHE", "off");
  store = MachineStore();
  EXPECT_EQ(known().by, KnownBy::measured);
  EXPECT_EQ(known().note, "");
}

TEST(Drift, IsADifferenceBeyondIntervalsAndTolerance) {
  const auto stored = test::uniform_speeds(1e9, 0.05);
  EXPECT_THAT(drift(stored, stored), SizeIs(0));
  const auto changed = [&](double factor) {
    return drift(stored, test::times(test::uniform_speeds(1e9, 0.05), factor)).size();
  };
  EXPECT_EQ(changed(1.28), 0U);
  EXPECT_EQ(changed(1 / 1.28), 0U);
  EXPECT_EQ(changed(1.32), 3U);
  EXPECT_EQ(changed(1 / 1.32), 3U);
  EXPECT_THAT(drift(stored, test::times(stored, Work::inserts, 9)), SizeIs(0)) << "is not checked";
  EXPECT_THAT(drift(stored, {}), SizeIs(0));
  auto two_threads = stored;
  two_threads.speeds.push_back({.work = Work::random_lines, .threads = 2, .size = 1e3, .per_s = 2e9});
  auto one_core = two_threads;
  one_core.speeds.back().per_s = 1e9;
  EXPECT_EQ(text_of(drift(two_threads, one_core)), "random_lines on 2 threads 0.50 times the stored rate");
  EXPECT_THAT(drift(two_threads, stored), SizeIs(0)) << "on one thread";
  EXPECT_EQ(text_of(drift(stored, test::times(test::times(stored, Work::copies, 2), Work::dense_fp32, 0.25))),
            "dense_fp32 0.25 times the stored rate, copies 2.00 times the stored rate");
}

TEST(StoreMeasured, KeepsLongerMeasurementsThatStillHold) {
  const test::TemporaryDirectory place;
  const MachineStore store(place / "machines");
  EXPECT_EQ(store_measured(test::keyed_machine(40), store), "");
  EXPECT_THAT(store_measured(test::keyed_machine(3), store), HasSubstr("a longer measurement is stored"));
  EXPECT_EQ(store_measured(test::keyed_machine(50), store), "");
  EXPECT_EQ(store_measured(test::keyed_machine(3, test::uniform_speeds(5e9)), store), "") << "it has drifted";
}

TEST(KnownMachine, OfThisMachineIsStoredWhereTheEnvironmentSays) {
  const test::TemporaryDirectory place;
  const test::Variable cache("GNOMON_CACHE", place.path().string());
  const auto known = known_machine({.time_limit_s = 0.1});
  EXPECT_EQ(known.by, KnownBy::measured);
  EXPECT_EQ(known.note, "");
  EXPECT_EQ(known.machine.key, machine_key());
  EXPECT_GT(known.seconds, 0);
  EXPECT_NO_THROW(check(known.machine.speeds.value(), "speeds"));
  EXPECT_GT(known.machine.machine.cpu.memory_bandwidth_bytes_per_s.value(), 0);
  EXPECT_TRUE(MachineStore().find(machine_key()).machine.has_value());
  EXPECT_EQ(known_machine({.time_limit_s = 0.1}).machine.key, machine_key());
}

// Else drift() would skip what it is to compare.
TEST(KnownMachine, CheckedRatesAreAmongThoseOfEveryMeasurement) {
  const auto checked = measure_checked_speeds();
  EXPECT_THAT(checked.speeds, SizeIs(base::usable_cores() > 1 ? 4 : 3));
  const auto brief = measure_whole_machine({.time_limit_s = 0.1, .scope = SpeedScope::brief});
  for (const auto& speed : checked.speeds) {
    EXPECT_TRUE(rate_at(*brief.speeds, speed.work, speed.size.value(), speed.threads).has_value())
        << base::name_of(speed.work);
  }
  EXPECT_THAT(drift(test::times(checked, 100), checked), SizeIs(testing::Ge(1U)));
}

TEST(KnownMachine, StopsWhenAsked) {
  const test::Variable off("GNOMON_CACHE", "off");
  const std::atomic<bool> stop = true;
  EXPECT_THROW(known_machine({.stop = &stop}), base::Interrupted);
}

}  // namespace
}  // namespace gnomon::profiles
