#pragma once

#include <atomic>
#include <filesystem>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// What the disk under `file` does, from reads of the file that go past the page cache, by the reader that
/// training uses (runtime/disk/block_reader.h): large ones in order, and single blocks at random with 1, 2, 4
/// … 64 reads in flight. The rate of the latter is the highest seen; the queue depth is the minimum number of
/// reads that comes within 5 % of it. Both rates are unknown for a file of less than 1 MiB or one that cannot
/// be read this way, as on a file system in memory.
///
/// Takes about `time_limit_s`. A disk that keeps a cache of its own shows it when the file is smaller. Throws
/// Interrupted when `stop` is set.
Disk measure_disk(const std::filesystem::path& file, double time_limit_s,
                  const std::atomic<bool>* stop = nullptr);

}  // namespace gnomon::profiles
