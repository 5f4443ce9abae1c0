#include "tuner/surrogate/learned_accuracy.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tuner/surrogate/held_out.h"

namespace gnomon::tuner {
namespace {

constexpr TreesOptions accuracy_trees_options{.members = 4, .rounds = 100, .depth = 4, .rate = 0.1};
constexpr std::size_t fewest_runs = 10;
constexpr std::size_t fewest_kinds = 5;

/// The plan reduced to the fields that change its training.
plan::Plan training_part(const plan::Plan& plan) {
  plan::Plan part;
  if (plan.bias > 1) {
    part.bias = plan.bias;
    part.cache.policy = plan.cache.policy;
    part.cache.budget = plan.cache.budget;
  }
  if (plan.embeddings.reuse != plan::Reuse::none) {
    part.embeddings = plan.embeddings;
    part.super_batch = plan.super_batch;
  }
  if (plan.schedule == plan::Schedule::macro_batch) {
    part.schedule = plan.schedule;
    part.macro = plan.macro;
  }
  return part;
}

/// The mean over the hops of the share of an average vertex's neighbours that is drawn.
double sampled_share(const plan::Job& job, double mean_degree) {
  double share = 0;
  for (const int fanout : job.fanouts) {
    share += fanout < 0 || mean_degree <= fanout ? 1 : fanout / mean_degree;
  }
  return job.fanouts.empty() ? 1 : share / static_cast<double>(job.fanouts.size());
}

double updates_of(const plan::Job& job, const GraphSizes& graph) {
  const auto batch = std::max(1, job.batch_size);
  return static_cast<double>(job.epochs) * static_cast<double>((graph.train_vertices + batch - 1) / batch);
}

template <class Visit>
void visit_job(const GraphSizes& graph, const plan::Job& job, Visit visit) {
  const auto vertices = static_cast<double>(graph.vertices);
  const double mean_degree = vertices > 0 ? static_cast<double>(graph.edges) / vertices : 0;
  visit("graph.vertices", vertices);
  visit("graph.mean_degree", mean_degree);
  visit("graph.feature_columns", static_cast<double>(graph.feature_columns));
  visit("graph.train_vertices", static_cast<double>(graph.train_vertices));
  visit("job.model", static_cast<double>(job.model));
  visit("job.layers", job.layers());
  visit("job.sampled_share", sampled_share(job, mean_degree));
  visit("job.weighted", job.weighted ? 1 : 0);
  visit("job.batch_size", job.batch_size);
  visit("job.hidden", job.hidden);
  visit("job.dropout", job.dropout);
  visit("job.learning_rate", job.learning_rate);
  visit("job.weight_decay", job.weight_decay);
  visit("job.updates", updates_of(job, graph));
}

template <class Visit>
void visit_plan(const plan::Plan& whole, Visit visit) {
  const plan::Plan plan = training_part(whole);
  visit("plan.bias", plan.bias);
  visit("plan.cache.policy", static_cast<double>(plan.cache.policy));
  visit("plan.cache.budget", plan.cache.budget);
  visit("plan.embeddings.reuse", static_cast<double>(plan.embeddings.reuse));
  visit("plan.embeddings.hot_ratio", plan.embeddings.hot_ratio);
  visit("plan.super_batch", plan.super_batch);
  visit("plan.macro_batch", plan.schedule == plan::Schedule::macro_batch ? 1 : 0);
  visit("plan.macro.resident_share", static_cast<double>(plan.macro.resident) / plan.macro.partitions);
  visit("plan.macro.passes", plan.macro.passes);
  visit("plan.macro.hub_ratio", plan.macro.hub_ratio);
  visit("plan.macro.partitioner", static_cast<double>(plan.macro.partitioner));
  visit("plan.macro.fanout_factor", plan.macro.fanout_factor);
}

/// Runs with the same inputs differ only in their seeds and are therefore held out together, as a group.
std::vector<std::string> kinds_of(const std::vector<std::vector<double>>& rows) {
  std::vector<std::string> kinds;
  for (const auto& row : rows) {
    kinds.push_back(base::Json(row).dump());
  }
  return kinds;
}

}  // namespace

GraphSizes sizes_of(const profiles::WorkloadProfile& workload) {
  return {workload.graph, workload.vertices, workload.edges, workload.feature_columns,
          workload.train_vertices};
}

RecordedRun read_recorded_run(const std::filesystem::path& path) {
  const std::string where = path.string();
  base::Json document = base::parse_json(base::read_file(path), where);
  base::take_schema(document, "gnomon.training/1", where);
  for (const char* name : {"graph", "job", "plan", "test_accuracy"}) {
    if (!document.contains(name)) {
      throw base::InputError(where + ": " + name, "is missing; train again with this version of gnomon");
    }
  }
  if (!document["test_accuracy"].is_number()) {
    throw base::InputError(where + ": test_accuracy", "is not a number; the graph needs test vertices");
  }
  RecordedRun run;
  base::read_value(document["graph"], run.graph, where + ": graph", {});
  base::read_value(document["job"], run.job, where + ": job", {});
  base::read_value(document["plan"], run.plan, where + ": plan", {});
  base::read_value(document["test_accuracy"], run.accuracy, where + ": test_accuracy", {0, 1});
  if (document.contains("test_majority") && document["test_majority"].is_number()) {
    base::read_value(document["test_majority"], run.majority_share.emplace(), where + ": test_majority",
                     {0, 1});
  }
  return run;
}

std::vector<std::string> accuracy_input_names() {
  std::vector<std::string> names;
  const auto add = [&](const char* name, double) { names.emplace_back(name); };
  visit_job({}, {}, add);
  visit_plan({}, add);
  return names;
}

std::vector<double> accuracy_inputs(const GraphSizes& graph, const plan::Job& job, const plan::Plan& plan) {
  std::vector<double> inputs;
  const auto add = [&](const char*, double value) { inputs.push_back(value); };
  visit_job(graph, job, add);
  visit_plan(plan, add);
  return inputs;
}

bool is_at_majority(double accuracy, const std::optional<double>& majority_share) {
  constexpr double point = 0.01;
  return majority_share && accuracy <= *majority_share + point;
}

std::string accuracy_doubt(const LearnedAccuracy& learned) {
  const auto doubt = doubt_of(learned.model);
  return doubt.empty()
             ? ""
             : "accuracy is uncertain, its errors doubled and limits held against the lower end: on "
               "held-out runs " +
                   doubt;
}

namespace {

void note_majority(LearnedAccuracy& learned, const std::vector<RecordedRun>& runs) {
  std::map<std::string, double> shares;
  for (const RecordedRun& run : runs) {
    learned.runs_at_majority += is_at_majority(run.accuracy, run.majority_share) ? 1 : 0;
    if (run.majority_share) {
      shares[run.graph.name] = *run.majority_share;
    }
  }
  for (const auto& [graph, share] : shares) {
    learned.majority_shares.push_back({graph, share});
  }
}

}  // namespace

LearnedAccuracy learn_accuracy(const std::vector<RecordedRun>& runs, std::uint64_t seed) {
  LearningRows known;
  std::vector<std::string> graphs;
  for (const RecordedRun& run : runs) {
    known.rows.push_back(accuracy_inputs(run.graph, run.job, run.plan));
    known.values.push_back(run.accuracy);
    graphs.push_back(run.graph.name);
  }
  known.groups = kinds_of(known.rows);
  const auto kinds = std::set<std::string>(known.groups.begin(), known.groups.end()).size();
  if (runs.size() < fewest_runs || kinds < fewest_kinds) {
    throw base::InputError("surrogate", std::to_string(runs.size()) + " runs of " + std::to_string(kinds) +
                                            " kinds are too few to learn accuracy from; use 10 or more that "
                                            "differ in 5 ways or more, seeds not counted");
  }
  auto options = accuracy_trees_options;
  options.seed = seed;
  const std::set<std::string> names(graphs.begin(), graphs.end());
  LearnedAccuracy learned;
  learned.graphs.assign(names.begin(), names.end());
  learned.runs = std::ssize(runs);
  learned.inputs = ranges_of(accuracy_input_names(), known.rows);
  const auto of_known = hold_out(known, options);
  const BoostedTrees trees(known.rows, known.values, options);
  learned.model = {trees.save(), trees.importance(), of_known.r2, std::nullopt, of_known.rms_error};
  learned.known_error = of_known.rms_error;
  if (names.size() > 1) {
    known.groups = graphs;
    learned.unseen_error = hold_out(known, options).rms_error;
  }
  note_majority(learned, runs);
  return learned;
}

struct AccuracyPredictor::State {
  std::vector<LearnedInput> inputs;
  BoostedTrees trees;
  GraphSizes graph;
  plan::Job job;
  double error = 0;
  std::string doubt;
  std::optional<double> majority_share;
  std::vector<std::string> outside;  ///< independent of the plan
  std::map<std::vector<double>, AccuracyForecast> known;
};

AccuracyPredictor::AccuracyPredictor(const LearnedAccuracy& learned, GraphSizes graph, plan::Job job)
    : state_(std::make_shared<State>(
          State{.inputs = learned.inputs,
                .trees = BoostedTrees::load(learned.model.members, learned.inputs.size()),
                .graph = std::move(graph),
                .job = std::move(job),
                .error = learned.known_error,
                .doubt = accuracy_doubt(learned),
                .majority_share = {},
                .outside = {},
                .known = {}})) {
  const auto& graphs = learned.graphs;
  if (std::find(graphs.begin(), graphs.end(), state_->graph.name) == graphs.end()) {
    state_->error = learned.unseen_error.value_or(1);
    if (!learned.unseen_error) {
      state_->outside = {"graph: \"" + state_->graph.name +
                         "\" is another one than the only one that was learned"};
    }
  }
  if (!state_->doubt.empty()) {
    state_->error *= 2;
  }
  for (const auto& [name, share] : learned.majority_shares) {
    if (name == state_->graph.name) {
      state_->majority_share = share;
    }
  }
}

const std::string& AccuracyPredictor::doubt() const { return state_->doubt; }

AccuracyForecast AccuracyPredictor::of(const plan::Plan& plan) const {
  auto inputs = accuracy_inputs(state_->graph, state_->job, plan);
  const auto [found, is_new] = state_->known.try_emplace(std::move(inputs));
  if (is_new) {
    const auto& row = found->first;
    found->second = {.accuracy = state_->trees.at({row}).front().mean,
                     .error = state_->error,
                     .outside = state_->outside,
                     .in_doubt = !state_->doubt.empty(),
                     .majority_share = state_->majority_share};
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (auto text = outside_text(state_->inputs[c], row[c]); !text.empty()) {
        found->second.outside.push_back(std::move(text));
      }
    }
  }
  return found->second;
}

