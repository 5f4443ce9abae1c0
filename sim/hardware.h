#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gnomon::sim {

/// What a piece of work runs on.
enum class Resource : std::uint8_t {
  device,  ///< its lane's own: one work at a time
  cores,   ///< threads on the CPU, whose cores are shared fairly when there are more threads than cores
  link,    ///< from the host to the devices of one PCIe switch, shared fairly between all that use it
  peer,    ///< between the devices of one clique (NVLink), likewise
  disk,    ///< shared by reads in flight: as many as its queue is deep have its full speed
};

/// A piece of work: what it takes alone, and on what.
struct Work {
  double seconds = 0;
  Resource resource = Resource::device;
  int threads = 1;  ///< of Resource::cores: how many cores it keeps busy at once; of disk: reads in flight
  int unit = 0;     ///< which link or clique
};

/// What is shared on a simulated machine.
struct Shared {
  int cores = 1;
  int disk_depth = 1;  ///< reads in flight that get all there is of the disk
  int links = 1;
  int cliques = 1;
};

/// The hardware of one simulated epoch, on SimGrid's clock. Work that has its resource to itself just takes
/// its time. As soon as there are more threads than cores, two users of a link or more reads than the disk's
/// queue, SimGrid's solver divides what there is, max-min fair: the CPU is a host of so many cores, the disk
/// one of as many as its queue is deep; a link is a host of one core whose work is seconds of its full
/// bandwidth, which is divided as a link's bandwidth is but knows neither latency nor protocol.
///
/// Dates are seconds since the epoch began. SimGrid's clock follows them only as far as something is shared.
/// Works have slots, which their owner numbers from 0. Lives inside run_in_actor.
class Hardware {
 public:
  /// `scale_s`: about how long the epoch will take at most. It only places the clock's rounding. Throws
  /// invalid_argument for more of anything than a machine can have.
  Hardware(const Shared& shared, int slots, double scale_s);
  ~Hardware();
  Hardware(const Hardware&) = delete;
  Hardware& operator=(const Hardware&) = delete;

  double now_s() const;
  /// Begins work in a free slot; it takes `slowdown` times its seconds.
  void begin(int slot, const Work& work, double slowdown);
  /// What is left of the work in `slot` takes `slowdown` times as long as it would alone, from now on.
  void change_slowdown(int slot, double slowdown);
  /// Moves the clock to the next date at which work ends and returns the slots of all that ends then, in
  /// rising order; they are free again. Empty when nothing runs.
  const std::vector<int>& advance();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Makes the process's SimGrid engine if there is none yet. SimGrid's signal handlers are not kept.
void make_engine();

/// Runs `body` inside a SimGrid actor to its end. Its exceptions come out.
void run_in_actor(const std::function<void()>& body);

}  // namespace gnomon::sim
