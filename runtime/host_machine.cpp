#include "runtime/host_machine.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/cores.h"
#include "base/error.h"

namespace gnomon::runtime {
namespace {

using schedule::Stage;
using schedule::StageSpan;
using schedule::Ticket;

enum EngineKind { copy_engine, device_engine, prepare_engine, num_engine_kinds };

/// Engines are numbered: the workers', the one between the devices, and then those of each device.
constexpr std::size_t worker_engines = 0;
constexpr std::size_t reduce_engine = 1;
constexpr std::size_t first_device_engine = 2;

std::size_t engine_on(int device, EngineKind kind) {
  return first_device_engine + static_cast<std::size_t>(device) * num_engine_kinds + kind;
}

std::size_t engine_of(Stage stage, int device, bool prepares_beside_training) {
  switch (stage) {
    case Stage::cpu_batch:
    case Stage::group_prepare:
      return worker_engines;
    case Stage::all_reduce:
      return reduce_engine;
    case Stage::transfer:
    case Stage::group_transfer:
      return engine_on(device, copy_engine);
    case Stage::device_batch:
    case Stage::device_gather:
      return engine_on(device, prepares_beside_training ? prepare_engine : device_engine);
    default:
      return engine_on(device, device_engine);
  }
}

/// A thread of the machine, which sleeps until it is called: nobody else wakes up then.
struct alignas(64) Sleeper {
  std::condition_variable wake;
  bool is_called = false;  ///< out of its engine's list of idle threads
};

/// A started stage and who waits for it.
struct Record {
  StageSpan span;
  int pending = 0;  ///< stages of its `after` that are not done
  bool done = false;
  bool is_awaited = false;   ///< by wait_any()
  Sleeper* taker = nullptr;  ///< the thread that has taken it, if that sleeps until nothing is pending
  std::vector<std::int64_t> successors;
};

/// A queue of tickets, and its threads that have nothing to do. The last one to become idle is called first:
/// what it used is still in its core's cache.
struct Engine {
  std::deque<std::int64_t> queue;
  std::vector<Sleeper*> idle;
};

}  // namespace

struct HostMachine::State {
  State(StageWork stage_work, bool beside, int devices)
      : work(std::move(stage_work)),
        prepares_beside_training(beside),
        num_devices(devices),
        engines(engine_on(devices, copy_engine)) {}

  double now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool stopped() const { return closing || interrupted || failure; }

  void serve(std::size_t engine_number, int index, Sleeper& self);
  Sleeper& add_sleeper() { return sleepers.emplace_back(); }
  void sleep_until_called(std::unique_lock<std::mutex>& lock, Engine& engine, Sleeper& self) const;
  Engine& engine_for(const StageSpan& span) {
    return engines[engine_of(span.stage, span.device, prepares_beside_training)];
  }
  void perform(const StageSpan& span, int worker);
  static std::exception_ptr attempt(const std::function<void()>& act);
  bool executes(Stage stage) const;
  void finish(std::int64_t number);
  void fail(std::exception_ptr error);
  void wake_everyone();
  void close_and_join();

