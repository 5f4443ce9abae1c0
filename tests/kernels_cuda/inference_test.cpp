#include "nn/inference.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/feature_form.h"
#include "graph/generate/generate.h"
#include "tests/kernels_cuda/tensors_on_device.h"

// Inference by a GPU beside that of the host.

namespace gnomon::nn {
namespace {

const graph::Graph& toy() {
  static const graph::Graph graph = graph::generate_in_memory(graph::PlantedPartition{
      .vertices = 4000, .average_degree = 12, .classes = 8, .feature_columns = 40, .seed = 9});
  return graph;
}

plan::Job job_of(plan::ModelKind model, int hidden, bool skip) {
  plan::Job job;
  job.model = model;
  job.fanouts = {5, 5, 5};
  job.hidden = hidden;
  job.heads = 4;
  job.skip = skip;
  job.norm = skip ? plan::Norm::layer : plan::Norm::none;
  return job;
}

class CudaInference : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = kernels::cuda::why_no_tensors(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
};

// Layers that widen their inputs and layers that narrow them, for some vertices and for all, in chunks.
TEST_F(CudaInference, IsThatOfTheHost) {
  const auto sparse = graph::with_features_in(toy(), graph::FeatureForm::sparse);
  for (const auto kind : {plan::ModelKind::sage, plan::ModelKind::gcn, plan::ModelKind::gat}) {
    for (const int hidden : {16, 64}) {
      for (const bool skip : {false, true}) {
        for (const auto* graph : {&toy(), &sparse}) {
          const Model model(job_of(kind, hidden, skip), 40, 8, at::kCUDA);
          for (const bool all : {false, true}) {
            InferenceOptions options{.chunk_bytes = std::int64_t{1} << 20};
            if (!all) {
              options.vertices = graph->valid;
            }
            const auto there = infer(*graph, model, options);
            const auto here = infer(*graph, model.copied_to(at::kCPU), options);
            std::vector<at::Tensor> hidden_there;
            std::vector<at::Tensor> hidden_here;
            options.hidden = &hidden_there;
            infer(*graph, model, options);
            options.hidden = &hidden_here;
            infer(*graph, model.copied_to(at::kCPU), options);
            const auto what = std::string(base::name_of(kind)) + ", hidden " + std::to_string(hidden) +
                              ", skip " + std::to_string(skip) + ", all " + std::to_string(all) +
                              (graph == &sparse ? ", sparse" : "");
            EXPECT_TRUE(there.is_cpu());
            EXPECT_TRUE(at::allclose(there, here, 1e-3, 1e-3)) << what;
            ASSERT_EQ(hidden_there.size(), 2U);
            if (all) {
              EXPECT_TRUE(at::allclose(hidden_there[1], hidden_here[1], 1e-3, 1e-3)) << what;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gnomon::nn
