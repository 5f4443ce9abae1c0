#include "runtime/host_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "tests/machine_contract.h"

namespace gnomon::schedule {

struct HostWorld {
  static constexpr int num_stages = static_cast<int>(Stage::device_gather) + 1;
  static void run(int workers, const StageSeconds& stage_s, const MachineBody& body) {
    const auto sleep = [&](Stage stage) {
      return [&stage_s, stage](std::int64_t batch, int) {
        std::this_thread::sleep_for(std::chrono::duration<double>(stage_s(stage, batch)));
      };
    };
    const auto cpu_batch = sleep(Stage::cpu_batch);
    runtime::HostMachine machine(workers, {cpu_batch, sleep(Stage::transfer), sleep(Stage::device_batch),
                                           sleep(Stage::train), sleep(Stage::device_gather)});
    body(machine);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Host, MachineContract, HostWorld);

}  // namespace gnomon::schedule

namespace gnomon::runtime {
namespace {

using schedule::Stage;
using schedule::Ticket;

void no_work(std::int64_t, int) {}

StageWork idle_work() { return {no_work, no_work, no_work, no_work, no_work}; }

TEST(HostMachine, RefusesStagesAndDevicesThatItDoesNotHave) {
  HostMachine machine(1, idle_work());
  EXPECT_THROW(machine.start(Stage::all_reduce, 0, {}), base::InputError);
  EXPECT_THROW(machine.start(Stage::group_read, 0, {}), base::InputError);
  EXPECT_THROW(machine.start_on(1, Stage::train, 0, {}), base::InputError);
}

TEST(HostMachine, AtMostAsManyWorkersAtOnceAndAllOfThem) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  auto work = idle_work();
  work.cpu_batch = [&](std::int64_t, int) {
    const int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --running;
  };
  HostMachine machine(3, work);
  std::vector<Ticket> tickets;
  for (int i = 0; i < 60; ++i) {
    tickets.push_back(machine.start(Stage::cpu_batch, i, {}));
  }
  schedule::wait_for_all(machine, tickets);
  EXPECT_EQ(most, 3);
}

TEST(HostMachine, PreparesBesideTrainingWhereItIsToldTo) {
  std::promise<void> prepared;
  auto work = idle_work();
  work.device_batch = [&](std::int64_t, int) { prepared.set_value(); };
  work.train = [&, done = prepared.get_future().share()](std::int64_t, int) {
    EXPECT_EQ(done.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  };
  HostMachine machine(1, work, {}, true);
  const Ticket trained = machine.start(Stage::train, 0, {});
  schedule::wait_for_all(machine, {trained, machine.start(Stage::device_batch, 1, {})});
}

TEST(HostMachine, WhatFollowsAStageIsNoPartOfItsSpanAndComesBeforeTheNext) {
  std::atomic<bool> is_filled = false;
  bool found_filled = false;
  auto work = idle_work();
  work.train = [&](std::int64_t position, int) { found_filled = position == 1 && is_filled; };
  work.after = [&](Stage stage, int) {
    if (stage == Stage::train && !is_filled) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      is_filled = true;
    }
  };
  HostMachine machine(0, work);
  const auto first = machine.start(Stage::train, 0, {});
  const auto second = machine.start(Stage::train, 1, std::array{first});
  machine.wait_any(std::array{second});
  EXPECT_TRUE(found_filled);
  EXPECT_LT(machine.span(first).end_s - machine.span(first).begin_s, 0.04);
  EXPECT_GE(machine.span(second).begin_s - machine.span(first).end_s, 0.05);
}

TEST(HostMachine, RethrowsWhatFollowsAStageThrows) {
  auto work = idle_work();
  work.after = [](Stage, int) { throw std::runtime_error("the cache does not fit"); };
  HostMachine machine(0, work);
  const auto trained = machine.start(Stage::train, 0, {});
  EXPECT_THROW(machine.wait_any(std::array{trained}), std::runtime_error);
}

TEST(HostMachine, DevicesWorkAtOnceAndTheAverageFollowsAll) {
  std::promise<void> first, second;
  std::atomic<int> trained = 0;
  int averaged = -1;
  auto work = idle_work();
  work.train = [&, one = first.get_future().share(), two = second.get_future().share()](std::int64_t position,
                                                                                        int) {
    (position == 0 ? first : second).set_value();
    EXPECT_EQ((position == 0 ? two : one).wait_for(std::chrono::seconds(60)), std::future_status::ready);
    ++trained;
  };
  work.all_reduce = [&](std::int64_t) { averaged = trained; };
  HostMachine machine(0, work, {}, false, 2);
  const Ticket on_first = machine.start_on(0, Stage::train, 0, {});
  const Ticket on_second = machine.start_on(1, Stage::train, 1, {});
  const Ticket average = machine.start(Stage::all_reduce, 0, std::vector{on_first, on_second});
  schedule::wait_for_all(machine, {average});
  EXPECT_EQ(averaged, 2);
  EXPECT_EQ(machine.span(on_second).device, 1);
  EXPECT_GE(machine.span(average).begin_s, machine.span(on_second).end_s);
  EXPECT_THROW(machine.start_on(2, Stage::train, 2, {}), base::InputError);
}

TEST(HostMachine, BeginsAnotherRunOnTheSameThreads) {
  std::vector<std::thread::id> trained_on;
  auto work = idle_work();
  work.train = [&](std::int64_t, int) { trained_on.push_back(std::this_thread::get_id()); };
  HostMachine machine(1, work);
  const auto first = machine.start(Stage::train, 0, {});
  machine.wait_any(std::vector{first});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double before_s = machine.now_s();
  machine.begin_run();
  EXPECT_LT(machine.now_s(), before_s);
  const auto second = machine.start(Stage::train, 5, {});
  EXPECT_EQ(second.number, first.number);
  machine.wait_any(std::vector{second});
  EXPECT_EQ(machine.span(second).batch, 5);
  ASSERT_EQ(trained_on.size(), 2U);
  EXPECT_EQ(trained_on[0], trained_on[1]);
}

TEST(HostMachine, RethrowsTheFirstExceptionOfAnyStageAndDropsTheRest) {
  for (const auto stage : {Stage::cpu_batch, Stage::transfer, Stage::device_batch, Stage::train}) {
    std::atomic<int> trained = 0;
    const auto fail = [](std::int64_t batch, int = 0) {
      throw std::runtime_error("batch " + std::to_string(batch));
    };
    auto work = idle_work();
    work.train = [&](std::int64_t, int) { ++trained; };
    switch (stage) {
      case Stage::cpu_batch:
        work.cpu_batch = fail;
        break;
      case Stage::transfer:
        work.transfer = fail;
        break;
      case Stage::device_batch:
        work.device_batch = fail;
        break;
      default:
        work.train = fail;
        break;
    }
    HostMachine machine(2, work);
    const auto broken = machine.start(stage, 7, {});
    const auto behind = machine.start(Stage::train, 8, std::vector{broken});
    for (int again = 0; again < 2; ++again) {
      try {
        machine.wait_any(std::vector{behind});
        FAIL() << "no exception";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "batch 7");
      }
    }
    EXPECT_FALSE(machine.done(broken));
    EXPECT_FALSE(machine.done(behind));
    EXPECT_EQ(trained, 0);
  }
}

TEST(HostMachine, InterruptEndsAWaitThatWouldNeverEnd) {
  std::promise<void> release;
  auto work = idle_work();
  work.train = [wait = release.get_future().share()](std::int64_t, int) { wait.wait(); };
  HostMachine machine(1, work);
  const auto stuck = machine.start(Stage::train, 0, {});
  std::thread user([&] { machine.interrupt(); });
  EXPECT_THROW(machine.wait_any(std::vector{stuck}), base::Interrupted);
  EXPECT_THROW(machine.wait_any(std::vector{stuck}), base::Interrupted);
  user.join();
  release.set_value();
}

TEST(HostMachine, DestructorDropsWhatHasNotBegunAndWaitsForWhatHas) {
  std::atomic<int> begun = 0;
  std::atomic<int> ended = 0;
  {
    auto work = idle_work();
    work.cpu_batch = [&](std::int64_t, int) {
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++ended;
    };
    HostMachine machine(2, work);
    for (int i = 0; i < 1000; ++i) {
      const auto ticket = machine.start(Stage::cpu_batch, i, {});
      machine.start(Stage::train, i, std::vector{ticket});
    }
    while (begun == 0) {
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(begun, ended);
  EXPECT_GE(begun, 1);
  EXPECT_LT(begun, 1000);
}

/// A device that works on after the calls of its stages: a stage's work ends when the test says so, or, if it
/// said so before, at once.
class SlowDevice {
 public:
  struct Work final : DeviceWork {
    Work(SlowDevice& slow, std::int64_t position) : device(slow), at(position) {}
    ~Work() override { device.wait_for(at); }
    bool is_done() noexcept override { return device.is_ended(at); }
    void wait() override {
      device.wait_for(at);
      if (at == device.failing) {
        throw std::runtime_error("the device fails");
      }
    }
    WorkSpan span() override { return device.span; }
    SlowDevice& device;
    std::int64_t at;
  };

  StageWork work() {
    auto work = idle_work();
    const auto note = [this](std::int64_t position, int) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_open_; });
      called_.push_back(position);
      changed_.notify_all();
    };
    work.transfer = work.device_batch = work.train = note;
    work.left_to_device = [this](Stage stage, std::int64_t position) -> DeviceWorkPtr {
      return stage == Stage::train ? std::make_unique<Work>(*this, position) : nullptr;
    };
    return work;
  }
  /// Calls wait until open(), so that stages are queued ahead.
  void close() { is_open_ = false; }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void end(std::int64_t position) {
    const std::lock_guard lock(mutex_);
    ended_.push_back(position);
    changed_.notify_all();
  }
  void wait_for_call(std::int64_t position) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return contains(called_, position); });
  }
  bool is_called(std::int64_t position) {
    const std::lock_guard lock(mutex_);
    return contains(called_, position);
  }
  bool is_ended(std::int64_t position) {
    const std::lock_guard lock(mutex_);
    return contains(ended_, position);
  }
  void wait_for(std::int64_t position) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return contains(ended_, position); });
  }

  WorkSpan span{};
  std::int64_t failing = -1;

 private:
  static bool contains(const std::vector<std::int64_t>& positions, std::int64_t position) {
    return std::find(positions.begin(), positions.end(), position) != positions.end();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = true;
  std::vector<std::int64_t> called_, ended_;
};

