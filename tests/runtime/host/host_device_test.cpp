#include "runtime/host/host_device.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

#include "nn/parallel.h"
#include "tests/runtime/device_contract.h"

namespace gnomon::runtime {
namespace {

struct HostWorld {
  static std::string why_not() { return ""; }
  static std::unique_ptr<Device> open(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                      const plan::Plan& plan) {
    return open_device(std::move(graph), job, plan, {});
  }
};

}  // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(Host, DeviceContract, HostWorld);

namespace {

TEST(HostDevice, TakesSlotsAsTheyAre) {
  const auto graph = std::make_shared<const PlacedGraph>(
      place(test::planted_graph(300, 8), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  const auto job = small_job(plan::ModelKind::sage);
  HostDevice device(job);
  device.take_plan(sequential_plan(), graph);
  kernels::cpu::Sampler sampler(graph->topology, job.fanouts);
  auto slot = device.slots().take();
  prepare_batch(graph->graph, sampler, {job.seed, 0, 0}, {graph->graph.train.data(), 20}, *slot);
  const BatchData* address = slot.get();
  const auto* features = slot->features.data();
  const auto batch = device.copy(std::move(slot));
  EXPECT_EQ(batch.slot.get(), address);
  EXPECT_EQ(tensors_of(batch).features.const_data_ptr(), features);
  EXPECT_EQ(batch.size.bytes, batch.slot->bytes());
}

/// Threads of this process.
std::int64_t num_threads() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// With threads of its own, preparing would find the cores taken by those of training, and the other way
// round.
TEST(HostDevice, PreparesOnTheThreadsThatTrain) {
  const auto graph = std::make_shared<const PlacedGraph>(
      place(test::planted_graph(300, 8), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  const auto job = small_job(plan::ModelKind::sage);
  HostDevice device(job);
  auto plan = sequential_plan();
  plan.device_threads = 3;
  device.take_plan(plan, graph);
  std::set<std::thread::id> trained_on;
  nn::run_on_tensor_threads(plan.device_threads, [&](int) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    trained_on.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(trained_on.size(), 3U);
  const auto before = num_threads();
  const auto batch = device.prepare({job.seed, 0, 0}, {graph->graph.train.data(), 20});
  EXPECT_GT(batch.size.edges, 0);
  EXPECT_EQ(num_threads(), before);
}

}  // namespace
}  // namespace gnomon::runtime
