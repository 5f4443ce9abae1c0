#include "kernels/cpu/copy.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "base/usable.h"

namespace gnomon::kernels::cpu {

void copy_on_all_cores(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t min_bytes_per_thread = std::size_t{1} << 24;  // below, starting a thread costs more
  const auto cores = static_cast<std::size_t>(base::usable_cores());
  const std::size_t threads = std::clamp<std::size_t>(bytes / min_bytes_per_thread, 1, cores);
  const auto begin_of = [&](std::size_t thread) { return bytes / threads * thread; };
  std::vector<std::jthread> team;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    const std::size_t begin = begin_of(thread);
    const std::size_t end = thread + 1 < threads ? begin_of(thread + 1) : bytes;
    team.emplace_back([=] { std::memcpy(to + begin, from + begin, end - begin); });
  }
}

}  // namespace gnomon::kernels::cpu
