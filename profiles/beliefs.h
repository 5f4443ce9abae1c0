#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/document.h"

namespace gnomon::profiles {

struct Profile;

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

/// A number of a profile that predictions depend on and that measurements inform.
struct Quantity {
  std::string name;
  std::function<double&(Profile&)> of;  ///< the number, which is inserted as `median` where it is absent
  std::function<bool(const Profile&)> is_known;
  std::function<void(Profile&)> forget;  ///< makes it absent, but for stage times
  double median = 1;                     ///< believed before it was measured
  double deviation = 0;                  ///< standard deviation of its logarithm before it was measured
};

/// The quantities of the profile's machine (cores, kind of device), with what is believed of each before it
/// is measured: speed-ups by the job's counts over the machine's speeds where these are known
/// (Profile::machine_speeds), otherwise by the values of other jobs on other machines
/// (bench/results/regret.json holds the profiles' numbers).
std::vector<Quantity> quantities_of(const Profile& profile);

/// Sets every quantity that the profile lacks to its believed median, with a belief that says that it was
/// never measured. Known quantities and existing beliefs stay.
void add_beliefs(Profile& profile);

/// The profile without the numbers that were never measured.
Profile measured_part(Profile profile);

}  // namespace gnomon::profiles
