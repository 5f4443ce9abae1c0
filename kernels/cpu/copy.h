#pragma once

#include <cstddef>

namespace gnomon::kernels::cpu {

/// Copies bytes on all cores that the process may use, if there are enough of them.
void copy_on_all_cores(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace gnomon::kernels::cpu
