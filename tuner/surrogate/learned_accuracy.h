#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "tuner/space/space.h"
#include "tuner/surrogate/learned_model.h"

namespace gnomon::tuner {

/// Sizes of a graph that accuracy may depend on.
struct GraphSizes {
  std::string name;
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::int64_t feature_columns = 0;
  std::int64_t train_vertices = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f.required("vertices", self.vertices, base::non_negative);
    f.required("edges", self.edges, base::non_negative);
    f.required("feature_columns", self.feature_columns, base::non_negative);
    f.required("train_vertices", self.train_vertices, base::non_negative);
  }
};

GraphSizes sizes_of(const profiles::WorkloadProfile& workload);

/// A training that was recorded, and the accuracy that it reached.
struct RecordedRun {
  GraphSizes graph;
  plan::Job job;
  plan::Plan plan;
  double accuracy = 0;  ///< on test vertices, 0 to 1
};

/// From a training's document (gnomon.training/1), where it reached an accuracy. Throws InputError.
RecordedRun read_recorded_run(const std::filesystem::path& path);

/// The inputs' names and values: the graph's sizes, the job, and of the plan what changes the training. Exact
/// plans have the same.
std::vector<std::string> accuracy_input_names();
std::vector<double> accuracy_inputs(const GraphSizes& graph, const plan::Job& job, const plan::Plan& plan);

/// A model of the accuracy that a training reaches, learned from recorded runs: part of a surrogate's file.
struct LearnedAccuracy {
  std::vector<std::string> graphs;
  std::int64_t runs = 0;
  std::vector<LearnedInput> inputs;
  LearnedModel model;  ///< its held-out R2 is of known graphs: runs of the same inputs are held out together
  double known_error = 0;              ///< root mean square, of runs held out likewise
  std::optional<double> unseen_error;  ///< likewise, of graphs held out; none with a single graph

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("graphs", self.graphs);
    f.required("runs", self.runs, base::non_negative);
    f.required("inputs", self.inputs);
    f.required("model", self.model);
    f.required("known_error", self.known_error, base::non_negative);
    f("unseen_error", self.unseen_error, base::non_negative);
  }
};

/// Learns from ten runs or more that differ in five ways or more, seeds not counted. Throws InputError when
/// there are fewer.
LearnedAccuracy learn_accuracy(const std::vector<RecordedRun>& runs, std::uint64_t seed);

struct AccuracyForecast {
  double accuracy = 0;
  double error = 0;                  ///< held-out: LearnedAccuracy's known_error or unseen_error
  std::vector<std::string> outside;  ///< inputs beyond what was learned
};

/// A learned model beside one graph and job. Copies share their memory.
class AccuracyPredictor {
 public:
  /// Throws InputError where the model is none of XGBoost's.
  AccuracyPredictor(const LearnedAccuracy& learned, GraphSizes graph, plan::Job job);

  /// Remembers what it was asked.
  AccuracyForecast of(const plan::Plan& plan) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Plans that train exactly, and those whose way of not doing so (embeddings that are reused, macro-batches)
/// was among what was learned: a constraint by field, that keeps a space small.
Constraint accuracy_known(const AccuracyPredictor& predictor);

/// Plans that train exactly, and those whose accuracy was learned and is predicted to be `floor` or more.
Constraint accurate(const AccuracyPredictor& predictor, double floor);

}  // namespace gnomon::tuner
