#include "sim/costs/zero_copy.h"

#include <algorithm>
#include <cmath>

namespace gnomon::sim {
namespace {

constexpr double line_bytes = 128;
constexpr double element_bytes = 4;

/// Requests per row, averaged over all element-aligned offsets.
double requests_per_row(double row_bytes, bool aligned) {
  if (std::fmod(row_bytes, line_bytes) == 0) {
    return row_bytes / line_bytes;
  }
  double sum = 0;
  int offsets = 0;
  for (double offset = 0; offset < line_bytes; offset += element_bytes) {
    const double lines = std::ceil((offset + row_bytes) / line_bytes);
    const double warps = std::ceil(row_bytes / line_bytes);
    sum += aligned || row_bytes < line_bytes || offset == 0 ? lines : 2 * warps;
    ++offsets;
  }
  return sum / offsets;
}

}  // namespace

double zero_copy_bandwidth(double row_bytes, bool aligned, const profiles::Link& link) {
  const double requests = requests_per_row(row_bytes, aligned);
  const double payload = row_bytes / (row_bytes + requests * link.header_bytes);
  const double on_the_wire = link.bandwidth_bytes_per_s.value() * payload;
  if (link.round_trip_s <= 0) {
    return on_the_wire;
  }
  const double in_flight = link.outstanding_reads * (row_bytes / requests) / link.round_trip_s;
  return std::min(on_the_wire, in_flight);
}

double unaligned_slowdown(double row_bytes, const profiles::Link& link) {
  if (row_bytes <= 0 || !link.bandwidth_bytes_per_s) {
    return 1;
  }
  return zero_copy_bandwidth(row_bytes, true, link) / zero_copy_bandwidth(row_bytes, false, link);
}

}  // namespace gnomon::sim