void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

TEST(HostMachine, CallsTheNextStagesWhileTheDeviceWorks) {
  SlowDevice device;
  device.close();
  HostMachine machine(0, device.work());
  const auto first = machine.start(Stage::train, 0, {});
  const auto second = machine.start(Stage::train, 1, std::array{first});
  const auto third = machine.start(Stage::train, 2, std::array{second});
  machine.start(Stage::train, 3, std::array{third});
  device.open();
  device.wait_for_call(2);
  const auto late = machine.start(Stage::device_batch, 4, std::array{third});
  wait_a_little();
  EXPECT_FALSE(device.is_called(3)) << "three stages are in flight";
  EXPECT_FALSE(machine.done(first));
  device.end(0);
  machine.wait_any(std::array{first});
  device.wait_for_call(3);
  EXPECT_FALSE(machine.done(second));
  for (const std::int64_t position : {1, 2, 3}) {
    device.end(position);
  }
  machine.wait_any(std::array{late});
  EXPECT_TRUE(machine.done(third));
}

TEST(HostMachine, OtherEnginesWaitUntilTheDeviceIsDone) {
  SlowDevice device;
  HostMachine machine(0, device.work());
  const auto trained = machine.start(Stage::train, 0, {});
  const auto freed = machine.start(Stage::transfer, 1, std::array{trained});
  const auto next = machine.start(Stage::train, 2, std::array{freed});  // which the device's thread takes now
  device.wait_for_call(0);
  wait_a_little();
  EXPECT_FALSE(device.is_called(1));
  device.end(0);
  device.end(2);
  schedule::wait_for_all(machine, {trained, freed, next});
}

