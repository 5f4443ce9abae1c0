#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "runtime/speed/bandwidth.h"
#include "runtime/speed/link.h"
#include "runtime/speed/saturation.h"

// Included where an executor's kernels are declared.

namespace gnomon::runtime {

inline std::vector<std::int64_t> random_rows(std::int64_t count, std::int64_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> row(0, rows - 1);
  std::vector<std::int64_t> drawn(static_cast<std::size_t>(count));
  std::generate(drawn.begin(), drawn.end(), [&] { return row(random); });
  return drawn;
}

/// The duration of `act` from an idle device until the device is idle again.
template <class Hardware, class Act>
double seconds_of(Hardware& hardware, const Act& act) {
  hardware.run([] {});
  const double begin_s = hardware.now_s();
  hardware.run(act);
  return hardware.now_s() - begin_s;
}

template <class Hardware>
std::optional<double> link_saturation_share(Hardware& hardware, const kernels::device::Rows& rows,
                                            const graph::Features& features, std::uint64_t seed,
                                            std::int64_t bytes) {
  namespace device = kernels::device;
  if (features.rows == 0 || features.row_bytes() == 0) {
    return std::nullopt;
  }
  const std::int64_t count = std::max<std::int64_t>(1, bytes / features.row_bytes());
  std::optional<double> share;
  hardware.run([&] {
    auto whole = hardware.make_executor(1);
    const auto drawn = random_rows(count, features.rows, seed);
    const auto vertices = device::make_array<std::int64_t>(whole, count);
    whole.upload(vertices.data, drawn.data(), drawn.size() * sizeof(std::int64_t));
    const auto out = device::make_array<std::byte>(whole, count * features.row_bytes());
    share = find_saturation_share([&](double part) {
      auto executor = hardware.make_executor(part);
      return best_bandwidth(static_cast<std::size_t>(out.count), [&] {
        return seconds_of(hardware, [&] {
          device::gather_rows(executor, rows, device::Reads::shifted, vertices.data, count, out.data);
        });
      });
    });
  });
  return share;
}

}  // namespace gnomon::runtime
