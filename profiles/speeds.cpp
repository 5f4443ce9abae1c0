#include "profiles/speeds.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/error.h"

namespace gnomon::profiles {

std::string_view unit_of(Work work) {
  switch (work) {
    case Work::dense_fp32:
    case Work::dense_bf16:
    case Work::device_dense_fp32:
    case Work::device_dense_bf16:
      return "flop/s";
    case Work::random_lines:
      return "lines/s";
    case Work::inserts:
      return "inserts/s";
    case Work::branches:
    case Work::operations:
      return "operations/s";
    case Work::disk_random:
      return "reads/s";
    case Work::launches:
      return "launches/s";
    default:
      return "bytes/s";
  }
}

bool has_size(Work work) {
  return work != Work::branches && work != Work::operations && work != Work::disk_sequential &&
         work != Work::launches;
}

void check(const MachineSpeeds& speeds, const std::string& where) {
  std::set<std::tuple<Work, int, double>> seen;
  for (std::size_t i = 0; i < speeds.speeds.size(); ++i) {
    const Speed& speed = speeds.speeds[i];
    const std::string path = where + ".speeds[" + std::to_string(i) + "]";
    const std::string work(base::name_of(speed.work));
    if (has_size(speed.work) != speed.size.has_value()) {
      throw base::InputError(path + ".size",
                             has_size(speed.work) ? "is missing" : "has no meaning for \"" + work + "\"");
    }
    if (!seen.emplace(speed.work, speed.threads, speed.size.value_or(0)).second) {
      throw base::InputError(path, "\"" + work + "\" is given twice with the same size and threads");
    }
  }
}

std::optional<RateAt> rate_at(const MachineSpeeds& speeds, Work work, double size, int threads) {
  std::vector<std::pair<double, std::size_t>> points;  // by size
  for (std::size_t i = 0; i < speeds.speeds.size(); ++i) {
    const Speed& speed = speeds.speeds[i];
    if (speed.work == work && speed.threads == threads) {
      points.emplace_back(speed.size.value_or(1), i);
    }
  }
  if (points.empty()) {
    return std::nullopt;
  }
  std::sort(points.begin(), points.end());
  const auto above =
      std::find_if(points.begin(), points.end(), [&](const auto& p) { return p.first >= size; });
  if (above == points.begin() || above == points.end()) {
    const auto nearest = above == points.end() ? points.back().second : above->second;
    return RateAt{speeds.speeds[nearest].per_s, {{nearest, 1.0}}};
  }
  const auto below = above - 1;
  const double share = std::log(size / below->first) / std::log(above->first / below->first);
  const double rate = std::pow(speeds.speeds[below->second].per_s, 1 - share) *
                      std::pow(speeds.speeds[above->second].per_s, share);
  return RateAt{rate, {{below->second, 1 - share}, {above->second, share}}};
}

}  // namespace gnomon::profiles
