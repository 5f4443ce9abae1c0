#include <algorithm>
#include <functional>
#include <optional>

#include "base/document.h"
#include "base/error.h"
#include "plan/plan.h"
#include "profiles/measure/statistics.h"
#include "reproduce/measure/measured_case.h"
#include "reproduce/measure/trainings.h"
#include "tuner/explore/patch.h"

/// Measurements of trainings with several plans.
namespace gnomon::reproduce {
namespace {

using Reports = std::vector<runtime::TrainReport>;

/// Mean and standard deviation over the trainings.
ChartPoint point_of(double x, const Reports& reports,
                    const std::function<double(const runtime::TrainReport&)>& value) {
  profiles::Series series;
  for (const auto& report : reports) {
    series.add(value(report));
  }
  return {x, series.mean(), reports.size() > 1 ? std::optional(series.deviation()) : std::nullopt};
}

/// Calls `add` with the trainings of a plan. If it cannot be trained here, the chart says why.
void train(const MeasuredCase& measured, const std::string& name, const plan::Plan& plan, Chart& chart,
           const std::function<void(const Reports& reports)>& add) {
  if (auto refusal = plan::refusal_of(plan, plan::abilities_of(plan::DeviceKind::host)); !refusal.empty()) {
    chart.missing.push_back(name + ": " + refusal);
    return;
  }
  try {
    add(measured.trainings.of(measured.graph, measured.job, plan, measured.seeds, measured.progress,
                              measured.stop));
  } catch (const base::InputError& error) {  // the plan cannot be trained on this graph
    chart.missing.push_back(name + ": " + error.what());
  }
}

/// Makes a series of each plan, with the points that `add` makes of its trainings. A plan that cannot be
/// trained here has no points.
Chart of_plans(const MeasuredCase& measured,
               const std::function<void(ChartSeries& series, const Reports& reports)>& add) {
  Chart chart;
  for (const auto& source : measured.panel.series) {
    ChartSeries series{source.name, false, {}};
    train(measured, source.name, plan_of(source), chart,
          [&](const Reports& reports) { add(series, reports); });
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// A point of each plan for each value that the panel's x sweeps.
Chart of_settings(const MeasuredCase& measured,
                  const std::function<double(const runtime::TrainReport&)>& value) {
  const auto sweep = tuner::parse_sweep(measured.panel.x);
  Chart chart;
  for (const auto& source : measured.panel.series) {
    ChartSeries series{source.name, false, {}};
    for (const auto& text : sweep.values) {
      const auto setting = sweep.path + "=" + text;
      const auto plan = plan_of(source, source.flat ? std::vector<std::string>{} : std::vector{setting});
      train(measured, source.name + ", " + setting, plan, chart, [&](const Reports& reports) {
        series.points.push_back(point_of(std::stod(text), reports, value));
      });
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

double test_accuracy_of(const runtime::TrainReport& report) { return 100 * report.test_accuracy; }

/// The maximum staleness, in updates, of the embeddings that a training reused.
double staleness_of(const runtime::TrainReport& report) {
  std::int64_t max_age = 0;
  for (const auto& epoch : report.epochs) {
    max_age = std::max(max_age, epoch.history.max);
    if (epoch.reuse) {
      for (const auto& super_batch : epoch.reuse->super_batches) {
        max_age = std::max(max_age, super_batch.staleness);
      }
    }
  }
  return static_cast<double>(max_age);
}

}  // namespace

plan::Plan plan_of(const SeriesSource& series, const std::vector<std::string>& more) {
  const auto preset = plan::find_plan(series.plan);
  base::Json document{{"plan", base::to_document(preset)}};
  for (const auto* sets : {&series.set, &more}) {
    for (const auto& text : *sets) {
      const auto sweep = tuner::parse_sweep(text);
      auto& field = tuner::field_at(document, sweep.path, series.name);
      field = tuner::value_like(field, sweep.values.front());
    }
  }
  auto plan = base::from_document<plan::Plan>(document["plan"], series.name);
  plan::check(plan, series.name);
  return plan;
}

Chart accuracy_by_epoch(const MeasuredCase& measured) {
  return of_plans(measured, [&](ChartSeries& series, const Reports& reports) {
    for (std::size_t epoch = 0; epoch < reports.front().epochs.size(); ++epoch) {
      series.points.push_back(point_of(static_cast<double>(epoch + 1), reports, [&](const auto& report) {
        return 100 * report.epochs[epoch].valid_accuracy;
      }));
    }
  });
}

Chart accuracy_by_time(const MeasuredCase& measured) {
  return of_plans(measured, [](ChartSeries& series, const Reports& reports) {
    double seconds = 0;
    for (std::size_t epoch = 0; epoch < reports.front().epochs.size(); ++epoch) {
      seconds += point_of(0, reports, [&](const auto& report) { return report.epochs[epoch].seconds; }).y;
      series.points.push_back(point_of(
          seconds, reports, [&](const auto& report) { return 100 * report.epochs[epoch].valid_accuracy; }));
    }
  });
}

Chart test_accuracy(const MeasuredCase& measured) {
  auto chart = of_plans(measured, [](ChartSeries& series, const Reports& reports) {
    series.points.push_back(point_of(0, reports, test_accuracy_of));
  });
  chart.categories = {measured.graph.name + ", " + std::string(base::name_of(measured.job.model))};
  return chart;
}

Chart staleness(const MeasuredCase& measured) {
  auto chart = of_plans(measured, [](ChartSeries& series, const Reports& reports) {
    series.points.push_back(point_of(0, reports, staleness_of));
  });
  chart.categories = {measured.graph.name};
  return chart;
}

Chart accuracy_by_setting(const MeasuredCase& measured) { return of_settings(measured, test_accuracy_of); }

Chart staleness_by_setting(const MeasuredCase& measured) { return of_settings(measured, staleness_of); }

}  // namespace gnomon::reproduce
