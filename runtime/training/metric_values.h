#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/job.h"

namespace gnomon::runtime {

/// A metric on some vertices; NaN where it is undefined.
struct MetricValue {
  plan::Metric metric = plan::Metric::accuracy;
  double value = 0;
};

/// The values of a job's metrics, in the job's order.
using MetricValues = std::vector<MetricValue>;

/// Pairs each of a job's metrics with its value. Precondition: there are as many values as metrics.
inline MetricValues with_names(const std::vector<plan::Metric>& metrics, const std::vector<double>& values) {
  MetricValues named;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    named.push_back({metrics[i], values.at(i)});
  }
  return named;
}

/// NaN for each metric.
inline MetricValues undefined_metrics(const std::vector<plan::Metric>& metrics) {
  return with_names(metrics, std::vector<double>(metrics.size(), std::numeric_limits<double>::quiet_NaN()));
}

/// Returns {"accuracy": 0.9, "roc_auc": null}: undefined metrics are null.
inline base::Json to_json(const MetricValues& values) {
  base::Json json = base::Json::object();
  for (const auto& [metric, value] : values) {
    json[std::string(base::name_of(metric))] = std::isnan(value) ? base::Json() : base::Json(value);
  }
  return json;
}

}  // namespace gnomon::runtime
