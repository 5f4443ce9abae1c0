#include "profiles/measure/power.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::profiles {
namespace {

namespace fs = std::filesystem;

/// A directory of energy zones as the kernel has it in /sys.
class Zones {
 public:
  void add(const std::string& zone, const std::string& name, const std::string& range_uj) const {
    write(zone, "name", name);
    write(zone, "max_energy_range_uj", range_uj);
  }
  void write(const std::string& zone, const char* file, const std::string& text) const {
    directory_.write(zone + "/" + file, text + "\n");
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  test::TemporaryDirectory directory_;
};

TEST(EnergyCounter, AddsUpProcessorsAndNothingElse) {
  const Zones zones;
  zones.add("intel-rapl:0", "package-0", "262143328850");
  zones.add("intel-rapl:1", "package-1", "262143328850");
  zones.add("intel-rapl:0:0", "core", "262143328850");
  for (const char* zone : {"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0"}) {
    zones.write(zone, "energy_uj", "5000000");
  }
  EnergyCounter counter(zones.path());
  ASSERT_TRUE(counter.works());
  EXPECT_EQ(counter.joules(), 0);
  zones.write("intel-rapl:0", "energy_uj", "7500000");
  zones.write("intel-rapl:1", "energy_uj", "6000000");
  zones.write("intel-rapl:0:0", "energy_uj", "7000000");
  EXPECT_DOUBLE_EQ(counter.joules(), 3.5);
  EXPECT_DOUBLE_EQ(counter.joules(), 3.5) << "nothing since";
}

TEST(EnergyCounter, KnowsWhenACounterStartsOver) {
  const Zones zones;
  zones.add("intel-rapl:0", "package-0", "10000000");
  zones.write("intel-rapl:0", "energy_uj", "9000000");
  EnergyCounter counter(zones.path());
  zones.write("intel-rapl:0", "energy_uj", "2000000");
  EXPECT_DOUBLE_EQ(counter.joules(), 3);
}

TEST(EnergyCounter, DoesNotWorkWithoutReadableCounters) {
  const Zones zones;
  EXPECT_FALSE(EnergyCounter(zones.path()).works());
  EXPECT_FALSE(EnergyCounter(zones.path() / "nowhere").works());
  zones.add("dtpm", "dtpm", "1");
  zones.add("intel-rapl:0", "package-0", "10000000");  // energy_uj is not there, as for those who may not
  EnergyCounter counter(zones.path());
  EXPECT_FALSE(counter.works());
  const auto running = measure_power(counter, 2, 0.01);
  EXPECT_EQ(running.idle_w, std::nullopt);
  EXPECT_EQ(running.core_w, std::nullopt);
}

TEST(Power, IsNothingWhereTheCounterStandsStill) {
  const Zones zones;
  zones.add("intel-rapl:0", "package-0", "10000000");
  zones.write("intel-rapl:0", "energy_uj", "1000");
  EnergyCounter counter(zones.path());
  const auto running = measure_power(counter, 1, 0.02);
  EXPECT_EQ(running.idle_w, std::nullopt);
  EXPECT_EQ(running.core_w, std::nullopt);
  const std::atomic<bool> stop = true;
  EXPECT_THROW(measure_power(counter, 1, 0.02, &stop), base::Interrupted);
}

TEST(Power, IsPlausibleOnThisMachine) {
  EnergyCounter counter;
  if (!counter.works()) {
    GTEST_SKIP() << "the processors' energy counters cannot be read here";
  }
  const auto running = measure_power(counter, 1, 0.4);
  ASSERT_TRUE(running.idle_w && running.core_w);
  EXPECT_GT(*running.idle_w, 0);
  EXPECT_LT(*running.idle_w + *running.core_w, 2000);
}

}  // namespace
}  // namespace gnomon::profiles
