#include "base/team.h"

#include <atomic>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "base/cores.h"
#include "base/error.h"

namespace gnomon::base {
namespace {

/// Spin iterations before blocking (about 1 ms). Steps follow each other within microseconds, which is much
/// less than a thread takes to block and wake up.
constexpr int spin_iterations = 30000;
/// Iterations between two yields of a spinning thread's core: the thread that it waits for may be scheduled
/// on the same core, and would otherwise run only after the spinning or at the end of the time slice.
constexpr int yield_interval = 512;

/// Waits until `value` differs from `old`. Blocks without spinning as soon as `spin` is false.
template <class T>
void wait_while(const std::atomic<T>& value, T old, const std::atomic<bool>& spin) {
  for (int i = 0; i < spin_iterations && spin.load(std::memory_order_relaxed); ++i) {
    if (value.load(std::memory_order_acquire) != old) {
      return;
    }
    if (i % yield_interval == yield_interval - 1) {
      std::this_thread::yield();
    } else {
      __builtin_ia32_pause();
    }
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

/// The size of a cache line.
constexpr std::size_t line_bytes = 64;

struct Team::State {
  // Exceptions are kept, not thrown. NOLINTNEXTLINE(bugprone-throw-keyword-missing)
  explicit State(int members) : errors(static_cast<std::size_t>(members)) {}

  void serve(int member);
  void perform(int member) noexcept;
  void close_and_join();

  ForkJoin fork_join;  ///< runs the members; empty if the team has threads of its own
  // Members that wait for a step read the next four, which the caller writes before it begins one.
  alignas(line_bytes) Call call = nullptr;  ///< the current step's function; null ends the threads
  void* callable = nullptr;
  std::atomic<std::uint32_t> steps_started{0};  ///< its increment publishes `call` and `callable`
  std::atomic<bool> spins{false};               ///< steps follow each other; false while parked
  /// Number of members other than the caller that have not finished the step. All members write it, so it
  /// does not share a cache line with the fields that waiting members read.
  alignas(line_bytes) std::atomic<int> num_running{0};
  /// Steps that all members but the caller have finished; the caller waits for it.
  alignas(line_bytes) std::atomic<std::uint32_t> steps_finished{0};
  alignas(line_bytes) std::vector<std::exception_ptr> errors;
  std::vector<std::thread> threads;
};

void Team::State::perform(int member) noexcept {
  try {
    call(callable, member);
  } catch (...) {
    errors[static_cast<std::size_t>(member)] = std::current_exception();
  }
}

void Team::State::serve(int member) {
  for (std::uint32_t last = 0;; ++last) {
    wait_while(steps_started, last, spins);
    if (call == nullptr) {
      return;
    }
    perform(member);
    if (num_running.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      steps_finished.fetch_add(1, std::memory_order_release);
      steps_finished.notify_one();
    }
  }
}

void Team::State::close_and_join() {
  call = nullptr;
  steps_started.fetch_add(1, std::memory_order_release);
  steps_started.notify_all();
  for (auto& thread : threads) {
    thread.join();
  }
}

Team::Team(int members, const std::vector<int>& cores) : state_(std::make_unique<State>(members)) {
  auto* state = state_.get();
  try {
    for (int member = 1; member < members; ++member) {
      state->threads.emplace_back([state, member] { state->serve(member); });
      if (!cores.empty()) {
        pin_thread(state->threads.back().native_handle(),
                   cores[static_cast<std::size_t>(member) % cores.size()]);
      }
    }
  } catch (const std::exception& error) {
    state->close_and_join();
    throw Failure("thread team", std::string("cannot start threads: ") + error.what());
  }
}

Team::Team(int members, ForkJoin fork_join) : state_(std::make_unique<State>(members)) {
  state_->fork_join = std::move(fork_join);
}

Team::~Team() { state_->close_and_join(); }

void Team::park() { state_->spins.store(false, std::memory_order_relaxed); }

int Team::size() const { return static_cast<int>(state_->errors.size()); }

void Team::run(Call call, void* callable) {
  State& state = *state_;
  state.call = call;
  state.callable = callable;
  if (!state.threads.empty()) {
    const std::uint32_t finished_before = state.steps_finished.load(std::memory_order_relaxed);
    state.spins.store(true, std::memory_order_relaxed);
    state.num_running.store(static_cast<int>(state.threads.size()), std::memory_order_relaxed);
    state.steps_started.fetch_add(1, std::memory_order_release);
    state.steps_started.notify_all();
    state.perform(0);
    wait_while(state.steps_finished, finished_before, state.spins);
  } else if (state.fork_join && size() > 1) {
    state.fork_join(size(), [&](int member) { state.perform(member); });
  } else {
    state.perform(0);
  }
  std::exception_ptr first;
  for (auto& error : state.errors) {
    if (auto thrown = std::exchange(error, nullptr); thrown && !first) {
      first = std::move(thrown);
    }
  }
  if (first) {
    std::rethrow_exception(first);
  }
}

}  // namespace gnomon::base
