#include <algorithm>
#include <limits>
#include <utility>

#include "sim/hardware/hardware.h"

namespace gnomon::sim {
namespace {

/// Times closer than this, relative to the epoch, are considered equal, as in SimGrid.
constexpr double date_precision = 1e-12;

class ComputedHardware final : public Hardware {
 public:
  ComputedHardware(const Shared& shared, int slots, double scale_s)
      : precision_s_(date_precision * scale_s),
        pools_{{.capacity = shared.cores}, {.capacity = shared.disk_depth}},
        first_clique_(first_link + shared.links),
        slots_(static_cast<std::size_t>(slots)) {
    pools_.resize(static_cast<std::size_t>(first_clique_ + shared.cliques));
  }

  double now_s() const override { return now_s_; }

  void begin(int slot, const Work& work, double slowdown) override {
    const int pool = pool_of(work);
    count(pool, work.threads);
    at(slot) = {pool, work.threads, slowdown, now_s_ + work.seconds * slowdown * stretch_of(pool)};
    busy_.push_back(slot);
  }

  void change_slowdown(int slot, double slowdown) override {
    Slot& here = at(slot);
    stretch(here, slowdown / here.slowdown);
    here.slowdown = slowdown;
  }

  const std::vector<int>& advance() override {
    ended_.clear();
    double next_s = std::numeric_limits<double>::infinity();
    for (const int slot : busy_) {
      next_s = std::min(next_s, at(slot).end_s);
    }
    for (const int slot : busy_) {
      if (at(slot).end_s <= next_s + precision_s_) {
        ended_.push_back(slot);
      }
    }
    if (!ended_.empty()) {
      now_s_ = next_s;
      std::sort(ended_.begin(), ended_.end());
      std::erase_if(busy_,
                    [this](int slot) { return std::binary_search(ended_.begin(), ended_.end(), slot); });
      for (const int slot : ended_) {
        count(at(slot).pool, -at(slot).threads);
      }
    }
    return ended_;
  }

 private:
  struct Pool {
    int capacity = 1;
    int threads = 0;
    double stretch = 1;  ///< current slowdown of its works
  };
  struct Slot {
    int pool = -1;
    int threads = 1;
    double slowdown = 1;
    double end_s = 0;
  };
  static constexpr int no_pool = -1;  ///< a device's own engine
  static constexpr int first_link = 2;

  Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }

  int pool_of(const Work& work) const {
    switch (work.resource) {
      case Resource::device:
        return no_pool;
      case Resource::cores:
        return 0;
      case Resource::disk:
        return 1;
      case Resource::link:
        return first_link + work.unit;
      case Resource::peer:
        break;
    }
    return first_clique_ + work.unit;
  }

  double stretch_of(int pool) const {
    return pool == no_pool ? 1 : pools_[static_cast<std::size_t>(pool)].stretch;
  }

  void stretch(Slot& slot, double ratio) const { slot.end_s = now_s_ + (slot.end_s - now_s_) * ratio; }

  void count(int pool, int threads) {
    if (pool == no_pool) {
      return;
    }
    Pool& here = pools_[static_cast<std::size_t>(pool)];
    here.threads += threads;
    const double stretched = std::max(1.0, static_cast<double>(here.threads) / here.capacity);
    const double ratio = stretched / std::exchange(here.stretch, stretched);
    for (const int slot : busy_) {
      if (ratio != 1 && at(slot).pool == pool) {
        stretch(at(slot), ratio);
      }
    }
  }

  double precision_s_;
  double now_s_ = 0;
  std::vector<Pool> pools_;  ///< cores, disk, links, cliques
  int first_clique_;
  std::vector<Slot> slots_;
  std::vector<int> busy_;  ///< busy slots, unordered
  std::vector<int> ended_;
};

}  // namespace

std::unique_ptr<Hardware> make_computed_hardware(const Shared& shared, int slots, double scale_s) {
  return std::make_unique<ComputedHardware>(shared, slots, scale_s);
}

}  // namespace gnomon::sim
