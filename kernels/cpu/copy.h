#pragma once

#include <cstddef>

namespace gnomon::kernels::cpu {

/// Copies `bytes` bytes on all cores that the process may use; small copies use fewer threads.
void copy_on_all_cores(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace gnomon::kernels::cpu
