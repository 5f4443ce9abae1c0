#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "schedule/machine.h"
#include "sim/consumption.h"
#include "sim/costs/memory.h"

namespace gnomon::sim {

/// One predicted epoch. Its field table defines its form in documents, journals and packets between
/// processes; the timeline is not in the table, as it is written as a trace.
struct Prediction {
  double epoch_s = 0;  ///< infinite if the plan does not fit in memory
  double lower_bound_s = 0;
  double cpu_utilisation = 0;     ///< of the workers
  double link_utilisation = 0;    ///< copies, and reads of device_batch
  double device_utilisation = 0;  ///< device preparation and training
  double blocked_on_cpu_s = 0;
  double blocked_on_device_s = 0;
  std::int64_t cpu_batches = 0;
  std::string bound_by;  ///< the busiest: "cpu", "link", "device", "disk" or "peers"; "memory": does not fit
  double disk_utilisation = 0;
  double reduce_utilisation = 0;  ///< all-reduce of gradients between devices
  Consumption consumption;        ///< set by predict() and predict_quickly()
  Memory memory;                  ///< set by predict() and predict_quickly()
  /// The work saved by reused hot embeddings in the epoch, as in a training's log (runtime::ReuseReport).
  std::optional<double> vertices_not_sampled{};
  std::optional<double> edges_not_aggregated{};
  std::optional<double> bytes_not_gathered{};
  std::vector<schedule::StageSpan> timeline;  ///< only on request

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("epoch_s", self.epoch_s);
    f("lower_bound_s", self.lower_bound_s);
    f("cpu_utilisation", self.cpu_utilisation);
    f("link_utilisation", self.link_utilisation);
    f("device_utilisation", self.device_utilisation);
    f("blocked_on_cpu_s", self.blocked_on_cpu_s);
    f("blocked_on_device_s", self.blocked_on_device_s);
    f("cpu_batches", self.cpu_batches);
    f("bound_by", self.bound_by);
    f("disk_utilisation", self.disk_utilisation);
    f("reduce_utilisation", self.reduce_utilisation);
    Consumption::fields(self.consumption, f);
    f("memory", self.memory);
    f("vertices_not_sampled", self.vertices_not_sampled);
    f("edges_not_aggregated", self.edges_not_aggregated);
    f("bytes_not_gathered", self.bytes_not_gathered);
  }
};

/// A prediction and its timeline as bytes, exact to the last bit, for processes of one program.
std::string pack(const Prediction& prediction);
/// Precondition: `bytes` come from pack() of the same program.
Prediction unpack(const std::string& bytes);

}  // namespace gnomon::sim
