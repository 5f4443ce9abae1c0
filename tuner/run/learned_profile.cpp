#include "tuner/run/learned_profile.h"

#include "profiles/machine_key.h"
#include "profiles/measure/machine.h"
#include "tuner/history/history.h"
#include "tuner/history/lessons.h"

namespace gnomon::tuner {

void learn_from_history(profiles::Profile& profile) {
  profile.learned = learned_corrections(History().read(), profiles::machine_key(), profile);
}

void add_to_history(const std::vector<RealRun>& runs, const profiles::Profile& profile,
                    sim::Simulator& simulator) {
  const History history;
  if (history.directory().empty() || profile.machine.cpu.name != profiles::cpu_name()) {
    return;
  }
  const auto outcomes = outcomes_of(runs, profile, profiles::machine_key(), simulator);
  if (!outcomes.plans.empty()) {
    history.add(outcomes);
  }
}

}  // namespace gnomon::tuner
