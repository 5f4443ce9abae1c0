#include "tuner/surrogate/learned.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "plan/fields.h"
#include "tuner/models/boosted_trees.h"
#include "tuner/surrogate/held_out.h"

namespace gnomon::tuner {
namespace {

constexpr std::size_t fewest_graphs = 5;
constexpr TreesOptions trees_options{.members = 4, .rounds = 100, .depth = 3, .rate = 0.1};

/// Vertices of a batch within 0, 1, … hops of its seeds if neighbourhoods were disjoint.
std::vector<double> tree_vertices(const plan::Job& job) {
  double frontier = job.batch_size;
  std::vector<double> vertices = {frontier};
  for (const int fanout : job.fanouts) {
    frontier *= std::max(1, fanout);
    vertices.push_back(vertices.back() + frontier);
  }
  return vertices;
}

/// Approximate multiplications in the dense products of a training step: the numbers of distinct vertices are
/// interpolated geometrically from the seeds to the counted vertices of a batch. The number of classes is not
/// in a profile.
double products_of(const profiles::WorkloadProfile& workload) {
  const auto& job = workload.job;
  auto vertices = tree_vertices(job);
  const double distinct = workload.batch_vertices / vertices.back();
  const int layers = job.layers();
  for (int hop = 0; hop <= layers; ++hop) {
    double& within = vertices[static_cast<std::size_t>(hop)];
    within =
        std::min(within * std::pow(distinct, static_cast<double>(hop) / layers), workload.batch_vertices);
  }
  double products = 0;
  for (int layer = 0; layer < layers; ++layer) {
    const double sources = vertices[static_cast<std::size_t>(layers - layer)];
    const double destinations = vertices[static_cast<std::size_t>(layers - layer - 1)];
    const double rows = job.model == plan::ModelKind::gat    ? sources
                        : job.model == plan::ModelKind::sage ? 2 * destinations
                                                             : destinations;
    const double in = layer == 0 ? static_cast<double>(workload.feature_columns) : job.hidden;
    products += rows * in * job.hidden * (layer == 0 ? 2 : 3);  // no gradient of the features
  }
  return products;
}

/// Calls `visit` with the name and number of everything but the plan.
template <class Visit>
void visit_workload(const profiles::Profile& profile, Visit visit) {
  const auto& workload = profile.workload;
  const auto vertices = static_cast<double>(workload.vertices);
  const auto edges = static_cast<double>(workload.edges);
  visit("graph.vertices", vertices);
  visit("graph.edges", edges);
  visit("graph.mean_degree", vertices > 0 ? edges / vertices : 0);
  visit("graph.feature_row_bytes", static_cast<double>(workload.feature_row_bytes));
  visit("graph.bytes", sim::features_bytes(workload) + sim::topology_bytes(workload));
  visit("batch.vertices", workload.batch_vertices);
  visit("batch.edges", workload.batch_edges);
  visit("batch.bytes", workload.batch_bytes);
  visit("batch.distinct_share", workload.batch_vertices / tree_vertices(workload.job).back());
  visit("batch.values", workload.batch_vertices * static_cast<double>(workload.feature_columns));
  visit("batch.products", products_of(workload));
  visit("batch.messages", workload.batch_edges * workload.job.hidden);
  visit("job.batch_size", workload.job.batch_size);
  visit("job.layers", workload.job.layers());
  visit("job.hidden", workload.job.hidden);
  visit("job.sage", workload.job.model == plan::ModelKind::sage ? 1 : 0);
  visit("job.gat", workload.job.model == plan::ModelKind::gat ? 1 : 0);
  const auto& machine = profile.machine;
  visit("machine.cores", machine.cpu.cores);
  visit("machine.gpu", machine.device.kind == profiles::DeviceKind::cuda ? 1 : 0);
  // Unknown quantities are 0, which no known one is, so trees can split them off.
  visit("machine.memory_bandwidth", machine.cpu.memory_bandwidth_bytes_per_s.value_or(0));
  visit("machine.device_bandwidth", machine.device.memory_bandwidth_bytes_per_s.value_or(0));
  visit("machine.device_memory", machine.device.memory_bytes.value_or(0));
  visit("machine.link_bandwidth", machine.link.bandwidth_bytes_per_s.value_or(0));
}

/// Approximate memory of a plan: the graph, mini-batches in buffers and in preparation, and the features of a
/// training step.
double held_bytes(const profiles::WorkloadProfile& workload, const plan::Plan& plan) {
  const double batches = plan.cpu_buffer + plan.device_buffer + plan.workers;
  return sim::features_bytes(workload) + sim::topology_bytes(workload) + batches * workload.batch_bytes +
         workload.batch_vertices * static_cast<double>(workload.feature_columns) * sim::value_bytes;
}

/// Calls `visit` with the name and value of every size, the inputs of trends.
template <class Visit>
void visit_sizes(const profiles::Profile& profile, const plan::Plan& plan, Visit visit) {
  visit_workload(profile, visit);
  visit("plan.bytes", held_bytes(profile.workload, plan));
}

std::size_t number_of_sizes() {
  std::size_t number = 0;
  visit_sizes({}, {}, [&](const char*, double) { ++number; });
  return number;
}

TreesOptions options_with(std::uint64_t seed) {
  auto options = trees_options;
  options.seed = seed;
  return options;
}

/// Trees on the residuals of the trend.
struct TrendAndTrees {
  LearnedTrend trend;
  BoostedTrees trees;

