#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "reproduce/figures/chart.h"
#include "reproduce/figures/figure_document.h"

namespace gnomon::reproduce {

class CountedEpochs;
class Trainings;

/// The inputs of a measurement.
struct MeasuredCase {
  const graph::Graph& graph;
  const plan::Job& job;
  const PanelSource& panel;
  int seeds;
  CountedEpochs& counted;
  Trainings& trainings;
  const base::Progress& progress;
  const std::atomic<bool>* stop;
};

using MeasureCase = Chart (*)(const MeasuredCase& measured);

Chart counted_chart(const MeasuredCase& measured);
Chart batch_vertices(const MeasuredCase& measured);
Chart batch_deviations(const MeasuredCase& measured);
Chart vertices_by_hop(const MeasuredCase& measured);
Chart edges_by_hop(const MeasuredCase& measured);
Chart hop_deviations(const MeasuredCase& measured);
Chart layers(const MeasuredCase& measured);
Chart moved_bytes(const MeasuredCase& measured);
Chart accuracy_by_epoch(const MeasuredCase& measured);
Chart accuracy_by_time(const MeasuredCase& measured);
Chart test_accuracy(const MeasuredCase& measured);
Chart staleness(const MeasuredCase& measured);
Chart accuracy_by_setting(const MeasuredCase& measured);
Chart staleness_by_setting(const MeasuredCase& measured);
Chart copied_bytes(const MeasuredCase& measured);
Chart vertices_read(const MeasuredCase& measured);
Chart resident_edges(const MeasuredCase& measured);
Chart partition_time(const MeasuredCase& measured);
Chart random_cache_time(const MeasuredCase& measured);

/// Returns the series' preset with the fields that it sets, and those of `more`. Throws InputError.
plan::Plan plan_of(const SeriesSource& series, const std::vector<std::string>& more = {});

/// "15,10,5".
std::string fanouts_text(const plan::Job& job);

}  // namespace gnomon::reproduce
