#include <algorithm>
#include <array>

#include "reproduce/paper.h"
#include "reproduce/papers.h"
#include "reproduce/stages.h"

namespace gnomon::reproduce {
namespace {

/// Share of bottom-layer visits that go to hot vertices, and what is left of the CPU's work for them when one
/// embedding serves many visits (papers.h).
constexpr double hot_visits = 0.84;
constexpr double refreshed = 0.3;

/// Batches of a simulated epoch; no data set of the paper has fewer.
constexpr std::int64_t batches = 200;

/// Seconds of a DGL epoch (Table 2).
struct DglEpoch {
  double sample_s = 0;
  double collect_s = 0;
  double transfer_s = 0;
  double train_s = 0;

  double total_s() const { return sample_s + collect_s + transfer_s + train_s; }
};

/// What else the effects depend on.
struct Setting {
  double bottom_share = 0.65;
  double embedding_bytes = 0;  ///< of the embeddings that travel, relative to the rows that travelled
  double gpu_sampling = 1;     ///< how much faster the GPU samples
};

/// Seconds of an epoch by resource.
struct Split {
  double cpu_s = 0;
  double transfer_s = 0;
  double gpu_s = 0;
};

Split layer_split(const DglEpoch& dgl, const Setting& setting) {
  const double b = setting.bottom_share;
  return {b * dgl.sample_s + dgl.collect_s, dgl.transfer_s * setting.embedding_bytes,
          (1 - b) * (dgl.sample_s / setting.gpu_sampling + dgl.train_s) + b * dgl.train_s / 2};
}

Split with_hot_embeddings(const DglEpoch& dgl, const Setting& setting) {
  const double b = setting.bottom_share;
  const Split split = layer_split(dgl, setting);
  const double cold_s = b * dgl.sample_s / setting.gpu_sampling + dgl.transfer_s + b * dgl.train_s / 2;
  // Cold rows are read by the GPU's own kernels: that time is the GPU's.
  return {hot_visits * refreshed * split.cpu_s, hot_visits * split.transfer_s,
          split.gpu_s + (1 - hot_visits) * cold_s};
}

double simulate(sim::Simulator& simulator, plan::Schedule schedule, const Split& split) {
  sim::StageCosts costs;
  costs.cpu_batch_s = split.cpu_s / batches;
  costs.transfer_s = split.transfer_s / batches;
  costs.train_s = split.gpu_s / batches;
  return simulate_stages(simulator, schedule, costs, batches);
}

double number(const Paper& paper, const std::string& dataset, const char* metric, const char* table) {
  return paper.at({{"table", table}, {"dataset", dataset}, {"metric", metric}});
}

DglEpoch dgl_epoch(const Paper& paper, const std::string& dataset) {
  DglEpoch dgl;
  dgl.sample_s = number(paper, dataset, "sample_s", "table2");
  dgl.collect_s = number(paper, dataset, "gather_collect_s", "table2");
  dgl.transfer_s = number(paper, dataset, "gather_transfer_s", "table2");
  dgl.train_s = number(paper, dataset, "total_s", "table2") - dgl.sample_s - dgl.collect_s - dgl.transfer_s;
  return dgl;
}

double claim(const Paper& paper, const char* name) { return paper.at({{"claim", name}}); }

double sampling_s(const Paper& paper, const char* config) {
  return paper.at({{"table", "table3"}, {"config", config}, {"metric", "sample_s"}});
}

Setting setting_of(const Paper& paper, const std::string& dataset, const std::string& layers) {
  Setting setting;
  setting.bottom_share = claim(paper, ("bottom_share_" + layers + "l").c_str()) / 100;
  setting.embedding_bytes = claim(paper, "l2_middle_vertices") / claim(paper, "l2_bottom_vertices") *
                            number(paper, dataset, "hidden_dim", "table4") /
                            number(paper, dataset, "feature_dim", "table4");
  setting.gpu_sampling = sampling_s(paper, "CPU-based sampling") / sampling_s(paper, "GPU-based sampling");
  return setting;
}

/// Speed-ups of L over DGL, of H over L, of S over H, means over the data sets of Table 2.
std::array<double, 3> effects(sim::Simulator& simulator, const Paper& paper) {
  std::array<double, 3> sums{};
  const auto datasets = paper.values("dataset", {{"table", "table2"}});
  for (const auto& dataset : datasets) {
    const DglEpoch dgl = dgl_epoch(paper, dataset);
    const Setting setting = setting_of(paper, dataset, "3");
    const double layers = simulate(simulator, plan::Schedule::sequential, layer_split(dgl, setting));
    const Split hot = with_hot_embeddings(dgl, setting);
    const double reuse = simulate(simulator, plan::Schedule::sequential, hot);
    sums[0] += dgl.total_s() / layers;
    sums[1] += layers / reuse;
    sums[2] += reuse / simulate(simulator, plan::Schedule::pipelined, hot);
  }
  for (double& sum : sums) {
    sum /= static_cast<double>(datasets.size());
  }
  return sums;
}

std::optional<double> epoch_s(const Paper& paper, const std::string& dataset, const std::string& layers,
                              const char* system) {
  return paper.find({{"table", "table6"}, {"dataset", dataset}, {"layers", layers}, {"system", system}});
}

/// How much longer an epoch takes with so many layers than with three, by the first baseline that ran both.
std::optional<double> growth(const Paper& paper, const std::string& dataset, const std::string& layers) {
  for (const char* system : {"DGL", "DGL-UVA"}) {
    const auto three = epoch_s(paper, dataset, "3", system);
    const auto more = epoch_s(paper, dataset, layers, system);
    if (three && more) {
      return *more / *three;
    }
  }
  return std::nullopt;
}

/// Whether NeutronOrch stands to each system that ran as it was printed to.
bool order_is_right(const Paper& paper, const std::string& dataset, const std::string& layers,
                    double predicted) {
  const auto printed = epoch_s(paper, dataset, layers, "NeutronOrch");
  for (const char* system : {"DGL", "PaGraph", "DGL-UVA", "GNNLab", "GAS"}) {
    const auto other = epoch_s(paper, dataset, layers, system);
    if (other && (*other > *printed) != (*other > predicted)) {
      return false;
    }
  }
  return true;
}

void add_table6(Report& report, sim::Simulator& simulator, const Paper& paper) {
  int right = 0;
  int rows = 0;
  for (const auto& dataset : paper.values("dataset", {{"table", "table6"}})) {
    double fewer_layers_s = 0;
    for (const std::string layers : {"3", "4", "5"}) {
      const auto factor = growth(paper, dataset, layers);
      if (!factor) {
        report.not_predicted.push_back(
            {"table6", dataset + ", " + layers + " layers", "every baseline ran out of memory"});
        continue;
      }
      const Split split = with_hot_embeddings(dgl_epoch(paper, dataset), setting_of(paper, dataset, layers));
      const double predicted = *factor * simulate(simulator, plan::Schedule::pipelined, split);
      report.rows.push_back({"table6", "aliyun_single", dataset + ", " + layers + " layers NeutronOrch", "s",
                             epoch_s(paper, dataset, layers, "NeutronOrch"), predicted, Measure::relative});
      right += order_is_right(paper, dataset, layers, predicted) && predicted > fewer_layers_s ? 1 : 0;
      ++rows;
      fewer_layers_s = predicted;
    }
  }
  report.findings.push_back({"table6: rows that grow with depth and have the printed order of systems",
                             "all " + std::to_string(rows), static_cast<double>(right), "rows",
                             right == rows});
}

}  // namespace

Report reproduce_neutronorch(sim::Simulator& simulator, const base::Progress&) {
  const Paper paper = find_paper("neutronorch");
  Report report{paper.name, paper.source, "figure13", {}, {}, {}};
  const auto gains = effects(simulator, paper);
  const std::array<std::array<const char*, 2>, 3> names{{{"gain_L", "layer split over DGL"},
                                                         {"gain_H", "hot embeddings over that"},
                                                         {"gain_S", "super-batches over that"}}};
  double worst = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    report.rows.push_back({"figure13", "aliyun_single", names[i][1], "x", claim(paper, names[i][0]), gains[i],
                           Measure::relative});
    worst = std::max(worst, std::abs(report.rows.back().error().value()));
  }
  report.findings.push_back(
      {"figure13: worst of the three mean effects", "at most 15", worst * 100, "%", worst <= 0.15});
  add_table6(report, simulator, paper);
  report.not_predicted.insert(
      report.not_predicted.end(),
      {{"table6", "DGL, PaGraph, DGL-UVA, GNNLab, GAS", "inputs: the baselines' columns"},
       {"table7", "batch sizes", "the bottom layer's share of the work is printed for one batch size only"},
       {"figures 12, 14 to 17", "several GPUs, memory, utilisation, accuracy",
        "no baseline's stage times are printed for them"}});
  return report;
}

}  // namespace gnomon::reproduce
