#include "reproduce/morphgl_validation.h"

#include <cmath>
#include <functional>

#include "reproduce/morphgl.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {
namespace {

using Wanted = std::function<bool(const MorphglCell&)>;

/// A point of the grid and the absolute relative error of each cell there.
struct Trial {
  HostContention contention;
  std::vector<double> errors;
};

std::vector<HostContention> grid(int steps) {
  std::vector<HostContention> points;
  for (int cpu = 0; cpu <= steps; ++cpu) {
    for (int device = 0; device <= steps; ++device) {
      points.push_back({1 + 1.0 * cpu / steps, 1 + 0.05 * device / steps});
    }
  }
  return points;
}

double mean_error(const Trial& trial, const std::vector<MorphglCell>& cells, const Wanted& wanted) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (wanted(cells[i])) {
      sum += trial.errors[i];
      ++count;
    }
  }
  return sum / count;
}

const Trial& best(const std::vector<Trial>& trials, const std::vector<MorphglCell>& cells,
                  const Wanted& wanted) {
  const Trial* found = &trials.front();
  for (const Trial& trial : trials) {
    if (mean_error(trial, cells, wanted) < mean_error(*found, cells, wanted)) {
      found = &trial;
    }
  }
  return *found;
}

Validation validate(const std::vector<Trial>& trials, const std::vector<MorphglCell>& cells,
                    std::string left_out, const Wanted& is_left_out) {
  const auto stays = [&](const MorphglCell& cell) { return !is_left_out(cell); };
  const Trial& fit = best(trials, cells, stays);
  Validation validation{std::move(left_out), fit.contention, mean_error(fit, cells, is_left_out), 0};
  for (const auto& cell : cells) {
    validation.cells += is_left_out(cell) ? 1 : 0;
  }
  return validation;
}

std::vector<Trial> try_grid(sim::Simulator& simulator, const Paper& paper,
                            const std::vector<MorphglCell>& cells, int steps,
                            const base::Progress& progress) {
  std::vector<Trial> trials;
  const auto points = grid(steps);
  for (const auto& contention : points) {
    base::report(progress, "fitting", std::ssize(trials), std::ssize(points));
    Trial trial{contention, {}};
    for (const auto& cell : cells) {
      Labels labels = cell.labels();
      labels.insert({{"system", "MorphGL"}, {"metric", "epoch_s"}});
      const auto profile = morphgl_profile(paper, cell, contention);
      const double epoch_s = predict_morphgl(simulator, profile).best.prediction.epoch_s;
      trial.errors.push_back(std::abs(epoch_s / paper.at(labels) - 1));
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace

std::vector<Validation> cross_validate_morphgl(sim::Simulator& simulator, const base::Progress& progress,
                                               int steps) {
  const Paper paper = find_paper("morphgl");
  const auto cells = morphgl_cells(paper);
  const auto trials = try_grid(simulator, paper, cells, steps, progress);
  const auto everywhere = [](const MorphglCell&) { return true; };
  const Trial& fit = best(trials, cells, everywhere);
  std::vector<Validation> all{
      {"nothing", fit.contention, mean_error(fit, cells, everywhere), static_cast<int>(cells.size())}};
  for (const auto& dataset : paper.values("dataset", {{"table", "table4"}})) {
    all.push_back(validate(trials, cells, "dataset " + dataset,
                           [&](const MorphglCell& cell) { return cell.dataset == dataset; }));
  }
  for (const auto& machine : paper.values("machine", {{"table", "table4"}})) {
    all.push_back(validate(trials, cells, "machine " + machine,
                           [&](const MorphglCell& cell) { return cell.machine == machine; }));
  }
  return all;
}

}  // namespace gnomon::reproduce
