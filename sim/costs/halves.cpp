#include "sim/costs/halves.h"

#include <algorithm>
#include <optional>

#include "sim/costs/memory.h"

namespace gnomon::sim {
namespace {

double share_of(double part, double rest) { return part + rest > 0 ? part / (part + rest) : 0.5; }

}  // namespace

void Halves::scale_sampling(double times, double bytes) {
  cpu_sample_s *= times;
  device_sample_s *= times;
  device_sample_link_s *= times;
  structure_bytes *= bytes;
}

void Halves::scale_gathering(double times, double bytes) {
  cpu_gather_s *= times;
  device_gather_s *= times;
  device_gather_link_s *= times;
  feature_bytes *= bytes;
}

Halves halves_of(const profiles::WorkloadProfile& workload) {
  const auto& parts = workload.parts;
  Halves halves;
  halves.structure_bytes = local_id_bytes * workload.batch_edges;
  halves.feature_bytes = workload.batch_vertices * static_cast<double>(workload.feature_row_bytes);
  const double sampling = share_of(halves.structure_bytes, halves.feature_bytes);
  const auto part = [sampling](std::optional<double> given, double whole) {
    return given.value_or(sampling * whole);
  };
  halves.cpu_sample_s = part(parts.cpu_sample_s, workload.cpu_batch.mean_s);
  halves.cpu_gather_s = workload.cpu_batch.mean_s - halves.cpu_sample_s;
  halves.device_sample_s = part(parts.device_sample_s, workload.device_batch.mean_s);
  halves.device_gather_s = workload.device_batch.mean_s - halves.device_sample_s;
  halves.device_sample_link_s =
      std::min(halves.device_sample_s, part(parts.device_sample_link_s, workload.device_batch_link_s));
  halves.device_gather_link_s =
      std::min(halves.device_gather_s, workload.device_batch_link_s - halves.device_sample_link_s);
  return halves;
}

}  // namespace gnomon::sim
