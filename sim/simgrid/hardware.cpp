#include "sim/hardware/hardware.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <exception>
#include <limits>
#include <simgrid/s4u.hpp>
#include <simgrid/simix.hpp>
#include <stdexcept>
#include <string>
#include <utility>

namespace gnomon::sim {
namespace {

namespace s4u = simgrid::s4u;

/// The maxima in plans and profiles. All hosts are created up front, as SimGrid accepts no new ones after the
/// first run.
constexpr int most_cores = 4096;
constexpr int most_disk_depth = 256;
constexpr int most_links = 64;

/// The engine's clock counts units of about one epoch, and every epoch starts at an integral number of units.
/// Until the clock reaches twice this number, its rounding is the same for all epochs, so a run's result does
/// not depend on earlier runs.
constexpr double first_date = 4096;

/// SimGrid considers times closer than this, in units of the engine's clock, as equal.
constexpr double date_precision = 1e-12;

/// AddressSanitizer and ThreadSanitizer report exceptions thrown on SimGrid's own stacks as errors. They
/// support its thread contexts, which are slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr const char* context_option = "--cfg=contexts/factory:thread";
#else
constexpr const char* context_option = "--cfg=contexts/factory:raw";
#endif

constexpr double never_s = std::numeric_limits<double>::infinity();

std::string numbered(const char* kind, int number) { return kind + ("-" + std::to_string(number)); }

/// Restores the handlers of SIGINT and SIGSEGV, which SimGrid replaces.
class SignalHandlers {
 public:
  SignalHandlers() {
    sigaction(SIGINT, nullptr, &interrupt_);
    sigaction(SIGSEGV, nullptr, &fault_);
  }
  ~SignalHandlers() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGSEGV, &fault_, nullptr);
  }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;

 private:
  struct sigaction interrupt_ = {};
  struct sigaction fault_ = {};
};

void make_platform() {
  auto* machine = s4u::create_empty_zone("machine");
  for (int cores = 1; cores <= most_cores; ++cores) {
    machine->create_host(numbered("cpu", cores), 1.0)->set_core_count(cores)->seal();
  }
  for (int depth = 1; depth <= most_disk_depth; ++depth) {
    machine->create_host(numbered("disk", depth), 1.0)->set_core_count(depth)->seal();
  }
  for (int link = 0; link < most_links; ++link) {
    machine->create_host(numbered("link", link), 1.0)->seal();
    machine->create_host(numbered("peer", link), 1.0)->seal();
  }
  machine->seal();
}

s4u::Engine& engine() {
  if (!s4u::Engine::has_instance()) {
    const SignalHandlers kept;
    std::string name = "gnomon";
    std::string quiet = "--log=root.thresh:error";
    std::string contexts = context_option;
    char* arguments[] = {name.data(), quiet.data(), contexts.data(), nullptr};
    int count = 3;
    // SimGrid owns the engine and destroys it at exit.
    s4u::Engine* made = s4u::Engine::get_instance(&count, arguments);
    s4u::Engine::set_config("surf/precision", date_precision);
    s4u::Engine::set_config("maxmin/precision", 1e-9);
    make_platform();
    return *made;
  }
  return *s4u::Engine::get_instance();
}

}  // namespace

void make_engine() { engine(); }

