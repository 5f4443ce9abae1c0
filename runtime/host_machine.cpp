#include "runtime/host_machine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
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

/// Engines are numbered: the workers', the one between the devices, the disk's, and then those of each
/// device.
constexpr std::size_t worker_engines = 0;
constexpr std::size_t reduce_engine = 1;
constexpr std::size_t disk_engine = 2;
constexpr std::size_t first_device_engine = 3;

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
    case Stage::group_read:
      return disk_engine;
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

double seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A sleeping thread of the machine, which can be woken individually.
struct alignas(64) Sleeper {
  std::condition_variable wake;
  bool is_called = false;  ///< removed from its engine's list of idle threads
};

/// A started stage and the stages that depend on it.
struct Record {
  StageSpan span;
  int pending = 0;  ///< unfinished dependencies
  bool done = false;
  bool is_in_flight = false;          ///< its call has returned, but its device work has not completed
  bool is_ordered_by_device = false;  ///< in flight, and DeviceWork::orders_successors()
  bool is_awaited = false;            ///< by wait_any()
  Sleeper* taker = nullptr;           ///< the thread that has taken it and sleeps until nothing is pending
  std::vector<std::int64_t> successors;
};

/// A queue of tickets and its idle threads. The last one to become idle is woken first: its data is still in
/// its core's cache.
struct Engine {
  std::deque<std::int64_t> queue;
  std::vector<Sleeper*> idle;
};

/// The unfinished device work of a stage.
struct InFlight {
  std::int64_t number = 0;
  DeviceWorkPtr work;
};

/// A thread that serves an engine.
struct Server {
  std::size_t engine = 0;
  int index = 0;  ///< among the engine's threads
  Sleeper* self = nullptr;
  std::deque<InFlight> in_flight{};
};

/// Maximum stages in flight on an engine: one is launched while the device gathers for and trains the
/// mini-batch before.
constexpr std::size_t max_in_flight = 3;

}  // namespace

struct HostMachine::State {
  State(StageWork stage_work, bool beside, int devices)
      : work(std::move(stage_work)),
        prepares_beside_training(beside),
        num_devices(devices),
        engines(engine_on(devices, copy_engine)) {}

  double now_s() const { return seconds(std::chrono::steady_clock::now() - begin); }
  bool stopped() const { return closing || interrupted || failure; }

  void serve(Server server);
  std::optional<std::int64_t> next_stage(std::unique_lock<std::mutex>& lock, Server& server);
  void run(std::unique_lock<std::mutex>& lock, Server& server, std::int64_t number);
  bool is_awaited(const InFlight& in_flight) const;
  bool end_first_in_flight(std::unique_lock<std::mutex>& lock, Server& server);
  void end(std::unique_lock<std::mutex>& lock, std::int64_t number);
  void take_span(StageSpan& span, const WorkSpan& of_device) const;
  Sleeper& add_sleeper() { return sleepers.emplace_back(); }
  void sleep_until_called(std::unique_lock<std::mutex>& lock, Engine& engine, Sleeper& self) const;
  std::size_t engine_of(const StageSpan& span) const {
    return runtime::engine_of(span.stage, span.device, prepares_beside_training);
  }
  void perform(const StageSpan& span, int worker);
  static std::exception_ptr attempt(const std::function<void()>& act);
  bool executes(Stage stage) const;
  bool is_ordered(const Record& before, const StageSpan& next) const;
  void release(Record& record);
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
    case Stage::group_read:
      return work.group_read(span.batch);
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
    case Stage::group_read:
      return work.group_read != nullptr;
    default:
      return stage <= Stage::device_gather;
  }
}

/// Whether a dependent of a stage in flight may be launched: on the same engine, or where the device waits
/// for its mini-batch itself.
bool HostMachine::State::is_ordered(const Record& before, const StageSpan& next) const {
  const bool reads_batch = next.stage == Stage::train || next.stage == Stage::device_gather;
  const bool is_same_batch = before.span.batch == next.batch && before.span.device == next.device;
  return before.is_in_flight && (engine_of(before.span) == engine_of(next) ||
                                 (before.is_ordered_by_device && reads_batch && is_same_batch));
}

/// Releases the dependents of a stage that is done, or those that may be launched while it is in flight.
void HostMachine::State::release(Record& record) {
  std::erase_if(record.successors, [&](std::int64_t successor) {
    auto& next = records[static_cast<std::size_t>(successor)];
    const bool is_meant = record.done || is_ordered(record, next.span);
    if (is_meant && --next.pending == 0 && next.taker != nullptr) {
      next.taker->wake.notify_one();
    }
    return is_meant;
  });
}

