#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/progress.h"
#include "graph/graph.h"
#include "reproduce/figures/drawn.h"

namespace gnomon::reproduce {

class CountedEpochs;
class Trainings;

struct MeasurementOptions {
  std::optional<graph::Graph> graph{};      ///< absent: a graph that is generated for each figure
  base::Progress progress{};                ///< of each measurement
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
};

/// Measures the panels of measured figures on this machine, for draw_figures(). Panels share what several of
/// them need: generated graphs, sampled epochs and trainings. The measurements, by the panels' `measure`:
///   - hit_curves, hits_of_a_tenth, missed_bytes and overlap, as counts_chart.h has them; hits_of_a_tenth and
///     overlap for several ways of sampling;
///   - batch_vertices: the distribution of the mini-batches' vertices; batch_deviations: standard deviations
///     of their vertices, edges and bytes in per cent of the mean;
///   - vertices_by_hop and edges_by_hop against the mini-batches of an epoch, and hop_deviations;
///   - layers: vertices of each layer; moved_bytes: what an epoch copies if the device computes all layers,
///     and if the host computes the first one;
///   - accuracy_by_epoch, accuracy_by_time, test_accuracy and staleness of the panel's plans, means over
///     `seeds` trainings;
///   - accuracy_by_setting and staleness_by_setting: test accuracy and staleness of the panel's plans against
///     the field that its x sweeps, of plans that are `flat` the same number at each value;
///   - copied_bytes in an epoch by mini-batches, by macro-batches of 1/12 and 1/24 of the training vertices
///     that are sampled like them, and by the parts of the panel's plans with their halo;
///   - vertices_read for a training vertex by parts with hubs and by sampling, against the number
///     of training vertices that share a part or mini-batch; resident_edges of a vertex, with random and
///     GAP's parts; partition_time against the number of parts;
///   - random_cache_time: preparing mini-batches on an emulated device against the hits of random caches.
class Measurements {
 public:
  explicit Measurements(MeasurementOptions options);
  ~Measurements();

  /// Measures a chart (MeasureChart in reproduce/figures/drawn.h).
  Chart chart(const PanelSource& panel, const MeasuredOn& on);

 private:
  const graph::Graph& graph_of(const MeasuredOn& on);

  MeasurementOptions options_;
  std::map<std::string, graph::Graph> generated_;  ///< by their options
  std::unique_ptr<CountedEpochs> counted_;
  std::unique_ptr<Trainings> trainings_;
};

}  // namespace gnomon::reproduce
