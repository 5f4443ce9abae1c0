#include <gtest/gtest.h>

#include <algorithm>

#include "graph/feature_form.h"
#include "graph/generate/generate.h"
#include "nn/caching_allocator.h"
#include "nn/inference.h"

namespace gnomon::nn {
namespace {

/// Of so many vertices that what layers read is larger than the allocator's blocks.
const graph::Graph& large_graph() {
  static const auto graph = graph::generate_in_memory(graph::PlantedPartition{
      .vertices = 60'000, .average_degree = 4, .classes = 4, .feature_columns = 16, .seed = 3});
  return graph;
}

plan::Job job_of(plan::ModelKind model, int layers, int hidden, bool skip = false) {
  plan::Job job;
  job.model = model;
  job.fanouts.assign(static_cast<std::size_t>(layers), 5);
  job.hidden = hidden;
  job.skip = skip;
  return job;
}

/// The most memory that tensors take at the end of a chunk, beyond what they took before.
std::int64_t measured_peak(const graph::Graph& graph, const Model& model, InferenceOptions options) {
  const auto before = tensor_bytes().used;
  std::int64_t peak = 0;
  options.between_chunks = [&] { peak = std::max(peak, tensor_bytes().used - before); };
  infer(graph, model, options);
  return peak;
}

TEST(InferenceBytes, AreWhatLayersReadAndAChunk) {
  install_caching_allocator();
  const auto& dense = large_graph();
  const auto sparse = graph::with_features_in(dense, graph::FeatureForm::sparse);
  constexpr std::int64_t chunk_bytes = std::int64_t{16} << 20;
  for (const auto kind : {plan::ModelKind::sage, plan::ModelKind::gcn, plan::ModelKind::gat}) {
    for (const int layers : {1, 2, 3}) {
      for (const bool skip : {false, true}) {
        for (const auto* graph : {&dense, &sparse}) {
          const auto job = job_of(kind, layers, 128, skip);
          const Model model(job, graph->features.columns, graph->num_classes);
          const InferenceOptions options{.vertices = graph->valid, .chunk_bytes = chunk_bytes};
          const auto expected = inference_bytes(*graph, model, options);
          const auto found = measured_peak(*graph, model, options);
          const auto what = std::string(base::name_of(kind)) + ", " + std::to_string(layers) +
                            " layers, skip " + std::to_string(skip) + (graph == &sparse ? ", sparse" : "");
          EXPECT_LE(found, expected + (std::int64_t{8} << 20)) << what;
          EXPECT_GE(found + chunk_bytes + (std::int64_t{8} << 20), expected) << what;
        }
      }
    }
  }
}

// The second hidden layer reads its 128 inputs, the last one its products of 4 columns.
TEST(InferenceBytes, AreThoseOfTheFormula) {
  const auto& graph = large_graph();
  const Model model(job_of(plan::ModelKind::gcn, 3, 128), 16, 4);
  const InferenceOptions options{.chunk_bytes = 1000};
  EXPECT_EQ(inference_bytes(graph, model, options), 60'000 * 4 * (128 + 4) + 60'000 * 4 * 4 + 1000);
}

}  // namespace
}  // namespace gnomon::nn
