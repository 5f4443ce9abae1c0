#include "apps/compute/measure_flags.h"

#include "apps/flags/number_checks.h"

namespace gnomon::apps {

void add_measure_flags(CLI::App& app, MeasureFlags& flags) {
  app.add_option("--interval", flags.interval,
                 "Measure until 95 % confidence intervals are within this share of the mean")
      ->check(in_range(1e-6, 1.0));
  app.add_option("--time-limit", flags.time_limit_s, "Stop measuring after this many seconds")
      ->check(in_range(0.1, 1e6));
  add_device_flags(app, flags.device);
}

}  // namespace gnomon::apps
