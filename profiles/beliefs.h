#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"

namespace gnomon::profiles {

struct Profile;
struct ScalingPoint;

/// What is believed of one number of a profile: a log-normal distribution with the profile's number as its
/// median. Numbers without a belief are as precise as their stage's time.
struct Belief {
  std::string of;            ///< the quantity's name: "train_speedup@2"
  double deviation = 0;      ///< standard deviation of the number's logarithm
  std::int64_t samples = 0;  ///< measurements that it rests on; 0: never measured

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("of", self.of);
    f.required("deviation", self.deviation, base::Range{0, 10});
    f("samples", self.samples, base::non_negative);
  }
  bool operator==(const Belief&) const = default;
};

enum class QuantityKind : std::uint8_t {
  stage_time,  ///< StageTime::mean_s
  speed_up,    ///< by threads or workers: larger is faster
  cost,        ///< a part of a stage's time, or a ratio of times: smaller is faster
};

/// The plans that gain most if a quantity is better than believed.
enum class Favours : std::uint8_t { workers, worker_threads, device_threads, fused_training };

/// A number of a profile that predictions depend on and that measurements inform.
struct Quantity {
  std::string name;
  QuantityKind kind = QuantityKind::cost;
  Favours favours = Favours::workers;
  std::function<double&(Profile&)> of;  ///< the number, which is inserted as `median` where it is absent
  std::function<bool(const Profile&)> is_known;
  std::function<void(Profile&)> forget;  ///< makes it absent, but for stage times
  /// The point of a speed-up, null if it is absent; empty for other kinds.
  std::function<const ScalingPoint*(const Profile&)> point{};
  double median = 1;     ///< believed before it was measured
  double deviation = 0;  ///< standard deviation of its logarithm before it was measured
};

/// The quantities of the profile's machine (cores, devices) that profiles::measure() can measure there, with
/// what is believed of each before: speed-ups of workers and of training by the job's counts over the
/// machine's speeds where these are known (Profile::machine_speeds), everything else by wide assumptions that
/// no record backs.
std::vector<Quantity> quantities_of(const Profile& profile);

/// The quantity with this name; null without one.
const Quantity* find_quantity(const std::vector<Quantity>& quantities, std::string_view name);

/// "train_speedup@2"
std::string point_name(std::string_view list, int threads);

/// Sets every quantity that the profile lacks to its believed median, with a belief that says that it was
/// never measured. Known quantities and existing beliefs stay.
void add_beliefs(Profile& profile);

/// The profile without the numbers that were never measured.
Profile measured_part(Profile profile);

}  // namespace gnomon::profiles
