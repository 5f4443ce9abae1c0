#include "runtime/streams/stream_device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "tests/runtime/device_contract.h"
#include "tests/runtime/streams/host_driver.h"

namespace gnomon::runtime {
namespace {

struct StreamWorld {
  static std::string why_not() { return ""; }
  static std::unique_ptr<Device> open(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                      const plan::Plan& plan) {
    auto device =
        std::make_unique<StreamDevice<HostDriver>>(HostDriver(), job, DeviceOptions{}, base::Progress());
    device->take_plan(plan, std::move(graph));
    return device;
  }
};

}  // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(OnStreams, DeviceContract, StreamWorld);

namespace {

class StreamDeviceTest : public ::testing::Test {
 protected:
  StreamDeviceTest() { order_ = graph::epoch_order(graph_->graph.train, job_.seed, 0); }

  void open() {
    device_ = std::make_unique<StreamDevice<HostDriver>>(
        driver_, job_, DeviceOptions{.max_bytes = 1 << 30},
        [this](auto what, auto, auto) { told_.emplace_back(what); });
    device_->take_plan(plan_, graph_);
  }
  kernels::BatchKey key(std::int64_t batch = 0) const {
    return {job_.seed, 0, static_cast<std::uint64_t>(batch)};
  }
  std::span<const graph::VertexId> seeds(std::int64_t batch = 0) const {
    return graph::batch_seeds(order_, job_.batch_size, batch);
  }
  DeviceBatch prepare() { return device_->prepare(key(), seeds()); }
  Slot slot() {
    auto slot = device_->slots().take();
    kernels::cpu::Sampler sampler(graph_->topology, job_.fanouts);
    prepare_batch(graph_->graph, sampler, key(), seeds(), *slot);
    return slot;
  }
  template <class Act>
  StreamCounts counts_of(const Act& act) {
    const auto before = world().counts;
    act();
    return world().counts - before;
  }
  HostWorld& world() { return *driver_.world; }

