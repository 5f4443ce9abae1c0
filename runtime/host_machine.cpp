#include "runtime/host_machine.h"

#include <array>
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

enum EngineKind { worker_engines, copy_engine, device_engine, prepare_engine, num_engine_kinds };

EngineKind engine_of(Stage stage, bool prepares_beside_training) {
  switch (stage) {
    case Stage::cpu_batch:
      return worker_engines;
    case Stage::transfer:
      return copy_engine;
    case Stage::device_batch:
    case Stage::device_gather:
      return prepares_beside_training ? prepare_engine : device_engine;
    default:
      return device_engine;
  }
}

/// A started stage and who waits for it.
struct Record {
  StageSpan span;
  int pending = 0;  ///< stages of its `after` that are not done
  bool done = false;
  std::vector<std::int64_t> successors;
};

/// A queue of tickets and the threads that sleep on it.
struct Engine {
  std::deque<std::int64_t> queue;
  std::condition_variable wake;
};

}  // namespace

struct HostMachine::State {
  State(StageWork stage_work, bool beside) : work(std::move(stage_work)), prepares_beside_training(beside) {}

  double now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  bool stopped() const { return closing || interrupted || failure; }

  void serve(EngineKind kind, int index);
  void perform(Stage stage, std::int64_t position, int worker);
  void finish(std::int64_t number);
  void fail(std::exception_ptr error);
  void wake_everyone();
  void close_and_join();

  const StageWork work;
  const bool prepares_beside_training;
  std::mutex mutex;  // guards everything below
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::deque<Record> records;
  std::array<Engine, num_engine_kinds> engines;
  std::condition_variable progress;  // the calling thread sleeps on it
  std::exception_ptr failure;
  bool interrupted = false;
  bool closing = false;
  std::vector<std::thread> threads;
};

void HostMachine::State::perform(Stage stage, std::int64_t position, int worker) {
  switch (stage) {
    case Stage::cpu_batch:
      return work.cpu_batch(position, worker);
    case Stage::transfer:
      return work.transfer(position);
    case Stage::device_batch:
      return work.device_batch(position);
    case Stage::train:
      return work.train(position);
    case Stage::device_gather:
      return work.device_gather(position);
    default:
      break;  // start_on refuses them
  }
}

void HostMachine::State::finish(std::int64_t number) {
  auto& record = records[static_cast<std::size_t>(number)];
  record.done = true;
  for (const auto successor : record.successors) {
    auto& next = records[static_cast<std::size_t>(successor)];
    if (--next.pending == 0) {
      engines[engine_of(next.span.stage, prepares_beside_training)].wake.notify_all();
    }
  }
  record.successors = {};
  progress.notify_all();
}

void HostMachine::State::wake_everyone() {
  for (auto& engine : engines) {
    engine.wake.notify_all();
  }
  progress.notify_all();
}

void HostMachine::State::fail(std::exception_ptr error) {
  if (!failure) {
    failure = std::move(error);
  }
  wake_everyone();
}

/// One thread's life. Dependencies always have smaller tickets and engines keep the order of the starts, so a
/// thread that has taken a stage may sleep until its dependencies are done: they are never behind it.
void HostMachine::State::serve(EngineKind kind, int index) {
  auto& engine = engines[kind];
  std::unique_lock lock(mutex);
  while (true) {
    engine.wake.wait(lock, [&] { return stopped() || !engine.queue.empty(); });
    if (stopped()) {
      return;
    }
    const auto number = engine.queue.front();
    engine.queue.pop_front();
    auto& record = records[static_cast<std::size_t>(number)];  // a deque's elements stay where they are
    engine.wake.wait(lock, [&] { return stopped() || record.pending == 0; });
    if (stopped()) {
      return;
    }
    record.span.worker = index;
    record.span.begin_s = now_s();
    const auto [stage, position] = std::pair(record.span.stage, record.span.batch);
    lock.unlock();
    std::exception_ptr error;
    try {
      perform(stage, position, index);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    record.span.end_s = now_s();
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
                         bool prepares_beside_training)
    : state_(std::make_unique<State>(std::move(work), prepares_beside_training)) {
  auto* state = state_.get();
  try {
    for (int i = 0; i < workers; ++i) {
      state->threads.emplace_back([state, i] { state->serve(worker_engines, i); });
      if (!worker_cores.empty()) {
        base::pin_thread(state->threads.back().native_handle(),
                         worker_cores[static_cast<std::size_t>(i) % worker_cores.size()]);
      }
    }
    state->threads.emplace_back([state] { state->serve(copy_engine, 0); });
    state->threads.emplace_back([state] { state->serve(device_engine, 0); });
    if (prepares_beside_training) {
      state->threads.emplace_back([state] { state->serve(prepare_engine, 0); });
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
  if (device != 0 || stage > Stage::device_gather) {
    throw base::InputError(
        "stage " + std::string(schedule::name_of(stage)),
        "simulated only: the runtime does not execute it on device " + std::to_string(device));
  }
  const std::lock_guard lock(state_->mutex);
  const auto number = static_cast<std::int64_t>(state_->records.size());
  Record record;
  record.span.stage = stage;
  record.span.batch = position;
  for (const auto ticket : after) {
    auto& before = state_->records.at(static_cast<std::size_t>(ticket.number));
    if (!before.done) {
      before.successors.push_back(number);
      ++record.pending;
    }
  }
  state_->records.push_back(std::move(record));
  auto& engine = state_->engines[engine_of(stage, state_->prepares_beside_training)];
  engine.queue.push_back(number);
  // A waiting worker may be one that has a stage and waits for its dependencies: wake them all.
  engine.wake.notify_all();
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
      if (state_->records.at(static_cast<std::size_t>(ticket.number)).done) {
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
