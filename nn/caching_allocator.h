#pragma once

namespace gnomon::nn {

/// Installs a caching allocator for large CPU tensors (1 MiB and more), on huge pages if available. Training
/// steps, which allocate tensors of similar sizes again and again, then make no system calls and cause no
/// page faults. The memory held exceeds the peak use by at most a quarter. Call it at the start of the
/// process; further calls have no effect.
void install_caching_allocator();

}  // namespace gnomon::nn
