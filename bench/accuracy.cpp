// Trains on the real graphs in a directory and compares the test accuracies with published ones:
//   bench_accuracy FOLDER [-o FILE.json] [--seeds N] [--only GRAPH] [--model MODEL]
// The settings are those of the papers that published the accuracies; a setting that a paper leaves open is
// chosen on the validation set.

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/document.h"
#include "graph/import/import.h"
#include "plan/plan.h"
#include "runtime/training/trainer.h"

namespace {

namespace fs = std::filesystem;
using gnomon::base::Json;
using gnomon::graph::RowNorm;
using gnomon::plan::ModelKind;

/// A published mean test accuracy and the job that should reproduce it.
struct Case {
  std::string graph;
  bool given_split = false;  ///< otherwise 20 training and 30 validation vertices per class, drawn by seed,
                             ///< largest component
  RowNorm normalise = RowNorm::none;  ///< GCN also learns from raw counts; GraphSAGE does not
  double published = 0;               ///< percent
  std::string source;
  gnomon::plan::Job job;
};

gnomon::plan::Job full_neighbour_job(ModelKind model, int hidden, int heads, double dropout,
                                     double learning_rate, double weight_decay) {
  gnomon::plan::Job job;
  job.model = model;
  job.fanouts = {-1, -1};
  job.batch_size = 4096;
  job.hidden = hidden;
  job.heads = heads;
  job.dropout = dropout;
  job.learning_rate = learning_rate;
  job.weight_decay = weight_decay;
  job.epochs = 400;
  job.patience = 100;
  return job;
}

std::vector<Case> cases() {
  const std::string kipf = "Kipf and Welling 2017";
  const std::string velickovic = "Velickovic et al. 2018";
  const std::string shchur = "Shchur et al. 2018, Table 1";
  const auto gcn = full_neighbour_job(ModelKind::gcn, 16, 1, 0.5, 0.01, 5e-4);
  const auto gat = full_neighbour_job(ModelKind::gat, 64, 8, 0.6, 0.005, 5e-4);
  const auto wide_gcn = full_neighbour_job(ModelKind::gcn, 64, 1, 0.5, 0.01, 5e-4);
  const auto sage = full_neighbour_job(ModelKind::sage, 64, 1, 0.5, 0.02, 5e-4);
  const auto slow_sage = full_neighbour_job(ModelKind::sage, 64, 1, 0.5, 0.01, 5e-4);
  // Physics has 8,415 columns, and its evaluation costs more than an epoch: train few epochs of several
  // sampled batches.
  const auto sampled = [](gnomon::plan::Job job) {
    job.fanouts = {10, 10};
    job.batch_size = 25;
    job.epochs = 20;
    job.patience = 6;
    return job;
  };
  const auto shorter = [](gnomon::plan::Job job) {
    job.epochs = 200;
    job.patience = 40;
    return job;
  };
  return {
      {"cora", true, RowNorm::l1, 81.5, kipf, gcn},
      {"cora", true, RowNorm::l1, 83.0, velickovic, gat},
      {"citeseer", true, RowNorm::l1, 70.3, kipf, gcn},
      {"coauthor_phy", false, RowNorm::none, 92.8, shchur, sampled(wide_gcn)},
      {"coauthor_phy", false, RowNorm::l1, 93.0, shchur, sampled(sage)},
      {"amazon_cs", false, RowNorm::none, 82.6, shchur, shorter(wide_gcn)},
      {"amazon_cs", false, RowNorm::l2, 82.4, shchur, shorter(slow_sage)},
  };
}

gnomon::graph::Graph import_case(const Case& each, const fs::path& folder, const fs::path& store,
                                 std::uint64_t seed) {
  gnomon::graph::ImportOptions options;
  options.source = (folder / (each.graph + ".npz")).string();
  options.content.edges.undirected = true;
  options.content.edges.self_loops = gnomon::graph::SelfLoops::remove;
  options.content.normalise_features = each.normalise;
  if (!each.given_split) {
    options.content.largest_component = true;
    options.content.split.method = gnomon::graph::SplitMethod::per_class;
    options.content.split.seed = seed;
  }
  gnomon::graph::import_graph(options, store);
  return gnomon::graph::open_store(store);
}

double train_once(const Case& each, const fs::path& folder, std::uint64_t seed) {
  const fs::path store =
      fs::temp_directory_path() / ("gnomon_accuracy_" + each.graph + "_" + std::to_string(seed));
  fs::remove_all(store);
  const auto graph = import_case(each, folder, store, seed);
  gnomon::runtime::TrainOptions options;
  options.job = each.job;
  options.job.seed = seed;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.plan = gnomon::plan::resolve(gnomon::plan::find_plan("device"), {cores}, "device");
  const double accuracy = 100 * gnomon::runtime::train(graph, options).test_accuracy;
  fs::remove_all(store);
  return accuracy;
}

struct Result {
  double mean = 0;
  double deviation = 0;
};

Result summarise(const std::vector<double>& values) {
  Result result;
  for (const double value : values) {
    result.mean += value / static_cast<double>(values.size());
  }
  for (const double value : values) {
    result.deviation += (value - result.mean) * (value - result.mean);
  }
  result.deviation =
      values.size() > 1 ? std::sqrt(result.deviation / static_cast<double>(values.size() - 1)) : 0;
  return result;
}

Json run_case(const Case& each, const fs::path& folder, int seeds) {
  std::vector<double> accuracies;
  for (int seed = 0; seed < seeds; ++seed) {
    accuracies.push_back(train_once(each, folder, static_cast<std::uint64_t>(seed)));
  }
  const auto [mean, deviation] = summarise(accuracies);
  std::printf("| %s | %s | %.1f ± %.1f | %.1f | %+.1f | %s |\n", each.graph.c_str(),
              std::string(gnomon::base::name_of(each.job.model)).c_str(), mean, deviation, each.published,
              mean - each.published, each.source.c_str());
  std::fflush(stdout);
  return {{"graph", each.graph},         {"mean", mean},
          {"deviation", deviation},      {"normalise_features", gnomon::base::name_of(each.normalise)},
          {"published", each.published}, {"accuracies", accuracies},
          {"source", each.source},       {"job", gnomon::base::write_value(each.job)}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Compare test accuracies on real graphs with published ones");
  std::string folder;
  std::string output;
  std::string only;
  std::string model;
  int seeds = 5;
  app.add_option("FOLDER", folder, "directory of cora.npz, coauthor_phy.npz, …")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("-o,--output", output, "write the results to this JSON file");
  app.add_option("--seeds", seeds, "number of runs per case")->check(CLI::Range(1, 1000));
  app.add_option("--only", only, "run only this graph");
  app.add_option("--model", model, "run only this model");
  CLI11_PARSE(app, argc, argv);
  std::cout << "| graph | model | test accuracy, % | published | difference | source "
               "|\n|---|---|---|---|---|---|\n";
  Json rows = Json::array();
  for (const auto& each : cases()) {
    const bool is_wanted = (only.empty() || only == each.graph) &&
                           (model.empty() || model == gnomon::base::name_of(each.job.model));
    if (is_wanted) {
      rows.push_back(run_case(each, folder, seeds));
    }
  }
  if (!output.empty()) {
    const Json document = {{"schema", "gnomon.accuracy/1"}, {"seeds", seeds}, {"rows", rows}};
    gnomon::base::write_file_atomically(output, document.dump(2) + "\n");
  }
  return 0;
}
