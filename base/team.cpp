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

/// Steps follow each other within microseconds, sleeping and waking take a hundred: so many more looks before
/// a thread sleeps, which take about a millisecond.
constexpr int looks = 30000;

/// Waits until `value` is not `old`; sleeps at once where there is nothing to `expect` soon.
template <class T>
void wait_while(const std::atomic<T>& value, T old, const std::atomic<bool>& expect) {
  for (int look = 0; look < looks && expect.load(std::memory_order_relaxed); ++look) {
    if (value.load(std::memory_order_acquire) != old) {
      return;
    }
    __builtin_ia32_pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

struct Team::State {
  explicit State(int members) : errors(static_cast<std::size_t>(members)) {}

  void serve(int member);
  void perform(int member) noexcept;
  void close_and_join();

  Call call = nullptr;  ///< of the step that `turn` began; null: the end
  void* callable = nullptr;
  std::atomic<std::uint32_t> turn{0};
  std::atomic<bool> under_way{false};  ///< steps follow each other
  std::atomic<std::uint32_t> done{0};  ///< steps that all other members have done
  std::atomic<int> left{0};            ///< other members that still work
  std::vector<std::exception_ptr> errors;
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
    wait_while(turn, last, under_way);
    if (call == nullptr) {
      return;
    }
    perform(member);
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      done.fetch_add(1, std::memory_order_release);
      done.notify_one();
    }
  }
}

void Team::State::close_and_join() {
  call = nullptr;
  turn.fetch_add(1, std::memory_order_release);
  turn.notify_all();
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
    throw Failure("threads of a team", std::string("cannot be started: ") + error.what());
  }
}

Team::~Team() { state_->close_and_join(); }

void Team::rest() { state_->under_way.store(false, std::memory_order_relaxed); }

int Team::size() const { return static_cast<int>(state_->errors.size()); }

void Team::run(Call call, void* callable) {
  State& state = *state_;
  state.call = call;
  state.callable = callable;
  if (!state.threads.empty()) {
    const std::uint32_t done_before = state.done.load(std::memory_order_relaxed);
    state.under_way.store(true, std::memory_order_relaxed);
    state.left.store(static_cast<int>(state.threads.size()), std::memory_order_relaxed);
    state.turn.fetch_add(1, std::memory_order_release);
    state.turn.notify_all();
    state.perform(0);
    wait_while(state.done, done_before, state.under_way);
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
