#pragma once

#include <atomic>
#include <filesystem>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// Measures the disk under `file` by direct I/O with the reader that training uses
/// (runtime/disk/block_reader.h): sequential reads, few large ones or as many as training has in flight,
/// whichever are faster, and random reads of single blocks at queue depths 1, 2, 4 … 64, all at places that
/// differ from call to call. The random rate is the highest measured; the queue depth is the smallest that
/// comes within 5 % of it. Both rates are unknown for files of less than 1 MiB and where direct I/O is not
/// supported, as on an in-memory file system.
///
/// Takes about `time_limit_s`. If the disk's own cache is larger than the file, the cache is measured. Throws
/// Interrupted when `stop` is set.
Disk measure_disk(const std::filesystem::path& file, double time_limit_s,
                  const std::atomic<bool>* stop = nullptr);

}  // namespace gnomon::profiles