void HostMachine::State::finish(std::int64_t number) {
  auto& record = records[static_cast<std::size_t>(number)];
  record.done = true;
  record.is_in_flight = false;
  release(record);
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

/// Calls `act` and returns its exception, if any.
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

/// Takes the next stage of the server's engine and waits for its dependencies; none if the machine stops. A
/// thread that has taken a stage may sleep until its dependencies are done, because these have smaller
/// tickets and engines keep the order of the starts, so they are never queued behind it. Before it sleeps, it
/// completes its device's work in flight, which others may wait for.
std::optional<std::int64_t> HostMachine::State::next_stage(std::unique_lock<std::mutex>& lock,
                                                           Server& server) {
  auto& engine = engines[server.engine];
  while (!stopped() && engine.queue.empty()) {
    if (!end_first_in_flight(lock, server)) {
      sleep_until_called(lock, engine, *server.self);
    }
  }
  if (stopped()) {
    return std::nullopt;
  }
  const auto number = engine.queue.front();
  engine.queue.pop_front();
  auto& record = records[static_cast<std::size_t>(number)];  // elements of a deque do not move
  record.taker = server.self;
  while (!stopped() && record.pending > 0) {
    if (!end_first_in_flight(lock, server)) {
      server.self->wake.wait(lock, [&] { return stopped() || record.pending == 0; });
    }
  }
  return stopped() ? std::nullopt : std::optional(number);
}

/// Calls a stage's work. Unless device work is left, ends the stages in flight on its engine, and then the
/// stage.
void HostMachine::State::run(std::unique_lock<std::mutex>& lock, Server& server, std::int64_t number) {
  auto& record = records[static_cast<std::size_t>(number)];
  record.span.worker = server.index;
  record.span.begin_s = now_s();
  const StageSpan span = record.span;
  DeviceWorkPtr left;
  lock.unlock();
  auto error = attempt([&] {
    perform(span, server.index);
    left = work.left_to_device ? work.left_to_device(span.stage, span.batch) : nullptr;
  });
  lock.lock();
  record.span.end_s = now_s();
  if (error) {
    fail(std::move(error));
  } else if (left) {
    record.is_in_flight = true;
    record.is_ordered_by_device = left->orders_successors();
    release(record);
    server.in_flight.push_back({number, std::move(left)});
  } else {
    while (!stopped() && end_first_in_flight(lock, server)) {
    }
    end(lock, number);
  }
}

/// Event times are only as precise as the last synchronisation of the clocks, so the span is clamped to lie
/// between the stage's call and its end.
void HostMachine::State::take_span(StageSpan& span, const WorkSpan& of_device) const {
  const double offset_s = seconds(begin.time_since_epoch());
  const double now = now_s();
  span.begin_s = std::clamp(of_device.begin_s - offset_s, span.begin_s, now);
  span.end_s = std::clamp(of_device.end_s - offset_s, span.begin_s, now);
}

/// Whether a stage waits for its end; those that may be launched before have been released.
bool HostMachine::State::is_awaited(const InFlight& in_flight) const {
  return !records[static_cast<std::size_t>(in_flight.number)].successors.empty();
}

/// Waits for the first stage that the server's device has in flight; false if there is none.
bool HostMachine::State::end_first_in_flight(std::unique_lock<std::mutex>& lock, Server& server) {
  if (server.in_flight.empty()) {
    return false;
  }
  InFlight first = std::move(server.in_flight.front());
  server.in_flight.pop_front();
  WorkSpan span;
  lock.unlock();
  auto error = attempt([&] {
    first.work->wait();
    span = first.work->span();
  });
  first.work.reset();  // frees the memory before the stage counts as done
  lock.lock();
  if (error) {
    fail(std::move(error));
  } else {
    take_span(records[static_cast<std::size_t>(first.number)].span, span);
    end(lock, first.number);
  }
  return true;
}

/// Runs the stage's `after` hook, and then releases its dependents.
void HostMachine::State::end(std::unique_lock<std::mutex>& lock, std::int64_t number) {
  if (work.after) {
    const StageSpan span = records[static_cast<std::size_t>(number)].span;
    lock.unlock();
    auto error = attempt([&] { work.after(span.stage, span.device); });
    lock.lock();
    if (error) {
      return fail(std::move(error));
    }
  }
  finish(number);
}

/// The main function of a thread. A stage in flight is completed as soon as its device work is found done, or
/// before the next stage if another engine waits for it, and otherwise as late as possible: a wait of the
/// host for the next mini-batch usually covers it.
void HostMachine::State::serve(Server server) {
  std::unique_lock lock(mutex);
  while (const auto number = next_stage(lock, server)) {
    const auto& in_flight = server.in_flight;
    while (!stopped() && (in_flight.size() >= max_in_flight ||
                          std::any_of(in_flight.begin(), in_flight.end(),
                                      [&](const InFlight& each) { return is_awaited(each); }))) {
      end_first_in_flight(lock, server);
    }
    if (stopped()) {
      return;
    }
    run(lock, server, *number);
    while (!stopped() && !server.in_flight.empty() && server.in_flight.front().work->is_done()) {
      end_first_in_flight(lock, server);
    }
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
      state->threads.emplace_back([state, i, &sleeper] { state->serve({worker_engines, i, &sleeper}); });
      if (!worker_cores.empty()) {
        base::pin_thread(state->threads.back().native_handle(),
                         worker_cores[static_cast<std::size_t>(i) % worker_cores.size()]);
      }
    }
    const auto serve = [state](std::size_t engine) {
      auto& sleeper = state->add_sleeper();
      state->threads.emplace_back([state, engine, &sleeper] { state->serve({engine, 0, &sleeper}); });
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
    if (state->work.group_read) {
      serve(disk_engine);
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
  const auto engine_number = state_->engine_of(record.span);
  for (const auto ticket : after) {
    auto& before = state_->records.at(static_cast<std::size_t>(ticket.number));
    if (!before.done && !state_->is_ordered(before, record.span)) {
      before.successors.push_back(number);
      ++record.pending;
    }
  }
  state_->records.push_back(std::move(record));
  auto& engine = state_->engines[engine_number];
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

std::vector<std::int64_t> HostMachine::group_sizes() const {
  return state_->work.group_sizes ? state_->work.group_sizes() : std::vector<std::int64_t>();
}

void HostMachine::assign(std::int64_t position, std::int64_t index, int pass) {
  if (state_->work.assign) {
    state_->work.assign(position, index, pass);
  }
}

void HostMachine::interrupt() {
  const std::lock_guard lock(state_->mutex);
  state_->interrupted = true;
  state_->wake_everyone();
}

}  // namespace gnomon::runtime