TEST(HostMachine, EndsWhatAnotherEngineWaitsForBeforeTheNextStage) {
  SlowDevice device;
  device.close();
  HostMachine machine(0, device.work(), {}, true);
  const auto trained = machine.start(Stage::train, 0, {});
  const auto freed = machine.start(Stage::device_batch, 1, std::array{trained});
  const auto next = machine.start(Stage::train, 2, {});
  device.open();
  device.wait_for_call(0);
  wait_a_little();
  EXPECT_FALSE(device.is_called(2));
  device.end(0);
  machine.wait_any(std::array{freed});
  device.end(2);
  machine.wait_any(std::array{next});
}

/// The work of a preparation, which ends when the mini-batch's training has been called, or late.
struct OrderedWork final : DeviceWork {
  explicit OrderedWork(std::atomic<bool>& called) : is_called(called) {}
  bool is_done() noexcept override { return is_called; }
  void wait() override {
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!is_called && std::chrono::steady_clock::now() < late) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  WorkSpan span() override { return {}; }
  bool orders_successors() const override { return true; }
  std::atomic<bool>& is_called;
};

TEST(HostMachine, CallsATrainingWhoseBatchTheDeviceWaitsFor) {
  for (const Stage stage : {Stage::device_batch, Stage::transfer}) {
    std::atomic<bool> is_called = false;
    std::atomic<bool> is_in_time = false;
    auto work = idle_work();
    work.left_to_device = [&](Stage of, std::int64_t) -> DeviceWorkPtr {
      return of == stage ? std::make_unique<OrderedWork>(is_called) : nullptr;
    };
    std::atomic<bool> is_ended = false;
    work.after = [&](Stage of, int) { is_ended = is_ended || of == stage; };
    work.train = [&](std::int64_t, int) {
      is_in_time = !is_ended;
      is_called = true;
    };
    HostMachine machine(0, work, {}, true);
    const auto made = machine.start(stage, 0, {});
    const auto trained = machine.start(Stage::train, 0, std::array{made});
    machine.wait_any(std::array{trained});
    EXPECT_TRUE(is_in_time) << schedule::name_of(stage);
    machine.wait_any(std::array{made});
  }
}

