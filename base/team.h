#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace gnomon::base {

/// Threads that do a piece of work in short steps together: the caller, who is member 0, and others that
/// sleep between the pieces. A step costs microseconds, not the start of threads. One caller at a time.
class Team {
 public:
  /// Member i > 0 runs on core cores[i] only; without any, where the system puts it. Throws base::Failure
  /// when threads cannot be started or pinned.
  explicit Team(int members, const std::vector<int>& cores = {});
  ~Team();

  int size() const;

  /// Calls work(member) for each member, at once, and returns when all have returned. Rethrows what one of
  /// them threw, the first by number.
  template <class Work>
  void step(Work&& work) {
    run([](void* callable, int member) { (*static_cast<std::remove_reference_t<Work>*>(callable))(member); },
        const_cast<void*>(static_cast<const void*>(&work)));
  }

  /// No step follows soon: the members sleep until one does.
  void rest();

 private:
  using Call = void (*)(void* callable, int member);
  void run(Call call, void* callable);

  struct State;
  std::unique_ptr<State> state_;
};

/// begin … end-1; share_of gives the part-th of `parts` such ranges, alike to one, of 0 … count-1.
struct Share {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
constexpr Share share_of(std::int64_t count, int part, int parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace gnomon::base
