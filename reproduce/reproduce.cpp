#include "reproduce/reproduce.h"

#include <array>
#include <functional>
#include <utility>

#include "base/error.h"
#include "reproduce/a3gnn.h"
#include "reproduce/ducati.h"
#include "reproduce/gnnlab.h"
#include "reproduce/hanoi.h"
#include "reproduce/joestar.h"
#include "reproduce/morphgl.h"
#include "reproduce/neutronorch.h"
#include "reproduce/pytorch_direct.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {
namespace {

struct Known {
  std::string_view name;
  Report (*run)(sim::Simulator&, const std::optional<Paper>& baselines, const base::Progress&);
};

/// The report of a paper whose numbers do not follow from baselines' columns.
template <Report (*run)(sim::Simulator&, const base::Progress&)>
Report without_baselines(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                         const base::Progress& progress) {
  if (baselines) {
    throw base::InputError("--baselines",
                           "nothing of this paper follows from baselines' columns; use morphgl, "
                           "neutronorch, gnnlab or ducati");
  }
  return run(simulator, progress);
}

constexpr std::array<Known, 8> known{{{"morphgl", reproduce_morphgl},
                                      {"neutronorch", reproduce_neutronorch},
                                      {"gnnlab", reproduce_gnnlab},
                                      {"ducati", reproduce_ducati},
                                      {"a3gnn", without_baselines<reproduce_a3gnn>},
                                      {"hanoi", without_baselines<reproduce_hanoi>},
                                      {"joestar", without_baselines<reproduce_joestar>},
                                      {"pytorch-direct", without_baselines<reproduce_pytorch_direct>}}};

}  // namespace

std::string known_papers() {
  std::string names;
  for (const auto& paper : known) {
    names += (names.empty() ? "" : ", ") + std::string(paper.name);
  }
  return names;
}

std::vector<Report> reproduce(sim::Simulator& simulator, std::string_view paper,
                              const std::optional<Paper>& baselines, const base::Progress& progress) {
  if (baselines && paper == "all") {
    throw base::InputError("--baselines", "belong to one paper; replace all by its name");
  }
  std::vector<Report> reports;
  for (const auto& candidate : known) {
    if (paper == "all" || paper == candidate.name) {
      reports.push_back(candidate.run(simulator, baselines, progress));
      if (reports.back().rows.empty() && baselines) {
        throw base::InputError("--baselines", "has no rows of the baselines of " + std::string(paper) +
                                                  "; see profiles/papers for how they look");
      }
    }
  }
  if (reports.empty()) {
    throw base::InputError(
        "PAPER", "\"" + std::string(paper) + "\" is not known; use one of " + known_papers() + ", all");
  }
  return reports;
}

base::Json to_json(const std::vector<Report>& reports) {
  base::Json all = base::Json::array();
  for (const Report& report : reports) {
    all.push_back(to_json(report));
  }
  return {{"schema", "gnomon.reproductions/1"}, {"reports", all}};
}

}  // namespace gnomon::reproduce
