#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/document.h"
#include "serve/run_view.h"
#include "tuner/explore/exploration.h"

namespace gnomon::serve {

/// What a page can choose from.
struct Offer {
  std::vector<std::string> profiles;  ///< files, and names of papers' workloads
  std::vector<std::string> machines;  ///< files of measured machines, and names of the catalog
  Runs runs{};
};

/// A state of the page.
struct State {
  std::string profile;
  std::string machine;                   ///< empty: the profile's own
  std::vector<plan::Plan> plans;         ///< to predict
  std::vector<std::string> drawn;        ///< names of plans whose timelines are drawn
  std::vector<tuner::Setting> settings;  ///< "machine.cpu.cores", "plan.cpu_buffer", …
  std::uint64_t seed = 0;
};

/// Reads a state: {"profile", "machine", "plans": [name or plan document], "drawn", "settings": {path:
/// value}, "seed"}. Throws InputError that names the field, also for a profile, machine or plan that is not
/// on offer: a page cannot name files.
State read_state(const base::Json& json, const Offer& offer);

/// What explore() is asked for the state: the rows that `gnomon explore --machine … --plan … --set …` prints.
tuner::ExplorationRequest request_of(const State& state);

}  // namespace gnomon::serve