  plan::Job job_ = small_job(plan::ModelKind::sage);
  plan::Plan plan_ = plan_of(plan::Schedule::sequential, plan::Route::both, 1);
  std::shared_ptr<const PlacedGraph> graph_ = std::make_shared<const PlacedGraph>(
      place(test::planted_graph(1500, 32), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  std::vector<graph::VertexId> order_;
  HostDriver driver_;
  std::vector<std::string> told_;
  std::unique_ptr<StreamDevice<HostDriver>> device_;
};

TEST_F(StreamDeviceTest, MapsTheGraphWhenItTakesAPlanAndInNoStage) {
  open();
  const auto mappings = world().mappings;
  EXPECT_GT(mappings, 0);
  (void)prepare();
  for (const double share : {0.5, 0.25}) {
    plan_.schedule = plan::Schedule::pipelined;
    plan_.route = plan::Route::device;
    plan_.prepare_share = share;
    device_->take_plan(plan_, graph_);
    (void)prepare();
  }
  EXPECT_EQ(world().mappings, mappings);
}

TEST_F(StreamDeviceTest, FillsCachesBetweenStagesAndInNone) {
  plan_.cache.policy = plan::CachePolicy::presample;
  plan_.cache.budget = 1e-3;
  open();
  auto batch = prepare();
  const auto training = counts_of([&] { device_->train(std::move(batch), [](const auto&) {}); });
  EXPECT_EQ(training.kernels, 0);
  EXPECT_EQ(device_->take_cache_use(), CacheUse{});
  EXPECT_GT(counts_of([&] { device_->fill_due_caches(); }).kernels, 0);
  EXPECT_EQ(counts_of([&] { device_->fill_due_caches(); }).kernels, 0);
  (void)prepare();
  EXPECT_GT(device_->take_cache_use().row_hits, 0);
}

/// What a kernel reads that the host has started and the device comes to later.
struct LateRead {
  explicit LateRead(const at::Tensor& tensor)
      : data(static_cast<const std::byte*>(tensor.const_data_ptr())), bytes(tensor.nbytes()) {}
  std::vector<std::byte> now() const { return {data, data + bytes}; }
  const std::byte* data;
  std::size_t bytes;
};

TEST_F(StreamDeviceTest, TrainingReturnsBeforeItsWorkIsDone) {
  open();
  bool is_done = false;
  auto batch = prepare();
  DeviceWorkPtr work;
  const auto started = counts_of([&] {
    work = device_->train(std::move(batch),
                          [&](const auto&) { world().streams.back()->start([&] { is_done = true; }); });
  });
  EXPECT_EQ(started.waits, 0);
  EXPECT_FALSE(work->is_done());
  EXPECT_FALSE(is_done);
  (void)prepare();  // on the same stream
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(work->is_done());
  EXPECT_EQ(counts_of([&] { work->wait(); }).waits, 0);
}

TEST_F(StreamDeviceTest, TellsWhenTheDeviceTrainedAndNotWhenItWasAsked) {
  using Clock = std::chrono::steady_clock;
  const auto now_s = [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); };
  open();
  const auto train = [&] {
    return device_->train(prepare(), [&](const auto&) {
      world().streams.back()->start([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
    });
  };
  const auto first = train();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double asked_s = now_s();
  const auto batch = prepare();  // behind the training
  first->wait();
  batch.work->wait();
  EXPECT_GE(first->span().begin_s, asked_s);
  EXPECT_GE(first->span().end_s - first->span().begin_s, 0.02);
  EXPECT_GE(batch.work->span().begin_s, first->span().end_s);
  EXPECT_GE(batch.work->span().end_s, batch.work->span().begin_s);
  EXPECT_LE(batch.work->span().end_s, now_s());
}

/// Though others ask for memory on the streams of preparation and copies meanwhile.
TEST_F(StreamDeviceTest, KeepsABatchUntilItIsTrained) {
  for (const double share : {0.0, 0.5}) {
    plan_.schedule = share > 0 ? plan::Schedule::pipelined : plan::Schedule::sequential;
    plan_.route = plan::Route::device;
    plan_.prepare_share = share;
    open();
    for (const bool is_copied : {false, true}) {
      auto batch = is_copied ? device_->copy(slot()) : prepare();
      std::vector<std::byte> read, expected;
      auto training = device_->train(std::move(batch), [&](const nn::TensorBatch& tensors) {
        const LateRead features(tensors.features);
        world().streams.back()->start([&read, features] { read = features.now(); });
      });
      BatchData data;
      kernels::cpu::Sampler sampler(graph_->topology, job_.fanouts);
      prepare_batch(graph_->graph, sampler, key(), seeds(), data);
      expected.assign(data.features.data(), data.features.data() + data.features.size());
      for (std::int64_t other = 1; other < 4; ++other) {
        (void)device_->prepare(key(other), seeds(other));
        (void)device_->copy(slot());
      }
      training->wait();
      EXPECT_EQ(read, expected) << (is_copied ? "copied" : "prepared") << ", share " << share;
    }
  }
}

TEST_F(StreamDeviceTest, WaitsForTheSizesOfABatchAndNotForItsFeatures) {
  open();
  (void)prepare();  // tells what batches need
  auto batch = prepare();
  EXPECT_FALSE(batch.work->is_done());
  EXPECT_EQ(counts_of([&] { (void)device_->train(std::move(batch), [](const auto&) {}); }).orders, 0)
      << "the same stream gathers and trains";
}

/// The host waits for the sizes of the sample; its stream does for the batch.
TEST_F(StreamDeviceTest, OrdersTrainingBehindABatchOfAnotherStreamWithoutAWait) {
  plan_.schedule = plan::Schedule::pipelined;
  plan_.route = plan::Route::device;
  plan_.prepare_share = 0.5;
  job_.model = plan::ModelKind::gcn;  // whose degrees come after the sizes
  for (const bool is_copied : {false, true}) {
    open();
    (void)prepare();  // tells what batches need
    DeviceWorkPtr training;
    DeviceBatch batch;
    const auto made = counts_of([&] { batch = is_copied ? device_->copy(slot()) : prepare(); });
    EXPECT_EQ(made.waits, is_copied ? 0 : 1);
    EXPECT_FALSE(batch.work->is_done());
    const auto counts = counts_of([&] {
      training = device_->train(std::move(batch), [&](const auto&) { world().streams.back()->start([] {}); });
    });
    EXPECT_EQ(counts.waits, 0);
    EXPECT_EQ(counts.orders, 1);
    EXPECT_FALSE(training->is_done());
  }
}

TEST_F(StreamDeviceTest, WaitsForABatchOfAnotherStream) {
  job_.model = plan::ModelKind::gcn;  // whose degrees come last
  plan_.schedule = plan::Schedule::pipelined;
  plan_.route = plan::Route::device;
  for (const double share : {0.0, 0.5}) {
    plan_.prepare_share = share;
    open();
    auto batch = prepare();
    EXPECT_FALSE(batch.work->is_done());
    at::Tensor degrees;
    const auto training = device_->train(std::move(batch), [&](const nn::TensorBatch& tensors) {
      world().streams.back()->start([&degrees, own = tensors.degrees] { degrees = own.clone(); });
    });
    training->wait();
    BatchData data;
    kernels::cpu::Sampler sampler(graph_->topology, job_.fanouts);
    prepare_batch(graph_->graph, sampler, key(), seeds(), data);
    EXPECT_TRUE(at::equal(degrees, view_of(data).degrees)) << "share " << share;
  }
}

TEST_F(StreamDeviceTest, WaitsForTheTrainingByWhichCachesAreFilled) {
  plan_.cache.policy = plan::CachePolicy::presample;
  plan_.cache.budget = 1e-3;
  open();
  const auto train = [&] {
    return device_->train(prepare(), [&](const auto&) { world().streams.back()->start([] {}); });
  };
  EXPECT_TRUE(train()->is_done());
  device_->fill_due_caches();
  EXPECT_FALSE(train()->is_done());
}

TEST_F(StreamDeviceTest, WorkThatLacksMemoryIsRepeatedWithASmallerCache) {
  plan_.cache.policy = plan::CachePolicy::out_degree;
  plan_.cache.budget = 1e-3;
  open();
  const auto train = [&] { return device_->train(prepare(), [](const auto&) {}); };
  for (const char* doing : {"copying a mini-batch", "preparing a mini-batch", "training"}) {
    train();
    device_->fill_due_caches();
    (void)prepare();
    EXPECT_GT(device_->take_cache_use().row_hits, 0);
    world().lacks_memory = doing;
    (void)device_->copy(slot());
    train();
    EXPECT_TRUE(world().lacks_memory.empty()) << doing;
    (void)prepare();
    EXPECT_EQ(device_->take_cache_use(), CacheUse{}) << "until it is filled again";
    plan_.cache.budget *= 1.01;
    device_->take_plan(plan_, graph_);
  }
  plan_.cache.policy = plan::CachePolicy::none;
  device_->take_plan(plan_, graph_);
  world().lacks_memory = "training";
  EXPECT_THROW(train(), OutOfDeviceMemory);
}

TEST_F(StreamDeviceTest, AFailedStepIsDoneAndItsBatchFree) {
  open();
  bool is_done = false;
  EXPECT_THROW((void)device_->train(prepare(),
                                    [&](const auto&) {
                                      world().streams.back()->start([&] { is_done = true; });
                                      throw std::runtime_error("a step that fails");
                                    }),
               std::runtime_error);
  EXPECT_TRUE(is_done);
}

TEST_F(StreamDeviceTest, LimitsMemoryForAsLongAsItLives) {
  open();
  EXPECT_EQ(world().max_bytes, 1 << 30);
  plan_.device_memory_bytes = 1 << 20;
  device_->take_plan(plan_, graph_);
  EXPECT_EQ(world().max_bytes, 1 << 20);
  device_.reset();
  EXPECT_EQ(world().max_bytes, 0);
}

TEST_F(StreamDeviceTest, WaitsForTheStreamsOfOthersBeforeAPlan) {
  open();
  bool is_saved = false;
  world().others.start([&] { is_saved = true; });
  device_->take_plan(plan_, graph_);
  EXPECT_TRUE(is_saved);
}

TEST_F(StreamDeviceTest, TrainsOnAStreamOfItsOwnOnlyBesidePreparation) {
  open();
  EXPECT_EQ(world().streams.size(), 2U);
  plan_.schedule = plan::Schedule::pipelined;
  plan_.route = plan::Route::device;
  plan_.prepare_share = 0.5;
  device_->take_plan(plan_, graph_);
  ASSERT_EQ(world().streams.size(), 3U);
  EXPECT_TRUE(world().is_of_high_priority.back());
  device_->train(prepare(), [&](const auto&) { EXPECT_FALSE(world().streams[1]->is_idle()); });
  EXPECT_EQ(world().max_bytes, 1 << 30);
}

TEST_F(StreamDeviceTest, CopiesABatchByTwoUploadsAndNoWait) {
  open();
  (void)device_->copy(slot());
  DeviceBatch copied;
  const auto copy = counts_of([&] { copied = device_->copy(slot()); });
  EXPECT_FALSE(copied.work->is_done());
  EXPECT_EQ(copy.uploads, 2);
  EXPECT_EQ(copy.pageable_uploads, 0);
  EXPECT_EQ(copy.allocations, 1);
  EXPECT_EQ(copy.waits, 0);
  EXPECT_EQ(copy.kernels, 0);
}

/// The memory that a copy reads is not used again before.
TEST_F(StreamDeviceTest, CopiesSeveralBatchesAtATime) {
  open();
  kernels::cpu::Sampler sampler(graph_->topology, job_.fanouts);
  std::vector<DeviceBatch> copied;
  for (std::int64_t batch = 0; batch < 5; ++batch) {
    auto slot = device_->slots().take();
    prepare_batch(graph_->graph, sampler, key(batch), seeds(batch), *slot);
    copied.push_back(device_->copy(std::move(slot)));
  }
  for (std::int64_t batch = 0; batch < 5; ++batch) {
    BatchData expected;
    prepare_batch(graph_->graph, sampler, key(batch), seeds(batch), expected);
    auto& found = copied[static_cast<std::size_t>(batch)];
    found.tensors.degrees = view_of(expected).degrees;  // which this model does not read
    expect_same(found, expected);
  }
}

TEST_F(StreamDeviceTest, GivesDegreesOnlyToModelsThatReadThem) {
  open();
  EXPECT_FALSE(prepare().tensors.degrees.defined());
  const auto without = prepare().size.bytes;
  {
    const auto copied = device_->copy(slot());
    EXPECT_FALSE(copied.tensors.degrees.defined());
    EXPECT_EQ(copied.size.bytes, without);
  }
  auto sampled = device_->slots().take();
  device_->sample(key(), seeds(), *sampled);
  EXPECT_TRUE(sampled->degrees.empty());
  sampled.reset();  // before its pool
  job_.model = plan::ModelKind::gcn;
  open();
  const auto with = prepare();
  EXPECT_EQ(with.tensors.degrees.size(0), with.size.vertices);
  EXPECT_EQ(with.size.bytes, without + 4 * with.size.vertices);
}

TEST_F(StreamDeviceTest, BoundsTheInDegreesOfBlocksByTheFanouts) {
  job_.fanouts = {6, -1};
  open();
  for (const auto& batch : {prepare(), device_->copy(slot())}) {
    EXPECT_EQ(batch.tensors.blocks[0]->max_in_degree(), 6);
    EXPECT_EQ(batch.tensors.blocks[1]->max_in_degree(), nn::SparseBlock::unknown_degree);
  }
}

TEST_F(StreamDeviceTest, MeasuresBandwidthsBySeveralCopiesAWait) {
  open();
  const auto measured = counts_of([&] { (void)device_->measure(); });
  constexpr std::int64_t timed = 11;  // with the one that warms up
  EXPECT_GE(measured.copies_within, 32 * timed);
  EXPECT_GE(measured.uploads, 2 * timed);
}

TEST_F(StreamDeviceTest, TellsOfPinnedCopies) {
  open();
  EXPECT_TRUE(told_.empty());
  world().unmapped_bytes = 4096;
  open();
  ASSERT_FALSE(told_.empty());
  EXPECT_NE(told_.front().find("cannot be mapped in place"), std::string::npos);
}

/// Two hops. A batch costs a CUDA launch for each of these kernels.
TEST_F(StreamDeviceTest, PreparesABatchByFewLaunchesAndOneWait) {
  open();
  (void)device_->prepare(key(0), seeds(0));  // allocates the sampler's memory, and tells what batches need
  DeviceBatch prepared;
  const auto batch = counts_of([&] { prepared = device_->prepare(key(0), seeds(0)); });
  constexpr std::int64_t of_a_hop = 2 + 2 * 2;  // passes, and two prefix sums
  constexpr std::int64_t of_a_batch = 4;        // clears the table, inserts the seeds; writes ids, features
  EXPECT_LE(batch.kernels, std::ssize(job_.fanouts) * of_a_hop + of_a_batch);
  EXPECT_EQ(batch.fills, 0);
  EXPECT_EQ(batch.uploads, 1);
  EXPECT_EQ(batch.pageable_uploads, 0);
  EXPECT_EQ(batch.downloads, 1);
  EXPECT_EQ(batch.waits, 1);
  constexpr std::int64_t arrays_of_a_hop = 2;    // a block's indptr and indices
  constexpr std::int64_t arrays_of_a_batch = 4;  // vertices, labels, features, and the first hop's sources
  EXPECT_LE(batch.allocations, std::ssize(job_.fanouts) * arrays_of_a_hop + arrays_of_a_batch);
}

/// The room for a small batch does not suffice for a large one, which is written again.
TEST_F(StreamDeviceTest, PreparesBatchesThatAreLargerThanExpected) {
  open();
  kernels::cpu::Sampler sampler(graph_->topology, job_.fanouts);
  for (const std::size_t size : {3, 32, 5, 31, 32}) {
    const auto some = seeds(1).first(size);
    BatchData expected;
    prepare_batch(graph_->graph, sampler, key(1), some, expected);
    const auto found = device_->prepare(key(1), some);
    found.work->wait();
    auto tensors = found.tensors;
    tensors.degrees = view_of(expected).degrees;  // which this model does not read
    expect_same(DeviceBatch{tensors, {}, {}, {}}, expected);
    EXPECT_EQ(found.size.vertices, std::ssize(expected.batch.vertices));
  }
}

}  // namespace
}  // namespace gnomon::runtime
