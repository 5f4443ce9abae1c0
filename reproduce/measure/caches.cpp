#include <algorithm>
#include <numeric>

#include "profiles/catalog.h"
#include "profiles/measure/random_caches.h"
#include "reproduce/measure/measured_case.h"

/// Measurements of an emulated device's caches.
namespace gnomon::reproduce {
namespace {

/// A device with the link and the memory of DUCATI's machine.
runtime::DeviceOptions emulated_device() {
  const auto machine = profiles::find_machine("ducati").machine;
  runtime::DeviceOptions device;
  device.kind = plan::DeviceKind::emulated;
  device.max_bytes = static_cast<std::int64_t>(machine.device.memory_bytes.value());
  device.link.bandwidth_bytes_per_s = machine.link.bandwidth_bytes_per_s.value();
  device.link.round_trip_s = machine.link.round_trip_s;
  device.link.outstanding_reads = machine.link.outstanding_reads;
  device.link.header_bytes = machine.link.header_bytes;
  return device;
}

/// The least-squares line through the points, at the same x.
ChartSeries line_through(const ChartSeries& series) {
  const auto n = static_cast<double>(series.points.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const auto& point : series.points) {
    mean_x += point.x / n;
    mean_y += point.y / n;
  }
  double covariance = 0;
  double variance = 0;
  for (const auto& point : series.points) {
    covariance += (point.x - mean_x) * (point.y - mean_y);
    variance += (point.x - mean_x) * (point.x - mean_x);
  }
  const double slope = variance > 0 ? covariance / variance : 0;
  ChartSeries line{series.name + ", straight line", false, {}};
  for (const auto& point : series.points) {
    line.points.push_back({point.x, mean_y + slope * (point.x - mean_x)});
  }
  return line;
}

}  // namespace

Chart random_cache_time(const MeasuredCase& measured) {
  constexpr int steps = 8;
  constexpr double time_limit_s = 20;  // of each kind
  Chart chart;
  for (const auto& [name, kind] : {std::pair{"rows cached", profiles::CachedKind::rows},
                                   std::pair{"lists cached", profiles::CachedKind::lists}}) {
    const auto prepared =
        profiles::prepare_with_random_caches(measured.graph, measured.job, emulated_device(), kind, steps,
                                             {time_limit_s, measured.stop, measured.progress});
    ChartSeries series{name, false, {}};
    for (const auto& [hits, batch_s] : prepared) {
      series.points.push_back({100 * hits, 1e3 * batch_s});
    }
    auto line = line_through(series);
    chart.series.push_back(std::move(series));
    chart.series.push_back(std::move(line));
  }
  return chart;
}

}  // namespace gnomon::reproduce
