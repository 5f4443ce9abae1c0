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

/// The inputs' names, and those of a plan that was resolved on a profile: sizes of graph, batches and model,
/// what follows from them (values, products and messages of a training), and how batches' neighbourhoods
/// coincide; cores, bandwidths and memory of the machine; what the plan holds in memory, and all its fields.
/// No stage's time is one of them, so that a graph of which nothing but its batches' sizes is known can be
/// asked about (A3GNN learns from such statistics too).
std::vector<std::string> learned_input_names();
std::vector<double> learned_inputs(const profiles::Profile& profile, const plan::Plan& plan);

/// A plan on a workload, and what came of it.
struct LearnedSample {
  std::string graph;  ///< name and size; samples of the same one are held out together
  std::vector<double> inputs;
  double batches_per_s = 0;
  double memory_bytes = 0;  ///< at the peak: of a GPU, or of the host where there is none
};

LearnedSample sample_of(const profiles::Profile& profile, const plan::Plan& plan,
                        const sim::Prediction& prediction);

/// Models of throughput and memory for plans on any graph like those that were learned, of their logarithms,
/// and of the accuracy of trainings like those that were recorded: a file. Without recorded runs there is no
/// accuracy, without profiles nothing else.
struct Learned {
  static constexpr std::string_view schema = "gnomon.surrogate/1";
  std::vector<std::string> graphs;
  std::int64_t samples = 0;
  std::vector<LearnedInput> inputs;
  LearnedModel throughput;  ///< its held-out R2 is of graphs that it had not seen; so is memory's
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

/// Learns from samples of five graphs or more. Throws InputError when there are fewer.
Learned learn(const std::vector<LearnedSample>& samples, std::uint64_t seed);

/// Reads and checks a file of learn's. Throws InputError.
Learned read_learned(const std::filesystem::path& path);

/// What a learned model says of a plan.
struct LearnedForecast {
  double batches_per_s = 0;
  double batches_per_s_error = 0;  ///< relative: the standard deviation of the models' opinions
  double memory_bytes = 0;
  double memory_error = 0;
  std::vector<std::string> outside;  ///< inputs beyond what was learned, "graph.vertices: 5e6 is over 1e6"
};

std::vector<LearnedForecast> forecast(const Learned& learned, const std::vector<std::vector<double>>& inputs);

}  // namespace gnomon::tuner
