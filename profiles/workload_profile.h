#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/job.h"
#include "plan/vocabulary.h"
#include "profiles/accesses.h"
#include "profiles/batch_sizes.h"
#include "profiles/ranges.h"
#include "profiles/speeds.h"
#include "profiles/stage_times.h"

namespace gnomon::profiles {

/// Evaluating the model on the validation vertices, as training does after an epoch.
struct EvaluationProfile {
  std::optional<double> time_s{};  ///< on all cores; absent if it was not measured on this machine
  double host_bytes = 0;           ///< peak host memory of tensors

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("time_s", self.time_s, positive_or_unknown);
    f.required("host_bytes", self.host_bytes, base::non_negative);
  }
};

/// The work of one mini-batch's stages, by kind (batch_work() of stage_work.h).
struct BatchWork {
  std::vector<Amount> sampling;
  std::vector<Amount> gathering;
  std::vector<Amount> training;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("sampling", self.sampling);
    f.required("gathering", self.gathering);
    f.required("training", self.training);
  }
};

/// The parts of a store whose vertices are ordered by part (graph/partition/parts.h).
struct StoreParts {
  plan::Partitioner partitioner = plan::Partitioner::random;
  std::vector<std::int64_t> vertices;        ///< of each part
  std::vector<std::int64_t> edges;           ///< to each part's vertices
  std::vector<std::int64_t> train_vertices;  ///< of each part

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("partitioner", self.partitioner);
    f.required("vertices", self.vertices, base::non_negative);
    f.required("edges", self.edges, base::non_negative);
    f.required("train_vertices", self.train_vertices, base::non_negative);
  }
};

/// One workload (graph and job) on one machine.
struct WorkloadProfile {
  std::string graph;
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::optional<std::int64_t> max_degree{};
  std::int64_t feature_columns = 0;
  std::int64_t feature_row_bytes = 0;
  std::int64_t train_vertices = 0;
  plan::Job job;
  std::int64_t batches = 0;   ///< mini-batches of an epoch
  double batch_vertices = 0;  ///< means per mini-batch
  double batch_edges = 0;
  double batch_bytes = 0;  ///< copied by a transfer
  std::optional<BatchDeviations> batch_deviations{};
  StageTime cpu_batch;     ///< one worker
  StageTime transfer;      ///< 0 for a host device, which reads batches where they are
  StageTime device_batch;  ///< with one device thread on a host device
  StageTime train;         ///< with one device thread on a host device
  /// Part of device_batch that reads over the link (T_UVA); 0 without a link.
  double device_batch_link_s = 0;
  std::vector<ScalingPoint> worker_efficiency;  ///< w workers prepare w * value / cpu_batch.mean_s batches/s
  std::vector<ScalingPoint> cpu_batch_speedup;  ///< of a batch that a worker's threads share
  /// Of the sampling alone of such a batch, which scales worse than gathering; empty: as the whole.
  std::vector<ScalingPoint> cpu_sample_speedup;
  std::vector<ScalingPoint> train_speedup;  ///< train takes train.mean_s / value with that many threads
  std::vector<ScalingPoint> device_batch_speedup;
  StageParts parts;
  std::optional<EvaluationProfile> evaluation{};  ///< absent without validation vertices
  Accesses features;                              ///< of feature rows
  Accesses topology;                              ///< of adjacency lists
  std::optional<ListBlocks> list_blocks{};        ///< of a graph in a store
  std::optional<StoreParts> store_parts{};        ///< of a graph whose vertices are ordered by part
  std::vector<HopCounts> hops;                    ///< from the seeds outwards; empty if unknown
  std::optional<BatchWork> work{};  ///< absent in documents of earlier versions, where it is estimated
  std::optional<HotCurves> hot{};
  std::optional<HotBatch> hot_batch{};
  std::vector<ThinBatch> thin_batches;          ///< by ascending size; empty if unknown
  std::vector<ResidentBatch> resident_batches;  ///< by ascending share; empty if unknown

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("graph", self.graph);
    f("vertices", self.vertices, base::non_negative);
    f("edges", self.edges, base::non_negative);
    f("max_degree", self.max_degree, positive_or_unknown);
    f("feature_columns", self.feature_columns, base::non_negative);
    f("feature_row_bytes", self.feature_row_bytes, base::non_negative);
    f("train_vertices", self.train_vertices, base::non_negative);
    f("job", self.job);
    f.required("batches", self.batches, base::Range{1, 1e9});
    f("batch_vertices", self.batch_vertices, base::non_negative);
    f("batch_edges", self.batch_edges, base::non_negative);
    f("batch_bytes", self.batch_bytes, base::non_negative);
    f("batch_deviations", self.batch_deviations);
    f.required("cpu_batch", self.cpu_batch);
    f.required("transfer", self.transfer);
    f.required("device_batch", self.device_batch);
    f.required("train", self.train);
    f("device_batch_link_s", self.device_batch_link_s, base::non_negative);
    f("worker_efficiency", self.worker_efficiency);
    f("cpu_batch_speedup", self.cpu_batch_speedup);
    f("cpu_sample_speedup", self.cpu_sample_speedup);
    f("train_speedup", self.train_speedup);
    f("device_batch_speedup", self.device_batch_speedup);
    f("parts", self.parts);
    f("evaluation", self.evaluation);
    f("features", self.features);
    f("topology", self.topology);
    f("list_blocks", self.list_blocks);
    f("store_parts", self.store_parts);
    f("hops", self.hops);
    f("work", self.work);
    f("hot", self.hot);
    f("hot_batch", self.hot_batch);
    f("thin_batches", self.thin_batches);
    f("resident_batches", self.resident_batches);
  }
};

}  // namespace gnomon::profiles
