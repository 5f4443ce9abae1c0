#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/prediction.h"
#include "tuner/surrogate/learned_accuracy.h"
#include "tuner/surrogate/learned_model.h"

namespace gnomon::tuner {

/// The names of the inputs, and their values for a resolved plan on a profile: sizes of the graph, the
/// batches and the model; quantities derived from them (values, products and messages of a training step) and
/// the overlap of the batches' neighbourhoods; cores, bandwidths and memory of the machine; the plan's memory
/// and all its fields. Stage times are not included, so that graphs for which only batch sizes are known can
/// be predicted (A3GNN learns from such statistics, too).
std::vector<std::string> learned_input_names();
std::vector<double> learned_inputs(const profiles::Profile& profile, const plan::Plan& plan);

/// The graph's name and size.
std::string graph_of(const profiles::WorkloadProfile& workload);

/// A plan on a workload, and its prediction.
struct LearnedSample {
  std::string graph;  ///< graph_of(); samples of one graph are held out together
  std::vector<double> inputs;
  double batches_per_s = 0;
  double memory_bytes = 0;  ///< at the peak: of a GPU, or of the host if there is none
};

LearnedSample sample_of(const profiles::Profile& profile, const plan::Plan& plan,
                        const sim::Prediction& prediction);

/// A surrogate file: models of the logarithms of throughput and memory, learned from profiles, and of
/// accuracy, learned from recorded runs. It holds for graphs and trainings like those that were learned.
struct Learned {
  static constexpr std::string_view schema = "gnomon.surrogate/1";
  std::vector<std::string> graphs;
  std::int64_t samples = 0;
  std::vector<LearnedInput> inputs;
  LearnedModel throughput;  ///< held-out R2: on graphs that were left out, as for memory
  LearnedModel memory;
  std::optional<LearnedAccuracy> accuracy;

  bool has_speed() const { return samples > 0; }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("graphs", self.graphs);
    f.required("samples", self.samples, base::non_negative);
    f.required("inputs", self.inputs);
    f.required("throughput", self.throughput);
    f.required("memory", self.memory);
    f("accuracy", self.accuracy);
  }
};

/// Learns from samples of at least five graphs. Throws InputError if there are fewer.
Learned learn(const std::vector<LearnedSample>& samples, std::uint64_t seed);

/// Reads and checks a surrogate file. Throws InputError.
Learned read_learned(const std::filesystem::path& path);

/// The forecast for a plan.
struct LearnedForecast {
  double batches_per_s = 0;
  double batches_per_s_error = 0;  ///< relative (error_of)
  double memory_bytes = 0;
  double memory_error = 0;
  /// Inputs beyond what was learned, as in "graph.vertices: 5e6 is over 1e6".
  std::vector<std::string> outside;
};

std::vector<LearnedForecast> forecast(const Learned& learned, const std::vector<std::vector<double>>& inputs);

}  // namespace gnomon::tuner
