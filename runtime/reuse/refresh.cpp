#include "runtime/reuse/refresh.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "graph/epoch_order.h"
#include "nn/dense/chunks.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/reuse/pruned_sampler.h"

namespace gnomon::runtime {
namespace {

/// Rows that are computed together. Fixed, so that the bits do not depend on the number of workers.
constexpr std::int64_t rows_per_chunk = 512;

/// Offset that separates the random keys of refreshes from those of mini-batches, whose numbers are below
/// 2^31.
constexpr std::uint64_t first_key = std::uint64_t{1} << 31;

kernels::BatchKey draws_of_refresh(const RefreshRequest& request) {
  return {request.job->seed, static_cast<std::uint64_t>(request.epoch),
          first_key | static_cast<std::uint64_t>(request.super_batch)};
}

/// Each chunk has its own dropout mask.
nn::DropoutSpec dropout_of_refresh(const RefreshRequest& request, std::int64_t chunk) {
  const auto number =
      (static_cast<std::uint64_t>(request.super_batch) << 16) + static_cast<std::uint64_t>(chunk);
  return {request.job->dropout,
          {request.job->seed, base::Purpose::dropout, static_cast<std::uint64_t>(request.epoch),
           first_key | (number & (first_key - 1))}};
}

}  // namespace

RefreshTools::RefreshTools(const kernels::cpu::Topology& topology, const plan::Job& job,
                           const kernels::cpu::BatchThreads& batch_threads)
    : upper(topology, upper_fanouts(job), kernels::cpu::EdgeIds::omit, batch_threads),
      one_hop(topology, {job.fanouts.back()}, kernels::cpu::EdgeIds::omit, batch_threads),
      threads(batch_threads.count) {}

Refresh::Refresh(RefreshRequest request, std::vector<graph::VertexId> seeds)
    : request_(std::move(request)), seeds_(std::move(seeds)), is_used_(request_.hot) {
  if (request_.batches.empty()) {
    end_finding();
  }
}

void Refresh::work(RefreshTools& tools) {
  const nn::AtenThreadsGuard threads(tools.threads);
  try {
    for (auto batch = next_batch_++; batch < request_.batches.size(); batch = next_batch_++) {
      find(tools, batch);
    }
    await_vertices();
    for (auto chunk = next_chunk_++; chunk < num_chunks_; chunk = next_chunk_++) {
      compute(tools, chunk);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    found_.notify_all();
    throw;
  }
}

/// Marks the hot vertices that a mini-batch will use, by sampling all its hops but the last.
void Refresh::find(RefreshTools& tools, std::size_t batch) {
  const auto number = request_.batches[batch];
  tools.upper.sample(
      {request_.job->seed, static_cast<std::uint64_t>(request_.epoch), static_cast<std::uint64_t>(number)},
      graph::batch_seeds(seeds_, request_.job->batch_size, number), tools.sampled);
  for (const auto vertex : tools.sampled.vertices) {
    const auto rank = request_.set->ranks[static_cast<std::size_t>(vertex)];
    if (rank < request_.hot) {
      std::atomic_ref(is_used_[rank]).store(1, std::memory_order_relaxed);
    }
  }
  const std::lock_guard lock(mutex_);
  if (++batches_done_ == request_.batches.size()) {
    end_finding();
  }
}

/// Numbers the rows, the hottest vertex first.
void Refresh::end_finding() {
  rows_of_ranks_.assign(is_used_.size(), -1);
  for (std::size_t rank = 0; rank < is_used_.size(); ++rank) {
    if (is_used_[rank] != 0) {
      rows_of_ranks_[rank] = static_cast<std::int32_t>(vertices_.size());
      vertices_.push_back(request_.set->vertices[rank]);
    }
  }
  num_chunks_ = (num_rows() + rows_per_chunk - 1) / rows_per_chunk;
  found_.notify_all();
}

void Refresh::await_vertices() {
  std::unique_lock lock(mutex_);
  found_.wait(lock, [&] { return failed_ || num_chunks_ >= 0; });
  if (failed_) {
    throw std::runtime_error("another worker could not refresh embeddings");
  }
}

void Refresh::compute(RefreshTools& tools, std::int64_t chunk) {
  const auto all = std::span<const graph::VertexId>(vertices_);
  const auto first = static_cast<std::size_t>(chunk * rows_per_chunk);
  const auto own = all.subspan(first, std::min<std::size_t>(rows_per_chunk, all.size() - first));
  prepare_batch(*request_.graph, tools.one_hop, draws_of_refresh(request_), own, tools.data);
  std::optional<nn::DropoutSpec> dropout;
  if (request_.job->dropout > 0) {
    dropout = dropout_of_refresh(request_, chunk);
  }
  store(nn::bottom_rows(*request_.model, request_.parameters, view_of(tools.data), dropout), chunk);
  ++chunks_done_;
}

void Refresh::store(const nn::ReusedRows& rows, std::int64_t chunk) {
  const auto first = chunk * rows_per_chunk;
  {
    const std::lock_guard lock(mutex_);
    if (!outputs_.defined()) {
      outputs_ = at::empty({num_rows(), rows.outputs.size(1)}, rows.outputs.options());
      dense_.resize(rows.operands.size());
      sparse_.resize(rows.operands.size());
      for (std::size_t i = 0; i < rows.operands.size(); ++i) {
        if (rows.operands[i].sparse.defined()) {
          sparse_[i].resize(static_cast<std::size_t>(num_chunks_));
        } else {
          const auto& dense = rows.operands[i].dense;
          dense_[i] = at::empty({num_rows(), dense.size(1)}, dense.options());
        }
      }
    }
  }
  outputs_.narrow(0, first, rows.outputs.size(0)).copy_(rows.outputs);
  for (std::size_t i = 0; i < rows.operands.size(); ++i) {
    if (dense_[i].defined()) {
      dense_[i].narrow(0, first, rows.outputs.size(0)).copy_(rows.operands[i].dense);
    } else {
      // The chunk's values may be in memory that the next chunk reuses.
      sparse_[i][static_cast<std::size_t>(chunk)] = nn::concatenate({rows.operands[i].sparse});
    }
  }
}

nn::ReusedRows Refresh::take_rows() {
  nn::ReusedRows rows{std::exchange(outputs_, {}), {}};
  for (std::size_t i = 0; i < dense_.size(); ++i) {
    rows.operands.push_back(dense_[i].defined() ? nn::Operand{std::exchange(dense_[i], {})}
                                                : nn::Operand{{}, nn::concatenate(sparse_[i])});
  }
  sparse_.clear();
  return rows;
}

}  // namespace gnomon::runtime
