#pragma once

namespace gnomon::nn {

/// Makes LibTorch keep the memory of large CPU tensors (1 MiB and more) and give it to the next ones, on huge
/// pages where the system has them: steps that make tensors of the same sizes again and again then neither
/// enter the kernel nor touch new pages. What is kept never exceeds what was in use at the same time at most
/// by more than a quarter. For the whole process, at its start; a second call changes nothing.
void keep_tensor_memory();

}  // namespace gnomon::nn
