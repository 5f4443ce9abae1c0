#pragma once

#include <cstdint>
#include <optional>

#include "base/document.h"
#include "profiles/ranges.h"

namespace gnomon::profiles {

/// The measured time of one stage for one batch, alone on the machine.
struct StageTime {
  double mean_s = 0;       ///< within an epoch: median of epochs' means, robust against bursts of other work
  double deviation_s = 0;  ///< standard deviation over batches
  double p5_s = 0, p50_s = 0, p95_s = 0;
  double interval_s = 0;  ///< half width of the mean's 95 % confidence interval
  std::int64_t samples = 0;
  bool converged = false;  ///< whether the interval reached the requested width before the time limit

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("mean_s", self.mean_s, base::non_negative);
    f("deviation_s", self.deviation_s, base::non_negative);
    f("p5_s", self.p5_s, base::non_negative);
    f("p50_s", self.p50_s, base::non_negative);
    f("p95_s", self.p95_s, base::non_negative);
    f("interval_s", self.interval_s, base::non_negative);
    f("samples", self.samples, base::non_negative);
    f("converged", self.converged);
  }
};

/// The speed of a stage with more threads or workers.
struct ScalingPoint {
  int threads = 1;
  double value = 1;
  /// Half width of the value's 95 % confidence interval, over it, if it was moved to another machine; absent
  /// if it was measured on this one, where it is as precise as the stage's time.
  std::optional<double> interval{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("threads", self.threads, base::Range{1, 4096});
    f.required("value", self.value, base::Range{1e-6, 1e6});
    f("interval", self.interval, base::non_negative);
  }
};

/// Parts of stages, for plans that omit a part or run it elsewhere. An unknown part of a stage's time is
/// estimated in proportion to the bytes that it reads.
struct StageParts {
  std::optional<double> cpu_sample_s{};     ///< part of cpu_batch that draws neighbours; the rest gathers
  std::optional<double> device_sample_s{};  ///< the same part of device_batch
  std::optional<double> device_sample_link_s{};  ///< part of device_batch_link_s that reads adjacency lists
  std::optional<double> biased_sample_ratio{};   ///< draws by weight (plan::Plan::bias) over uniform ones
  /// Host memory traffic of one batch; if unknown, stages that share memory are only slowed down by
  /// `Contention`.
  std::optional<double> cpu_batch_memory_bytes{};
  std::optional<double> transfer_memory_bytes{};
  std::optional<double> device_batch_memory_bytes{};
  std::optional<double> max_batch_bytes{};   ///< of the largest mini-batch, the size of a slot
  std::optional<double> activation_bytes{};  ///< peak device memory of training beyond batch and model
  /// One core: finding the hot vertices that a mini-batch will use (if unknown, part of refresh_s), and
  /// computing the bottom layer of a mini-batch of which all vertices are hot.
  std::optional<double> find_hot_s{};
  std::optional<double> refresh_s{};
  /// One core, beyond the time of a mini-batch in memory: what rows and lists of the disk take longer that
  /// are all in a cache in host memory.
  std::optional<double> disk_rows_s{};
  std::optional<double> disk_lists_s{};
  /// One core, of a mini-batch that was sampled ahead: deciding which rows an optimal cache holds.
  std::optional<double> cache_choices_s{};
  /// Copying a mini-batch without features over copying all of it.
  std::optional<double> structure_transfer_ratio{};
  /// Training after preparation that reads nothing over the link over training after one that reads all data
  /// over it: a core or a GPU that has waited is slower.
  std::optional<double> resident_train_ratio{};
  std::optional<double> fused_train_ratio{};  ///< training on stored rows over training on gathered rows
  /// The same of mini-batches that are drawn from a macro-batch, whose rows are read in place, and drawing
  /// them there over drawing them from the graph.
  std::optional<double> macro_train_ratio{};
  std::optional<double> macro_sample_ratio{};
  /// One core, for each edge that is sampled for a macro-batch: what it takes beside sampling and gathering
  /// as mini-batches do, which is mostly to make lists of the edges.
  std::optional<double> macro_edge_s{};
  /// One core, for each entry of the lists of a macro-batch's parts: finding its local id, with the halo.
  std::optional<double> halo_entry_s{};
  /// Mini-batches of one hop that reuse the embeddings of all vertices (plan::Reuse::all), over the job's:
  /// preparation by a CPU worker, and training with the pulls and pushes of embeddings.
  std::optional<double> one_hop_batch_ratio{};
  std::optional<double> one_hop_train_ratio{};
  std::optional<double> graphs_train_ratio{};  ///< training by recorded launches over launching one by one
  /// A GPU's preparation on measured_prepare_share of its thread slots over preparation on all of them.
  std::optional<double> prepare_share_ratio{};
  std::optional<double> parameter_bytes{};  ///< of the model's weights
  /// Of several devices on the host's cores, on one of them: the part of `train` that updates the weights,
  /// and the time per device to average gradients.
  std::optional<double> update_s{};
  std::optional<double> average_s{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("cpu_sample_s", self.cpu_sample_s, positive_or_unknown);
    f("device_sample_s", self.device_sample_s, positive_or_unknown);
    f("device_sample_link_s", self.device_sample_link_s, base::non_negative);
    f("biased_sample_ratio", self.biased_sample_ratio, positive_or_unknown);
    f("cpu_batch_memory_bytes", self.cpu_batch_memory_bytes, base::non_negative);
    f("transfer_memory_bytes", self.transfer_memory_bytes, base::non_negative);
    f("device_batch_memory_bytes", self.device_batch_memory_bytes, base::non_negative);
    f("max_batch_bytes", self.max_batch_bytes, positive_or_unknown);
    f("activation_bytes", self.activation_bytes, positive_or_unknown);
    f("find_hot_s", self.find_hot_s, positive_or_unknown);
    f("refresh_s", self.refresh_s, positive_or_unknown);
    f("disk_rows_s", self.disk_rows_s, base::non_negative);
    f("disk_lists_s", self.disk_lists_s, base::non_negative);
    f("cache_choices_s", self.cache_choices_s, base::non_negative);
    f("structure_transfer_ratio", self.structure_transfer_ratio, base::Range{0, 1, true});
    f("resident_train_ratio", self.resident_train_ratio, base::Range{0, 10, true});
    f("fused_train_ratio", self.fused_train_ratio, base::Range{0, 10, true});
    f("macro_train_ratio", self.macro_train_ratio, positive_or_unknown);
    f("macro_sample_ratio", self.macro_sample_ratio, positive_or_unknown);
    f("macro_edge_s", self.macro_edge_s, base::non_negative);
    f("halo_entry_s", self.halo_entry_s, positive_or_unknown);
    f("one_hop_batch_ratio", self.one_hop_batch_ratio, positive_or_unknown);
    f("one_hop_train_ratio", self.one_hop_train_ratio, positive_or_unknown);
    f("graphs_train_ratio", self.graphs_train_ratio, base::Range{0, 10, true});
    f("prepare_share_ratio", self.prepare_share_ratio, base::Range{0, 100, true});
    f("parameter_bytes", self.parameter_bytes, positive_or_unknown);
    f("update_s", self.update_s, base::non_negative);
    f("average_s", self.average_s, base::non_negative);
  }
};

}  // namespace gnomon::profiles
