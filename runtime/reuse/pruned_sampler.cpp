#include "runtime/reuse/pruned_sampler.h"

#include <ATen/ATen.h>

#include <utility>

#include "kernels/cpu/gather.h"
#include "kernels/headroom.h"

namespace gnomon::runtime {
namespace {

at::Tensor degrees_of(const graph::Graph& graph, std::span<const graph::VertexId> vertices) {
  auto degrees = at::empty({std::ssize(vertices)}, at::kFloat);
  kernels::cpu::gather_degrees(graph, vertices, degrees.mutable_data_ptr<float>());
  return degrees;
}

}  // namespace

std::vector<int> upper_fanouts(const plan::Job& job) { return {job.fanouts.begin(), job.fanouts.end() - 1}; }

PrunedSampler::PrunedSampler(const kernels::cpu::Topology& topology, const plan::Job& job,
                             const kernels::cpu::BatchThreads& threads)
    : upper_(topology, upper_fanouts(job), kernels::cpu::EdgeIds::omit, threads),
      bottom_(topology, {job.fanouts.back()}, kernels::cpu::EdgeIds::omit, threads,
              kernels::cpu::SamplingRule{.first_hop = static_cast<std::uint32_t>(job.layers() - 1)}) {}

std::shared_ptr<const SplitBottom> PrunedSampler::prepare(const graph::Graph& graph,
                                                          const kernels::BatchKey& key,
                                                          std::span<const graph::VertexId> seeds,
                                                          const HotVertices& hot, BatchData& data) {
  upper_.sample(key, seeds, data.batch);
  auto destinations = split(data.batch.vertices, hot);
  auto bottom = std::make_shared<SplitBottom>();
  bottom->degrees = degrees_of(graph, data.batch.vertices);
  if (!destinations.order.empty()) {
    bottom->order = at::tensor(destinations.order, at::kLong);
  }
  bottom->reused = std::move(destinations.reused);
  bottom_.sample(key, destinations.computed, below_);
  std::swap(data.batch.vertices, below_.vertices);
  std::swap(data.batch.blocks.emplace_back(), below_.blocks.front());
  data.feature_type = graph.features.type;
  data.columns = graph.features.columns;
  kernels::resize_with_headroom(data.labels, seeds.size());
  kernels::cpu::gather_labels(graph.labels, seeds, data.labels.data());
  kernels::resize_with_headroom(data.degrees, data.batch.vertices.size());
  kernels::cpu::gather_degrees(graph, data.batch.vertices, data.degrees.data());
  data.feature_indptr.clear();
  data.feature_columns.resize(0);
  gather_features(graph, bottom_.team(), data);
  bottom->feature_bytes = static_cast<std::int64_t>(data.features.size() + data.feature_columns.size() +
                                                    data.feature_indptr.size() * sizeof(std::int64_t));
  return bottom;
}

}  // namespace gnomon::runtime
