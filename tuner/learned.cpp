#include "tuner/learned.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "tuner/boosted_trees.h"
#include "tuner/fields.h"
#include "tuner/held_out.h"

namespace gnomon::tuner {
namespace {

constexpr std::size_t fewest_graphs = 5;
constexpr TreesOptions trees_options{.members = 4, .rounds = 100, .depth = 5, .rate = 0.1};

/// Vertices of a batch if no two neighbourhoods had one in common.
double tree_vertices(const plan::Job& job) {
  double frontier = job.batch_size;
  double vertices = frontier;
  for (const int fanout : job.fanouts) {
    frontier *= std::max(1, fanout);
    vertices += frontier;
  }
  return vertices;
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
  visit("batch.distinct_share", workload.batch_vertices / tree_vertices(workload.job));
  visit("job.batch_size", workload.job.batch_size);
  visit("job.layers", workload.job.layers());
  visit("job.hidden", workload.job.hidden);
  visit("job.model", static_cast<double>(workload.job.model));
  const auto& machine = profile.machine;
  visit("machine.cores", machine.cpu.cores);
  visit("machine.gpu", machine.device.kind == profiles::DeviceKind::cuda ? 1 : 0);
  visit("machine.memory_bandwidth", machine.cpu.memory_bandwidth_bytes_per_s);
  visit("machine.device_bandwidth", machine.device.memory_bandwidth_bytes_per_s);
  visit("machine.device_memory", machine.device.memory_bytes);
  visit("machine.link_bandwidth", machine.link.bandwidth_bytes_per_s);
}

std::size_t column_of(const std::string& name) {
  const auto names = learned_input_names();
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// By which throughput is multiplied before it is learned, as most of its differences are those of the
/// batches' sizes.
double work_of(const std::vector<double>& inputs) {
  static const std::size_t column = column_of("batch.bytes");
  return std::max(1.0, inputs[column]);
}

TreesOptions options_with(std::uint64_t seed) {
  auto options = trees_options;
  options.seed = seed;
  return options;
}

LearnedModel model_of(const LearningRows& all, std::uint64_t seed) {
  const auto options = options_with(seed);
  const BoostedTrees trees(all.rows, all.values, options);
  return {trees.save(), trees.importance(), hold_out(all, options).r2};
}

}  // namespace

std::vector<std::string> learned_input_names() {
  std::vector<std::string> names;
  visit_workload({}, [&](const char* name, double) { names.emplace_back(name); });
  for (const Field& field : plan_fields()) {
    names.push_back("plan." + field.path);
  }
  return names;
}

std::vector<double> learned_inputs(const profiles::Profile& profile, const plan::Plan& plan) {
  std::vector<double> inputs;
  visit_workload(profile, [&](const char*, double value) { inputs.push_back(value); });
  const auto values = field_values(plan);
  inputs.insert(inputs.end(), values.begin(), values.end());
  return inputs;
}

LearnedSample sample_of(const profiles::Profile& profile, const plan::Plan& plan,
                        const sim::Prediction& prediction) {
  const bool has_gpu = profile.machine.device.kind == profiles::DeviceKind::cuda;
  const auto& memory = prediction.memory;
  return {profile.workload.graph, learned_inputs(profile, plan),
          static_cast<double>(profile.workload.batches) / prediction.epoch_s,
          has_gpu ? memory.device.total() : memory.host.total()};
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
    throughput.values.push_back(std::log(sample.batches_per_s * work_of(sample.inputs)));
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
  const auto columns = learned.inputs.size();
  const auto throughput = BoostedTrees::load(learned.throughput.members, columns).at(inputs);
  const auto memory = BoostedTrees::load(learned.memory.members, columns).at(inputs);
  std::vector<LearnedForecast> forecasts;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto& one = forecasts.emplace_back();
    one.batches_per_s = std::exp(throughput[i].mean) / work_of(inputs[i]);
    one.batches_per_s_error = std::sqrt(throughput[i].variance);
    one.memory_bytes = std::exp(memory[i].mean);
    one.memory_error = std::sqrt(memory[i].variance);
    for (std::size_t c = 0; c < columns; ++c) {
      if (auto text = outside_text(learned.inputs[c], inputs[i][c]); !text.empty()) {
        one.outside.push_back(std::move(text));
      }
    }
  }
  return forecasts;
}

}  // namespace gnomon::tuner