void run_in_actor(const std::function<void()>& body) {
  s4u::Engine& runs = engine();
  std::exception_ptr thrown;
  s4u::Actor::create("policy", s4u::Host::by_name("link-0"), [&] {
    try {
      body();
    } catch (const simgrid::ForcefulKillException&) {
      throw;
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  runs.run();
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

namespace {

struct State {
  /// A resource that several works can share.
  struct Pool {
    s4u::Host* host = nullptr;
    int capacity = 1;
    int threads = 0;
    bool is_short() const { return threads > capacity; }
  };
  struct Slot {
    Work work;
    double slowdown = 1;
    double end_s = never_s;  ///< infinite while it shares its resource, as SimGrid then computes the end
    Pool* pool = nullptr;    ///< null for a device
    bool shares = false;
    double stretch = 1;  ///< of the remaining work, if not yet passed to SimGrid

    bool is_short() const { return pool != nullptr && pool->is_short(); }
    bool is_outdated() const { return is_short() != shares || stretch != 1; }
  };

  double unit_s = 1;  ///< a power of two, so that division by it is exact
  double origin = 0;  ///< the epoch's begin on the engine's clock
  double now_s = 0;
  Pool cores, disk;
  std::vector<Pool> links, cliques;
  std::vector<Slot> slots;
  std::vector<int> busy;                  ///< busy slots, unordered
  std::vector<s4u::ActivityPtr> shared;   ///< running executions …
  std::vector<int> shared_slots;          ///< … and their slots
  std::vector<s4u::ActivityPtr> stopped;  ///< kept until SimGrid has processed them
  std::vector<int> ended;
  std::vector<int> outdated;
  int short_pools = 0;

  double to_date(double seconds) const { return origin + seconds / unit_s; }
  Slot& at(int slot) { return slots[static_cast<std::size_t>(slot)]; }

  Pool* pool_of(const Work& work) {
    switch (work.resource) {
      case Resource::device:
        return nullptr;
      case Resource::cores:
        return &cores;
      case Resource::disk:
        return &disk;
      case Resource::link:
        return &links.at(static_cast<std::size_t>(work.unit));
      case Resource::peer:
        break;
    }
    return &cliques.at(static_cast<std::size_t>(work.unit));
  }

  void count(Pool* pool, int threads) {
    if (pool != nullptr) {
      short_pools -= pool->is_short();
      pool->threads += threads;
      short_pools += pool->is_short();
    }
  }

  void execute(int slot, double seconds) {
    auto execution = s4u::Exec::init()->set_flops_amount(seconds / unit_s);
    execution->set_host(at(slot).pool->host);
    execution->set_thread_count(at(slot).work.threads);
    execution->start();
    shared.emplace_back(std::move(execution));
    shared_slots.push_back(slot);
  }

  void forget(std::size_t position) {
    shared.erase(shared.begin() + static_cast<std::ptrdiff_t>(position));
    shared_slots.erase(shared_slots.begin() + static_cast<std::ptrdiff_t>(position));
  }

  /// Stops an execution and returns its remaining seconds at full speed.
  double stop(std::size_t position) {
    const auto execution = shared[position];
    // SimGrid's amount is the total over all threads.
    const double left = execution->get_remaining() / at(shared_slots[position]).work.threads * unit_s;
    execution->cancel();
    stopped.push_back(execution);
    forget(position);
    return left;
  }
  double stop_slot(int slot) {
    const auto position = std::find(shared_slots.begin(), shared_slots.end(), slot) - shared_slots.begin();
    return stop(static_cast<std::size_t>(position));
  }

  /// Catches up SimGrid's clock, which does not advance while nothing is shared.
  void catch_up() {
    if (shared.empty() && s4u::Engine::get_clock() < to_date(now_s)) {
      s4u::this_actor::sleep_until(to_date(now_s));
    }
  }

  /// Passes work that now shares its resource to SimGrid's solver, takes back work that no longer does, and
  /// restarts work whose speed has changed.
  void divide(int slot) {
    Slot& here = at(slot);
    const double left_s = here.shares ? stop_slot(slot) * std::exchange(here.stretch, 1) : here.end_s - now_s;
    here.shares = here.is_short();
    here.end_s = here.shares ? never_s : now_s + left_s;
    if (here.shares) {
      execute(slot, left_s);
    }
  }

  /// In one simcall: an actor would be suspended once per change otherwise.
  void divide() {
    if (shared.empty() && short_pools == 0) {
      return;
    }
    catch_up();
    outdated.clear();
    std::copy_if(busy.begin(), busy.end(), std::back_inserter(outdated),
                 [this](int slot) { return at(slot).is_outdated(); });
    if (outdated.empty()) {
      return;
    }
    std::sort(outdated.begin(), outdated.end());
    stopped.clear();
    simgrid::kernel::actor::simcall_answered([this] {
      for (const int slot : outdated) {
        divide(slot);
      }
    });
  }

  /// The caller updates `busy`.
  void end(int slot) {
    count(at(slot).pool, -at(slot).work.threads);
    at(slot) = {};
    ended.push_back(slot);
  }
  void end_shared(std::size_t position) {
    const int slot = shared_slots[position];
    forget(position);
    end(slot);
  }

  double next_end_s() const {
    double next_s = never_s;
    for (const int slot : busy) {
      next_s = std::min(next_s, slots[static_cast<std::size_t>(slot)].end_s);
    }
    return next_s;
  }

  /// Advances the clock until `next_s`, when unshared work ends, or until shared work ends before that.
  void sleep_until(double next_s) {
    if (shared.empty()) {
      now_s = next_s;
      return;
    }
    const double pause = std::max(0.0, to_date(next_s) - s4u::Engine::get_clock());
    const double timeout = next_s == never_s ? -1 : pause;
    const auto first = s4u::Activity::wait_any_for(shared, timeout);
    if (first < 0) {
      now_s = next_s;
      return;
    }
    now_s = std::max(now_s, (s4u::Engine::get_clock() - origin) * unit_s);
    end_shared(static_cast<std::size_t>(first));
  }

  /// Collects everything else that ends at the same time.
  void end_the_rest() {
    while (!shared.empty()) {
      const auto next = s4u::Activity::test_any(shared);
      if (next < 0) {
        break;
      }
      end_shared(static_cast<std::size_t>(next));
    }
    for (const int slot : busy) {
      if (at(slot).end_s <= now_s + date_precision * unit_s) {
        end(slot);
      }
    }
    std::sort(ended.begin(), ended.end());
    std::erase_if(busy, [this](int slot) { return std::binary_search(ended.begin(), ended.end(), slot); });
  }
};

void require_at_most(int count, int max, const char* what) {
  if (count < 1 || count > max) {
    throw std::invalid_argument("a simulated machine has 1 to " + std::to_string(max) + " " + what +
                                ", not " + std::to_string(count));
  }
}

class SolvedHardware final : public Hardware {
 public:
  SolvedHardware(const Shared& shared, int slots, double scale_s) {
    require_at_most(shared.cores, most_cores, "cores");
    require_at_most(shared.disk_depth, most_disk_depth, "reads in flight");
    require_at_most(shared.links, most_links, "links");
    require_at_most(shared.cliques, most_links, "cliques of devices");
    const auto host = [](const char* kind, int number) { return s4u::Host::by_name(numbered(kind, number)); };
    state_.unit_s = scale_s > 0 ? std::exp2(std::ceil(std::log2(scale_s))) : 1;
    state_.cores = {host("cpu", shared.cores), shared.cores};
    state_.disk = {host("disk", shared.disk_depth), shared.disk_depth};
    for (int link = 0; link < shared.links; ++link) {
      state_.links.push_back({host("link", link)});
    }
    for (int clique = 0; clique < shared.cliques; ++clique) {
      state_.cliques.push_back({host("peer", clique)});
    }
    state_.slots.resize(static_cast<std::size_t>(slots));
    state_.origin = std::max(first_date, std::ceil(s4u::Engine::get_clock()));
  }

  ~SolvedHardware() override {
    while (!state_.shared.empty()) {
      state_.stop(0);
    }
  }

  double now_s() const override { return state_.now_s; }

  void begin(int slot, const Work& work, double slowdown) override {
    auto* pool = state_.pool_of(work);
    state_.at(slot) = {work, slowdown, state_.now_s + work.seconds * slowdown, pool};
    state_.count(pool, work.threads);
    state_.busy.push_back(slot);
  }

  void change_slowdown(int slot, double slowdown) override {
    auto& here = state_.at(slot);
    const double ratio = slowdown / here.slowdown;
    here.slowdown = slowdown;
    if (here.shares) {
      here.stretch *= ratio;
    } else {
      here.end_s = state_.now_s + (here.end_s - state_.now_s) * ratio;
    }
  }

  const std::vector<int>& advance() override {
    state_.ended.clear();
    state_.divide();
    const double next_s = state_.next_end_s();
    if (next_s < never_s || !state_.shared.empty()) {
      state_.sleep_until(next_s);
      state_.end_the_rest();
    }
    return state_.ended;
  }

 private:
  State state_;
};

}  // namespace

std::unique_ptr<Hardware> make_solved_hardware(const Shared& shared, int slots, double scale_s) {
  return std::make_unique<SolvedHardware>(shared, slots, scale_s);
}

}  // namespace gnomon::sim