  std::vector<Normal> at(const std::vector<std::vector<double>>& rows) const {
    auto found = trees.at(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      found[i].mean += trend.at(rows[i]);
    }
    return found;
  }
};

TrendAndTrees fit(const LearningRows& known, const TreesOptions& options) {
  auto trend = fit_trend(known.rows, known.values, number_of_sizes());
  auto left = known.values;
  for (std::size_t i = 0; i < left.size(); ++i) {
    left[i] -= trend.at(known.rows[i]);
  }
  return {std::move(trend), BoostedTrees(known.rows, left, options)};
}

TrendAndTrees load(const LearnedModel& model) {
  return {model.trend.value_or(LearnedTrend{}), BoostedTrees::load(model.members, model.importance.size())};
}

/// The trees' importance is scaled by the variance that the trend leaves unexplained.
std::vector<double> importance_of(const TrendAndTrees& model, const LearningRows& all) {
  const auto of_trees = model.trees.importance();
  auto importance = trend_importance(model.trend, all.rows, all.values, of_trees.size());
  const double left = 1 - std::accumulate(importance.begin(), importance.end(), 0.0);
  for (std::size_t i = 0; i < importance.size(); ++i) {
    importance[i] += left * of_trees[i];
  }
  return importance;
}

LearnedModel model_of(const LearningRows& all, std::uint64_t seed) {
  const auto options = options_with(seed);
  const auto model = fit(all, options);
  const auto held_out =
      hold_out(all, [&](const LearningRows& known, const std::vector<std::vector<double>>& others) {
        return fit(known, options).at(others);
      });
  return {model.trees.save(), importance_of(model, all), held_out.r2, model.trend, held_out.rms_error};
}

}  // namespace

std::vector<std::string> learned_input_names() {
  std::vector<std::string> names;
  visit_sizes({}, {}, [&](const char* name, double) { names.emplace_back(name); });
  for (const auto& field : plan::plan_fields()) {
    names.push_back("plan." + field.path);
  }
  return names;
}

std::vector<double> learned_inputs(const profiles::Profile& profile, const plan::Plan& plan) {
  std::vector<double> inputs;
  visit_sizes(profile, plan, [&](const char*, double value) { inputs.push_back(value); });
  const auto values = field_values(plan);
  inputs.insert(inputs.end(), values.begin(), values.end());
  return inputs;
}

std::string graph_of(const profiles::WorkloadProfile& workload) {
  return workload.graph + ", " + std::to_string(workload.vertices) + " vertices, " +
         std::to_string(workload.edges) + " edges";
}

LearnedSample sample_of(const profiles::Profile& profile, const plan::Plan& plan,
                        const sim::Prediction& prediction) {
  const auto& memory = prediction.memory;
  const auto& workload = profile.workload;
  return {graph_of(workload), learned_inputs(profile, plan),
          static_cast<double>(workload.batches) / prediction.epoch_s,
          plan::has_link(profile.machine.device.kind) ? memory.device.total() : memory.host.total()};
}

Learned learn(const std::vector<LearnedSample>& samples, std::uint64_t seed) {
  LearningRows throughput;
  LearningRows memory;
  std::set<std::string> graphs;
  for (const auto& sample : samples) {
    if (!std::isfinite(std::log(sample.batches_per_s)) || sample.memory_bytes <= 0) {
      continue;  // it does not fit, or nothing is known of its memory
    }
    graphs.insert(sample.graph);
    for (LearningRows* target : {&throughput, &memory}) {
      target->rows.push_back(sample.inputs);
      target->groups.push_back(sample.graph);
    }
    throughput.values.push_back(std::log(sample.batches_per_s));
    memory.values.push_back(std::log(sample.memory_bytes));
  }
  if (graphs.size() < fewest_graphs) {
    throw base::InputError("surrogate", std::to_string(graphs.size()) +
                                            " graphs are too few to tell how well others are predicted; use "
                                            "profiles of 5 or more");
  }
  Learned learned;
  learned.graphs.assign(graphs.begin(), graphs.end());
  learned.samples = std::ssize(throughput.rows);
  learned.inputs = ranges_of(learned_input_names(), throughput.rows);
  learned.throughput = model_of(throughput, seed);
  learned.memory = model_of(memory, seed);
  return learned;
}

Learned read_learned(const std::filesystem::path& path) {
  auto learned = base::read_document<Learned>(path);
  const auto names = learned_input_names();
  const auto& accuracy = learned.accuracy;
  const bool is_ours = (!learned.has_speed() || (goes_with(learned.inputs, learned.throughput, names) &&
                                                 goes_with(learned.inputs, learned.memory, names))) &&
                       (!accuracy || goes_with(accuracy->inputs, accuracy->model, accuracy_input_names()));
  if (!is_ours) {
    throw base::InputError(path.string() + ": inputs",
                           "are not those of this version of gnomon; learn again");
  }
  return learned;
}

std::vector<LearnedForecast> forecast(const Learned& learned,
                                      const std::vector<std::vector<double>>& inputs) {
  const auto throughput = load(learned.throughput).at(inputs);
  const auto memory = load(learned.memory).at(inputs);
  std::vector<LearnedForecast> forecasts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& one = forecasts.emplace_back();
    one.batches_per_s = std::exp(throughput[i].mean);
    one.batches_per_s_error = error_of(learned.throughput, std::sqrt(throughput[i].variance));
    one.memory_bytes = std::exp(memory[i].mean);
    one.memory_error = error_of(learned.memory, std::sqrt(memory[i].variance));
    for (std::size_t c = 0; c < learned.inputs.size(); ++c) {
      if (auto text = outside_text(learned.inputs[c], inputs[i][c]); !text.empty()) {
        one.outside.push_back(std::move(text));
      }
    }
  }
  return forecasts;
}

}  // namespace gnomon::tuner
