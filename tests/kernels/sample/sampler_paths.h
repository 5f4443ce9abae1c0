#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cpu/sample/sampler.h"
#include "kernels/cpu/sample/wide_sampler.h"
#include "tests/kernels/instruction_set.h"

namespace gnomon::kernels {

/// The CPU sampler on one of its paths, sampling into one MiniBatch again and again as a worker does. The
/// path is chosen for the whole process; where the machine lacks it, its best one is tested again.
template <class Path>
class CpuSampler {
 public:
  CpuSampler(const graph::Graph& graph, const std::vector<int>& fanouts,
             cpu::Draws draws = cpu::Draws::uniform, cpu::EdgeIds edge_ids = cpu::EdgeIds::omit)
      : sampler_(Path::narrow ? cpu::resident_copy(graph, draws) : cpu::view_of(graph, draws), fanouts,
                 edge_ids, {Path::threads, {}}) {
    choose_instruction_set(Path::instruction_set);
  }
  MiniBatch sample(const BatchKey& key, std::span<const graph::VertexId> seeds) {
    sampler_.sample(key, seeds, batch_);
    return batch_;
  }

 private:
  cpu::Sampler sampler_;
  MiniBatch batch_;
};

template <std::int64_t InstructionSet, bool Narrow, int Threads = 1>
struct Path {
  static constexpr std::int64_t instruction_set = InstructionSet;
  static constexpr bool narrow = Narrow;
  static constexpr int threads = Threads;
};

using Portable32 = CpuSampler<Path<HWY_SCALAR, true>>;
using Portable64 = CpuSampler<Path<HWY_SCALAR, false>>;
using Avx2With32 = CpuSampler<Path<HWY_AVX2, true>>;
using Avx2With64 = CpuSampler<Path<HWY_AVX2, false>>;
using Avx512With32 = CpuSampler<Path<HWY_AVX3, true>>;
using Avx512With64 = CpuSampler<Path<HWY_AVX3, false>>;
using Split32 = CpuSampler<Path<HWY_AVX3, true, 3>>;
using Split64 = CpuSampler<Path<HWY_SCALAR, false, 2>>;

/// The sampler of graphs of more than 2^32 vertices, on small ones; Sampler checks its inputs.
class WideOnSmallIds {
 public:
  WideOnSmallIds(const graph::Graph& graph, const std::vector<int>& fanouts,
                 cpu::Draws draws = cpu::Draws::uniform, cpu::EdgeIds edge_ids = cpu::EdgeIds::omit)
      : checks_(graph, fanouts),
        sampler_(cpu::view_of(graph, draws), fanouts, edge_ids == cpu::EdgeIds::keep) {}
  MiniBatch sample(const BatchKey& key, std::span<const graph::VertexId> seeds) {
    MiniBatch batch;
    checks_.sample(key, seeds, batch);
    EXPECT_EQ(sampler_.sample(key, seeds, batch), seeds.size());
    return batch;
  }

 private:
  cpu::Sampler checks_;
  cpu::WideSampler sampler_;
};

}  // namespace gnomon::kernels
