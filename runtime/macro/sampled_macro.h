#pragma once

#include <memory>

#include "kernels/cpu/sample/sampler.h"
#include "runtime/batch/batch_data.h"
#include "runtime/macro/macro_loader.h"
#include "runtime/macro/spare_arrays.h"

namespace gnomon::runtime {

/// Samples macro-batches from a graph in memory (Joestar-I, large batch sampling: Huang, PhD thesis, MIT,
/// 2025, chapter 5). The training vertices of an epoch, shuffled, are divided equally among the
/// macro-batches. The neighbourhood of a macro-batch's training vertices is sampled once with
/// macro.fanout_factor times the job's fanouts, by all workers' threads together; the adjacency list of a
/// vertex is the union of the neighbours drawn for it in all hops. If the factor covers all degrees,
/// mini-batches are drawn from whole lists.
class SampledMacro final : public MacroLoader {
 public:
  SampledMacro(std::shared_ptr<const PlacedGraph> placed, plan::Job job, const plan::Plan& plan);

  std::vector<MacroGroup> groups(std::int64_t epoch) const override;
  std::shared_ptr<MacroBatch> load(const MacroLayout& layout, std::int64_t group,
                                   std::int64_t epoch) override;
  std::int64_t bytes() const override;

 private:
  std::shared_ptr<const PlacedGraph> placed_;
  plan::Job job_;
  plan::Plan plan_;
  kernels::cpu::Sampler sampler_;
  kernels::MiniBatch sample_;  ///< of the last macro-batch; its memory is reused
  std::shared_ptr<SpareArrays> spare_ = std::make_shared<SpareArrays>();  ///< outlived by macro-batches
};

}  // namespace gnomon::runtime