TEST(HostMachine, SpansAreThoseOfTheDevicesWork) {
  SlowDevice device;
  HostMachine machine(0, device.work());
  const auto trained = machine.start(Stage::train, 0, {});
  device.wait_for_call(0);
  const double before_s = machine.now_s();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const double begin_s = std::chrono::duration<double>(now).count() + 0.010;
  device.span = {begin_s, begin_s + 0.005};
  wait_a_little();
  device.end(0);
  machine.wait_any(std::array{trained});
  const auto span = machine.span(trained);
  EXPECT_NEAR(span.end_s - span.begin_s, 0.005, 1e-6);
  EXPECT_GE(span.begin_s, before_s + 0.010 - 1e-6);
  EXPECT_LE(span.end_s, machine.now_s());
}

TEST(HostMachine, ASpanIsNeverOutsideItsStage) {
  SlowDevice device;
  device.span = {0, 1e12};
  HostMachine machine(0, device.work());
  const double before_s = machine.now_s();
  const auto trained = machine.start(Stage::train, 0, {});
  device.end(0);
  machine.wait_any(std::array{trained});
  EXPECT_GE(machine.span(trained).begin_s, before_s);
  EXPECT_LE(machine.span(trained).end_s, machine.now_s());
}

TEST(HostMachine, WhatFollowsAStageFollowsTheDevicesWork) {
  SlowDevice device;
  auto work = device.work();
  std::atomic<bool> was_done = false;
  work.after = [&](Stage, int) { was_done = device.is_ended(0); };
  HostMachine machine(0, work);
  const auto trained = machine.start(Stage::train, 0, {});
  device.wait_for_call(0);
  device.end(0);
  machine.wait_any(std::array{trained});
  EXPECT_TRUE(was_done);
}

TEST(HostMachine, RethrowsWhatTheDevicesWorkThrows) {
  SlowDevice device;
  device.failing = 0;
  HostMachine machine(0, device.work());
  const auto trained = machine.start(Stage::train, 0, {});
  device.end(0);
  EXPECT_THROW(machine.wait_any(std::array{trained}), std::runtime_error);
  EXPECT_FALSE(machine.done(trained));
}

TEST(HostMachine, DestructorWaitsForWhatIsInFlight) {
  SlowDevice device;
  std::thread ending;
  {
    HostMachine machine(0, device.work());
    machine.start(Stage::train, 0, {});
    device.wait_for_call(0);
    ending = std::thread([&] {
      wait_a_little();
      device.end(0);
    });
  }
  EXPECT_TRUE(device.is_ended(0));
  ending.join();
}

TEST(HostMachine, TicketsOfOtherMachinesAreRefused) {
  HostMachine machine(1, idle_work());
  EXPECT_THROW(machine.start(Stage::train, 0, std::vector{Ticket{5}}), std::out_of_range);
}

}  // namespace
}  // namespace gnomon::runtime
