#pragma once

#include "profiles/profile.h"

namespace gnomon::sim {

/// Returns the time of unaligned zero-copy reads of rows over that of aligned ones (PyTorch-Direct, PVLDB
/// 14(11), 2021); 1 if the link's bandwidth is unknown. A warp reads a row in lines of 128 bytes. Aligned, a
/// row at a random offset touches its whole lines and a part of the first and the last; unaligned, every
/// request of a warp that starts off a line is split in two. The link carries payload and a header for each
/// request, and no more requests are in flight than the device allows. 1 for rows under 128 bytes and rows of
/// whole lines, which are read alike.
double unaligned_slowdown(double row_bytes, const profiles::Link& link);

/// Returns the payload bandwidth of zero-copy reads of such rows: what headers leave of the link's bandwidth,
/// at most what the requests in flight carry per round trip. Precondition: the link's bandwidth is known.
double zero_copy_bandwidth(double row_bytes, bool aligned, const profiles::Link& link);

}  // namespace gnomon::sim
