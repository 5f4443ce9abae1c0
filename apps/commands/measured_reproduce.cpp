#include "apps/commands/commands.h"
#include "apps/commands/reproduce.h"
#include "apps/compute/open_data.h"
#include "apps/interrupt.h"
#include "reproduce/measure/measurements.h"

namespace gnomon::apps {
namespace {

reproduce::DrawnPaper draw_measured(sim::Simulator& simulator, const std::string& paper,
                                    const std::vector<std::string>& figures, const std::string& data,
                                    const base::Progress& progress) {
  reproduce::MeasurementOptions options;
  if (!data.empty()) {
    options.graph = open_training_data(data, plan::Job{});
  }
  options.progress = progress;
  options.stop = &stop_on_interrupt();
  reproduce::Measurements measurements(std::move(options));
  reproduce::Measured measured;
  measured.measure = [&](const reproduce::PanelSource& panel, const reproduce::MeasuredOn& on) {
    return measurements.chart(panel, on);
  };
  return reproduce::draw_figures(simulator, paper, figures, progress, measured);
}

}  // namespace

Action add_measured_reproduce(CLI::App& app) { return add_reproduce_with(app, draw_measured); }

}  // namespace gnomon::apps
