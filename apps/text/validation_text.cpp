#include "apps/text/validation_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/text/format.h"
#include "apps/text/table.h"

namespace gnomon::apps {

std::string validation_text(const std::vector<tuner::Validated>& results) {
  Table table({"plan", "schedule", "workers", "threads", "predicted", "+-", "measured", "spread", "error",
               "memory", "measured memory", "device memory", "measured device memory"});
  table.may_omit({"device memory", "measured device memory", "spread", "threads", "schedule"});
  for (const auto& result : results) {
    const auto [least, most] = std::minmax_element(result.measured_s.begin(), result.measured_s.end());
    table.add_row(
        {result.plan.name, std::string(base::name_of(result.plan.schedule)),
         result.plan.workers == 0 ? "-" : std::to_string(result.plan.workers),
         std::to_string(result.plan.device_threads), format_seconds(result.predicted_s),
         result.predicted_interval_s ? format_percent(*result.predicted_interval_s / result.predicted_s)
                                     : "-",
         format_seconds(result.median_s), format_percent((*most - *least) / result.median_s),
         format_change(result.error()), format_bytes(result.predicted_bytes),
         format_bytes_or_none(result.measured_bytes), format_bytes_or_none(result.predicted_device_bytes),
         format_bytes_or_none(result.measured_device_bytes)});
  }
  return table.text();
}

}  // namespace gnomon::apps
