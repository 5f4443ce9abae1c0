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

/// The sizes of a graph that are inputs of the accuracy model.
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

/// A recorded training and the accuracy that it reached.
struct RecordedRun {
  GraphSizes graph;
  plan::Job job;
  plan::Plan plan;
  double accuracy = 0;  ///< on test vertices, 0 to 1
  /// The accuracy of always predicting the most frequent class; absent in documents of earlier versions.
  std::optional<double> majority_share{};
};

/// Whether an accuracy is within one point of the majority-class baseline, so that nothing was learned.
bool is_at_majority(double accuracy, const std::optional<double>& majority_share);

/// Reads a training's document (gnomon.training/1). Throws InputError, also if it reached no accuracy.
RecordedRun read_recorded_run(const std::filesystem::path& path);

/// The names and values of the inputs: the graph's sizes, the job, and the plan's fields that change the
/// training. All exact plans have the same values.
std::vector<std::string> accuracy_input_names();
std::vector<double> accuracy_inputs(const GraphSizes& graph, const plan::Job& job, const plan::Plan& plan);

/// The accuracy of always predicting the most frequent class of a graph.
struct MajorityShare {
  std::string graph;
  double share = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("graph", self.graph);
    f.required("share", self.share, base::Range{0, 1});
  }
};

/// A model of the accuracy that a training reaches, learned from recorded runs; part of a surrogate file.
struct LearnedAccuracy {
  std::vector<std::string> graphs;
  std::int64_t runs = 0;
  std::vector<LearnedInput> inputs;
  LearnedModel model;      ///< held-out R2: on known graphs; runs with equal inputs are held out together
  double known_error = 0;  ///< root mean square over held-out runs of known graphs
  std::optional<double> unseen_error;  ///< root mean square over held-out graphs; absent with a single graph
  std::vector<MajorityShare> majority_shares{};  ///< of the graphs whose runs recorded it
  std::int64_t runs_at_majority = 0;             ///< runs that learned nothing

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("graphs", self.graphs);
    f.required("runs", self.runs, base::non_negative);
    f.required("inputs", self.inputs);
    f.required("model", self.model);
    f.required("known_error", self.known_error, base::non_negative);
    f("unseen_error", self.unseen_error, base::non_negative);
    f("majority_shares", self.majority_shares);
    f("runs_at_majority", self.runs_at_majority, base::non_negative);
  }
};

/// Learns from at least ten runs with at least five different inputs (seeds not counted). Throws InputError
/// if there are fewer.
LearnedAccuracy learn_accuracy(const std::vector<RecordedRun>& runs, std::uint64_t seed);

/// Why a model of accuracy is uncertain; empty if it is not.
std::string accuracy_doubt(const LearnedAccuracy& learned);

struct AccuracyForecast {
  double accuracy = 0;
  double error = 0;  ///< LearnedAccuracy::known_error or unseen_error; twice that if the model is in doubt
  std::vector<std::string> outside{};      ///< inputs beyond what was learned
  bool in_doubt = false;                   ///< whether the model explains little of held-out runs
  std::optional<double> majority_share{};  ///< of the graph, if known

  /// A conservative value: minus the error if the model is in doubt.
  double reliable() const { return in_doubt ? accuracy - error : accuracy; }
};

/// A learned model for one graph and job. Copies share their state.
class AccuracyPredictor {
 public:
  /// Throws InputError if the model is not one of XGBoost's.
  AccuracyPredictor(const LearnedAccuracy& learned, GraphSizes graph, plan::Job job);

  /// The forecast for a plan, computed once for each input.
  AccuracyForecast of(const plan::Plan& plan) const;
  /// accuracy_doubt() of the model.
  const std::string& doubt() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Allows exact plans, and approximate plans of a kind (reused embeddings, macro-batches) that was among the
/// learned runs. A constraint by field, which keeps the space small.
Constraint accuracy_known(const AccuracyPredictor& predictor);

/// Allows exact plans, and approximate plans with a known predicted accuracy of at least `floor`
/// (AccuracyForecast::reliable).
Constraint accurate(const AccuracyPredictor& predictor, double floor);

}  // namespace gnomon::tuner
