#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "reproduce/figures/drawn.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// One figure of a paper.
inline DrawnFigure drawn_figure(const std::string& paper, const std::string& id) {
  sim::Simulator simulator;
  return draw_figures(simulator, paper, {id}, {}).figures.at(0);
}

/// The predicted or measured number of a series.
inline double y_at(const DrawnFigure& figure, std::size_t chart, const std::string& series, double x) {
  for (const auto& point : figure.charts.at(chart).find(series)->points) {
    if (std::abs(point.x - x) < 1e-9) {
      return point.y;
    }
  }
  throw std::out_of_range(figure.id + ": no point of " + series);
}

}  // namespace gnomon::reproduce
