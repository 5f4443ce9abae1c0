#include <gtest/gtest.h>

#include "graph/import/import.h"
#include "runtime/training/trainer.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

std::filesystem::path cora_file() {
  return std::filesystem::path(SOURCE_DIR).parent_path() / "shared/data/cora.npz";
}

/// Two full-batch layers on the public split with the settings of the papers. One seed spreads by about a
/// point, so this only finds what is broken; the table of real graphs compares means with the published
/// figures.
double cora_accuracy(const plan::Job& job) {
  const test::TemporaryDirectory directory;
  graph::ImportOptions options;
  options.source = cora_file().string();
  options.content.edges.undirected = true;
  options.content.normalise_features = graph::RowNorm::l1;
  graph::import_graph(options, directory.path() / "cora");
  const auto graph = graph::open_store(directory.path() / "cora");
  return train(graph, {.job = job, .plan = claim_ahead_plan(1, 1)}).test_accuracy;
}

class Cora : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(cora_file())) {
      GTEST_SKIP() << "cora.npz is not in ../shared/data";
    }
  }
  static plan::Job job_of(plan::ModelKind model) {
    plan::Job job;
    job.model = model;
    job.fanouts = {-1, -1};
    job.batch_size = 140;
    job.weight_decay = 5e-4;
    job.epochs = 120;
    return job;
  }
};

TEST_F(Cora, GcnReachesThePublishedAccuracy) {
  auto job = job_of(plan::ModelKind::gcn);
  job.hidden = 16;
  job.learning_rate = 0.01;
  EXPECT_GT(cora_accuracy(job), 0.79);  // published: 81.5
}

TEST_F(Cora, GatReachesThePublishedAccuracy) {
  auto job = job_of(plan::ModelKind::gat);
  job.hidden = 64;
  job.heads = 8;
  job.dropout = 0.6;
  job.learning_rate = 0.005;
  EXPECT_GT(cora_accuracy(job), 0.80);  // published: 83.0
}

TEST_F(Cora, SageComesNearGcn) {
  auto job = job_of(plan::ModelKind::sage);
  job.hidden = 16;
  job.learning_rate = 0.01;
  EXPECT_GT(cora_accuracy(job), 0.77);
}

}  // namespace
}  // namespace gnomon::runtime
