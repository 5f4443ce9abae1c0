#include "runtime/host/host_device.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gnomon::runtime