Constraint accuracy_known(const AccuracyPredictor& predictor) {
  return {"plans whose accuracy was learned",
          [predictor](const plan::Plan& plan) -> std::string {
            plan::Plan kind;
            kind.embeddings.reuse = plan.embeddings.reuse;
            kind.schedule =
                plan.schedule == plan::Schedule::macro_batch ? plan.schedule : plan::Schedule::sequential;
            if (!plan::changes_training(kind)) {
              return "";
            }
            for (const auto& text : predictor.of(kind).outside) {
              if (text.starts_with("plan.embeddings.reuse") || text.starts_with("plan.macro_batch")) {
                return "its accuracy was not learned: " + text;
              }
            }
            return "";
          },
          true};
}

Constraint accurate(const AccuracyPredictor& predictor, double floor) {
  return {"accuracy floor", [predictor, floor](const plan::Plan& plan) -> std::string {
            if (!plan::changes_training(plan)) {
              return "";
            }
            const auto forecast = predictor.of(plan);
            if (!forecast.outside.empty()) {
              return "its accuracy was not learned: " + forecast.outside.front();
            }
            return forecast.reliable() >= floor
                       ? ""
                       : "its accuracy is predicted to be " + base::Json(forecast.reliable()).dump() +
                             ", under the floor of " + base::Json(floor).dump();
          }};
}

}  // namespace gnomon::tuner
