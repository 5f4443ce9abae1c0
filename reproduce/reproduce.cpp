#include "reproduce/reproduce.h"

#include <array>
#include <functional>
#include <utility>

#include "base/error.h"
#include "reproduce/morphgl.h"
#include "reproduce/papers.h"

namespace gnomon::reproduce {
namespace {

struct Known {
  std::string_view name;
  Report (*run)(sim::Simulator&, const base::Progress&);
};

Report morphgl(sim::Simulator& simulator, const base::Progress& progress) {
  return reproduce_morphgl(simulator, std::nullopt, progress);
}

constexpr std::array<Known, 7> known{{{"morphgl", morphgl},
                                      {"neutronorch", reproduce_neutronorch},
                                      {"gnnlab", reproduce_gnnlab},
                                      {"ducati", reproduce_ducati},
                                      {"a3gnn", reproduce_a3gnn},
                                      {"hanoi", reproduce_hanoi},
                                      {"joestar", reproduce_joestar}}};

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
  if (baselines) {
    if (paper != "morphgl") {
      throw base::InputError("--baselines", "only morphgl takes another machine's columns");
    }
    return {reproduce_morphgl(simulator, baselines, progress)};
  }
  std::vector<Report> reports;
  for (const auto& candidate : known) {
    if (paper == "all" || paper == candidate.name) {
      reports.push_back(candidate.run(simulator, progress));
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
