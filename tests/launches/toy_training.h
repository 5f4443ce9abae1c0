#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <utility>
#include <vector>

#include "graph/epoch_order.h"
#include "graph/generate/generate.h"
#include "kernels/cpu/sample/sampler.h"
#include "nn/cuda/kernels.h"
#include "nn/learner.h"
#include "runtime/batch/batch_tensors.h"
#include "tests/fixtures/label_sets.h"
#include "tests/launches/double_device.h"

// Mini-batches of a small graph, on the CPU and on the double device.

namespace gnomon::test {

/// fp16 features, as large graphs have them.
inline const graph::Graph& toy() {
  static const graph::Graph graph = [] {
    graph::PlantedPartition options;
    options.vertices = 6000;
    options.average_degree = 14;
    options.classes = 8;
    options.feature_columns = 40;
    options.feature_type = graph::FeatureType::fp16;
    options.seed = 9;
    return graph::generate_in_memory(options);
  }();
  return graph;
}

inline plan::Job job_of(plan::ModelKind model, plan::Norm norm = plan::Norm::none) {
  plan::Job job;
  job.model = model;
  job.norm = norm;
  job.fanouts = {5, 4, 3};
  job.hidden = 32;
  job.heads = 4;
  job.batch_size = 128;
  job.dropout = 0.5;
  job.learning_rate = 0.01;
  job.seed = 3;
  return job;
}

/// The batch in the double device's memory, without degrees for models that do not read them, and with bounds
/// of in-degrees, as devices make it.
inline nn::TensorBatch on_double_device(const nn::TensorBatch& batch, const plan::Job& job) {
  nn::TensorBatch moved;
  moved.labels = on_double(batch.labels);
  if (batch.features.defined()) {
    moved.features = on_double(batch.features);
  }
  if (nn::reads_degrees(job.model)) {
    moved.degrees = on_double(batch.degrees);
  }
  for (const auto& block : batch.blocks) {
    moved.blocks.push_back(std::make_shared<const nn::SparseBlock>(
        block->num_sources(), on_double(block->indptr()), on_double(block->indices()),
        nn::cuda_sparse_kernels(), at::Tensor(), runtime::max_in_degree(job.fanouts[moved.blocks.size()])));
  }
  moved.blocks = nn::grouped(std::move(moved.blocks));
  return moved;
}

/// Mini-batches of epochs, as they are trained one after the other.
class Batches {
 public:
  explicit Batches(const plan::Job& job) : job_(job), sampler_(toy(), job.fanouts) {}

  /// Valid until the next call.
  const runtime::BatchData& prepare(std::int64_t batch, std::int64_t epoch = 0) {
    const auto number = static_cast<std::uint64_t>(epoch);
    const auto order = graph::epoch_order(toy().train, job_.seed, number);
    runtime::prepare_batch(toy(), sampler_, {job_.seed, number, static_cast<std::uint64_t>(batch)},
                           graph::batch_seeds(order, job_.batch_size, batch), data_);
    return data_;
  }

 private:
  plan::Job job_;
  kernels::cpu::Sampler sampler_;
  runtime::BatchData data_;
};

/// Of toy()'s classes as sets of classes, on the double device.
inline nn::Learner multilabel_learner_of(const plan::Job& job) {
  const auto graph = with_label_sets(toy(), 4);
  return nn::Learner(job, graph.features.columns, graph.num_classes, double_device(),
                     on_double(nn::label_sets_of(graph, at::kCPU).clone()));
}

inline nn::Learner learner_of(const plan::Job& job, c10::Device device) {
  return nn::Learner(job, toy().features.columns, toy().num_classes, device);
}

}  // namespace gnomon::test
