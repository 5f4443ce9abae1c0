#include "profiles/measure/evaluation.h"

#include <vector>

#include "base/median.h"
#include "base/process_memory.h"
#include "base/usable.h"
#include "nn/dense/chunks.h"
#include "nn/inference.h"
#include "nn/matmul_precision.h"
#include "nn/models.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

/// Thrown to cancel an evaluation that exceeds the time limit.
struct OutOfTime {};

/// The median of up to three evaluations; none if the first exceeds the time limit.
std::optional<double> median_time_s(const graph::Graph& graph, const nn::Model& model,
                                    nn::InferenceOptions inference, const AccessOptions& options) {
  constexpr std::size_t max_times = 3;
  const nn::AtenThreadsGuard threads(base::usable_cores());
  const Stopwatch watch;
  inference.between_chunks = [&] {
    throw_if_stopped(options.stop);
    if (watch.seconds() > options.time_limit_s) {
      throw OutOfTime();
    }
  };
  std::vector<double> times_s;
  try {
    while (times_s.size() < max_times) {
      const Stopwatch one;
      nn::infer(graph, model, inference);
      times_s.push_back(one.seconds());
    }
  } catch (const OutOfTime&) {
    // Completed evaluations count.
  }
  return times_s.empty() ? std::nullopt : std::optional(base::median(times_s));
}

}  // namespace

std::optional<EvaluationProfile> measure_evaluation(const graph::Graph& graph, const plan::Job& job,
                                                    const runtime::DeviceOptions& device,
                                                    const AccessOptions& options) {
  if (graph.valid.empty()) {
    return std::nullopt;
  }
  const nn::MatmulPrecisionGuard precision(job);
  const nn::Model model(job, graph.features.columns, graph.num_classes, runtime::tensor_device(device));
  const nn::InferenceOptions inference{.vertices = graph.valid};
  EvaluationProfile evaluation;
  const std::int64_t bytes = nn::inference_bytes(graph, model, inference);
  evaluation.host_bytes = static_cast<double>(bytes);
  if (const std::int64_t available = base::available_memory_bytes(); available == 0 || bytes <= available) {
    evaluation.time_s = median_time_s(graph, model, inference, options);
  }
  return evaluation;
}

}  // namespace gnomon::profiles
