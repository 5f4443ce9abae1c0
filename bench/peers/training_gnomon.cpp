// gnomon's side of bench/compare_training.py: epochs of training, without evaluation.
//
//   bench_training_peer DIR     reads one request a line, answers with one line of JSON (see training.py)

#include <ATen/record_function.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "graph/store/store.h"
#include "kernels/cpu/features.h"
#include "nn/caching_allocator.h"
#include "nn/dense/chunks.h"
#include "nn/learner.h"
#include "plan/plan.h"
#include "runtime/host_machine.h"
#include "runtime/stages.h"
#include "schedule/run_epoch.h"

namespace gnomon::bench {
namespace {

using base::Json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Measures the thread-seconds spent in dense products during its lifetime.
class ProductTime {
 public:
  ProductTime() : handle_(at::addGlobalCallback(at::RecordFunctionCallback(&begin, &end))) { total_ns() = 0; }
  ~ProductTime() { at::removeCallback(handle_); }
  ProductTime(const ProductTime&) = delete;
  ProductTime& operator=(const ProductTime&) = delete;

  static double seconds() { return static_cast<double>(total_ns().load()) * 1e-9; }

 private:
  struct Begun : at::ObserverContext {
    Clock::time_point at = Clock::now();
  };
  static std::atomic<std::int64_t>& total_ns() {
    static std::atomic<std::int64_t> total{0};
    return total;
  }
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    const std::string_view name = function.name();
    const bool is_product = name == "aten::mm" || name == "aten::addmm" || name == "aten::addmm_";
    return is_product ? std::make_unique<Begun>() : nullptr;
  }
  static void end(const at::RecordFunction&, at::ObserverContext* context) {
    if (const auto* begun = static_cast<Begun*>(context)) {
      total_ns() += (Clock::now() - begun->at).count();
    }
  }

  at::CallbackHandle handle_;
};

plan::Job job_of(const Json& request) {
  plan::Job job;
  job.model = plan::ModelKind::sage;
  job.fanouts = request.at("fanouts").get<std::vector<int>>();
  job.batch_size = 1024;
  job.hidden = request.at("hidden");
  job.dropout = 0.5;
  if (request.value("matmul_precision", "highest") == "medium") {
    job.matmul_precision = plan::MatmulPrecision::medium;
  }
  return job;
}

/// Runs epochs of one plan and reuses the batches' memory, as training does.
class Training {
 public:
  Training(const graph::Graph& graph, const Json& request)
      : graph_(graph),
        job_(job_of(request)),
        threads_(request.at("threads")),
        plan_(plan::resolve(plan::find_plan(request.at("setting")), {threads_}, "plan")),
        stages_(graph, job_, plan_, [this](const nn::TensorBatch& data, std::int64_t batch, int) {
          const nn::AtenThreadsGuard of_plan(plan_.device_threads);
          const auto result = learner_->step(data, 0, batch);
          loss_ += result.loss_sum / static_cast<double>(result.seeds);
        }) {}

  /// Trains a new model for one epoch.
  Json epoch() {
    learner_.reset();  // before the next one is created: it holds the guard of the matmul precision
    learner_ = std::make_unique<nn::Learner>(job_, graph_.features.columns, graph_.num_classes);
    loss_ = 0;
    std::vector<std::int64_t> order(static_cast<std::size_t>(stages_.batches()));
    std::iota(order.begin(), order.end(), 0);
    stages_.begin_epoch(0, order);
    runtime::HostMachine machine(plan_.workers, stages_.work());
    const ProductTime products;
    const auto begin = Clock::now();
    schedule::run_epoch(plan_, stages_.batches(), machine);
    const double seconds = seconds_since(begin);
    return {{"batches", stages_.batches()},
            {"seconds", seconds},
            {"loss", loss_ / static_cast<double>(stages_.batches())},
            {"product_share", ProductTime::seconds() / (seconds * threads_)}};
  }

 private:
  const graph::Graph& graph_;
  plan::Job job_;
  int threads_;
  plan::Plan plan_;
  double loss_ = 0;
  std::unique_ptr<nn::Learner> learner_;
  runtime::Stages stages_;
};

}  // namespace
}  // namespace gnomon::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: bench_training_peer DIR\n";
    return 2;
  }
  gnomon::nn::install_caching_allocator();  // as gnomon does at its start
  const auto graph = gnomon::kernels::cpu::with_copied_features(gnomon::graph::open_store(argv[1]));
  std::string current;
  std::unique_ptr<gnomon::bench::Training> training;
  for (std::string line; std::getline(std::cin, line); current = line) {
    if (line != current) {
      training = std::make_unique<gnomon::bench::Training>(graph, gnomon::base::Json::parse(line));
    }
    std::cout << training->epoch() << std::endl;
  }
}