  const StageWork work;
  const bool prepares_beside_training;
  const int num_devices;
  std::mutex mutex;  // guards everything below
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::deque<Record> records;
  std::vector<Engine> engines;
  std::deque<Sleeper> sleepers;      // of all threads
  std::condition_variable progress;  // the calling thread sleeps on it
  std::exception_ptr failure;
  bool interrupted = false;
  bool closing = false;
  std::vector<std::thread> threads;
};

void HostMachine::State::perform(const StageSpan& span, int worker) {
  switch (span.stage) {
    case Stage::cpu_batch:
      return work.cpu_batch(span.batch, worker);
    case Stage::transfer:
      return work.transfer(span.batch, span.device);
    case Stage::device_batch:
      return work.device_batch(span.batch, span.device);
    case Stage::train:
      return work.train(span.batch, span.device);
    case Stage::device_gather:
      return work.device_gather(span.batch, span.device);
    case Stage::all_reduce:
      return work.all_reduce(span.batch);
    case Stage::group_prepare:
      return work.group_prepare(span.batch, worker);
    case Stage::group_transfer:
      return work.group_transfer(span.batch);
    default:
      break;  // start_on refuses them
  }
}

bool HostMachine::State::executes(Stage stage) const {
  switch (stage) {
    case Stage::all_reduce:
      return num_devices > 1;
    case Stage::group_prepare:
      return work.group_prepare != nullptr;
    case Stage::group_transfer:
      return work.group_transfer != nullptr;
    default:
      return stage <= Stage::device_gather;
  }
}

void HostMachine::State::finish(std::int64_t number) {
  auto& record = records[static_cast<std::size_t>(number)];
  record.done = true;
  for (const auto successor : record.successors) {
    auto& next = records[static_cast<std::size_t>(successor)];
    if (--next.pending == 0 && next.taker != nullptr) {
      next.taker->wake.notify_one();
    }
  }
  record.successors = {};
  if (record.is_awaited) {
    progress.notify_all();
  }
}

void HostMachine::State::wake_everyone() {
  for (auto& sleeper : sleepers) {
    sleeper.wake.notify_one();
  }
  progress.notify_all();
}

void HostMachine::State::fail(std::exception_ptr error) {
  if (!failure) {
    failure = std::move(error);
  }
  wake_everyone();
}

/// The exception that `act` throws, if any.
std::exception_ptr HostMachine::State::attempt(const std::function<void()>& act) {
  try {
    act();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void HostMachine::State::sleep_until_called(std::unique_lock<std::mutex>& lock, Engine& engine,
                                            Sleeper& self) const {
  self.is_called = false;
  engine.idle.push_back(&self);
  self.wake.wait(lock, [&] { return stopped() || self.is_called; });
}

/// One thread's life. Dependencies always have smaller tickets and engines keep the order of the starts, so a
/// thread that has taken a stage may sleep until its dependencies are done: they are never behind it.
void HostMachine::State::serve(std::size_t engine_number, int index, Sleeper& self) {
  auto& engine = engines[engine_number];
  std::unique_lock lock(mutex);
  while (true) {
    while (!stopped() && engine.queue.empty()) {
      sleep_until_called(lock, engine, self);
    }
    if (stopped()) {
      return;
    }
    const auto number = engine.queue.front();
    engine.queue.pop_front();
    auto& record = records[static_cast<std::size_t>(number)];  // a deque's elements stay where they are
    record.taker = &self;
    self.wake.wait(lock, [&] { return stopped() || record.pending == 0; });
    if (stopped()) {
      return;
    }
    record.span.worker = index;
    record.span.begin_s = now_s();
    const StageSpan span = record.span;
    lock.unlock();
    auto error = attempt([&] { perform(span, index); });
    lock.lock();
    record.span.end_s = now_s();
    if (!error && work.after) {
      lock.unlock();
      error = attempt([&] { work.after(span.stage, span.device); });
      lock.lock();
    }
    if (error) {
      return fail(std::move(error));
    }
    finish(number);
  }
}

void HostMachine::State::close_and_join() {
  {
    const std::lock_guard lock(mutex);
    closing = true;
    wake_everyone();
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

HostMachine::HostMachine(int workers, StageWork work, const std::vector<int>& worker_cores,
                         bool prepares_beside_training, int devices)
    : state_(std::make_unique<State>(std::move(work), prepares_beside_training, devices)) {
  auto* state = state_.get();
  try {
    for (int i = 0; i < workers; ++i) {
      auto& sleeper = state->add_sleeper();
      state->threads.emplace_back([state, i, &sleeper] { state->serve(worker_engines, i, sleeper); });
      if (!worker_cores.empty()) {
        base::pin_thread(state->threads.back().native_handle(),
                         worker_cores[static_cast<std::size_t>(i) % worker_cores.size()]);
      }
    }
    const auto serve = [state](std::size_t engine) {
      auto& sleeper = state->add_sleeper();
      state->threads.emplace_back([state, engine, &sleeper] { state->serve(engine, 0, sleeper); });
    };
    for (int device = 0; device < devices; ++device) {
      serve(engine_on(device, copy_engine));
      serve(engine_on(device, device_engine));
      if (prepares_beside_training) {
        serve(engine_on(device, prepare_engine));
      }
    }
    if (devices > 1) {
      serve(reduce_engine);
    }
  } catch (const std::exception& error) {
    state->close_and_join();
    throw base::Failure("worker threads", std::string("cannot be started: ") + error.what());
  }
}

void HostMachine::begin_run() {
  const std::lock_guard lock(state_->mutex);
  state_->records.clear();
  state_->begin = std::chrono::steady_clock::now();
}

HostMachine::~HostMachine() { state_->close_and_join(); }

Ticket HostMachine::start_on(int device, Stage stage, std::int64_t position, std::span<const Ticket> after) {
  if (device < 0 || device >= state_->num_devices || !state_->executes(stage)) {
    throw base::InputError(
        "stage " + std::string(schedule::name_of(stage)),
        "simulated only: the runtime does not execute it on device " + std::to_string(device));
  }
  const std::lock_guard lock(state_->mutex);
  const auto number = static_cast<std::int64_t>(state_->records.size());
  Record record;
  record.span.stage = stage;
  record.span.batch = position;
  record.span.device = device;
  for (const auto ticket : after) {
    auto& before = state_->records.at(static_cast<std::size_t>(ticket.number));
    if (!before.done) {
      before.successors.push_back(number);
      ++record.pending;
    }
  }
  state_->records.push_back(std::move(record));
  auto& engine = state_->engine_for(state_->records.back().span);
  engine.queue.push_back(number);
  if (!engine.idle.empty()) {
    Sleeper& called = *engine.idle.back();
    engine.idle.pop_back();
    called.is_called = true;
    called.wake.notify_one();
  }
  return Ticket{number};
}

bool HostMachine::done(Ticket ticket) {
  const std::lock_guard lock(state_->mutex);
  return state_->records.at(static_cast<std::size_t>(ticket.number)).done;
}

void HostMachine::wait_any(std::span<const Ticket> tickets) {
  std::unique_lock lock(state_->mutex);
  const auto any_done = [&] {
    for (const auto ticket : tickets) {
      auto& record = state_->records.at(static_cast<std::size_t>(ticket.number));
      record.is_awaited = true;
      if (record.done) {
        return true;
      }
    }
    return false;
  };
  state_->progress.wait(lock, [&] { return state_->failure || state_->interrupted || any_done(); });
  if (state_->failure) {
    std::rethrow_exception(state_->failure);
  }
  if (state_->interrupted) {
    throw base::Interrupted();
  }
}

double HostMachine::now_s() {
  const std::lock_guard lock(state_->mutex);
  return state_->now_s();
}

StageSpan HostMachine::span(Ticket ticket) {
  const std::lock_guard lock(state_->mutex);
  return state_->records.at(static_cast<std::size_t>(ticket.number)).span;
}

void HostMachine::interrupt() {
  const std::lock_guard lock(state_->mutex);
  state_->interrupted = true;
  state_->wake_everyone();
}

}  // namespace gnomon::runtime
