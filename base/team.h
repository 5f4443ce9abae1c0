#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

namespace gnomon::base {

/// Calls body(0) … body(members - 1) and returns when all have returned; on several threads, if it can.
using ForkJoin = std::function<void(int members, const std::function<void(int member)>& body)>;

/// A fork-join thread team for short parallel steps. The caller is member 0; the other members are threads
/// that spin between steps that follow each other and block when parked. Only one thread at a time may call.
class Team {
 public:
  /// A team without threads of its own: `fork_join` runs the members of each step.
  Team(int members, ForkJoin fork_join);
  /// Member i > 0 is pinned to core cores[i]; with no cores given, it runs anywhere. Throws base::Failure if
  /// threads cannot be started or pinned.
  explicit Team(int members, const std::vector<int>& cores = {});
  ~Team();

  int size() const;

  /// Runs work(member) concurrently on all members and returns when all have finished. Rethrows the exception
  /// of the lowest member that threw.
  template <class Work>
  void step(Work&& work) {
    run([](void* callable, int member) { (*static_cast<std::remove_reference_t<Work>*>(callable))(member); },
        const_cast<void*>(static_cast<const void*>(&work)));
  }

  /// Tells the team's own threads that no step follows soon: they block instead of spinning until the next
  /// step.
  void park();

 private:
  using Call = void (*)(void* callable, int member);
  void run(Call call, void* callable);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gnomon::base
