#pragma once

#include "profiles/profile.h"

namespace gnomon::sim {

/// Seconds that unaligned zero-copy reads of rows take over aligned ones (PyTorch-Direct, PVLDB 14(11),
/// 2021). A warp reads a row in lines of 128 bytes. Aligned, a row at a random offset touches its whole lines
/// and a part of the first and the last; unaligned, every request of a warp that starts off a line is split
/// in two. The link carries payload and a header for each request, and no more requests are in flight than
/// the device allows. Rows under 128 bytes or of whole lines are read alike: 1.
double unaligned_slowdown(double row_bytes, const profiles::Link& link);

/// Payload bytes a second of zero-copy reads of such rows: what headers leave of the link's bandwidth, and at
/// most what the requests in flight can bring in a round trip.
double zero_copy_bandwidth(double row_bytes, bool aligned, const profiles::Link& link);

}  // namespace gnomon::sim
