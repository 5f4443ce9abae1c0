#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gnomon::sim {

/// What a piece of work runs on.
enum class Resource : std::uint8_t {
  device,  ///< the engine's own: one work at a time
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

/// The hardware of one simulated epoch. Work that has its resource to itself just takes its time; what is
/// short is divided max-min fair: threads among cores, reads among the disk's queue, and all that use a link
/// have equal parts of its bandwidth. Latency and protocol are in the seconds that works were measured with.
///
/// Dates are seconds since the epoch began. Works have slots, which their owner numbers from 0.
class Hardware {
 public:
  Hardware() = default;
  Hardware(const Hardware&) = delete;
  Hardware& operator=(const Hardware&) = delete;
  virtual ~Hardware() = default;

  virtual double now_s() const = 0;
  /// Begins work in a free slot; it takes `slowdown` times its seconds.
  virtual void begin(int slot, const Work& work, double slowdown) = 0;
  /// What is left of the work in `slot` takes `slowdown` times as long as it would alone, from now on.
  virtual void change_slowdown(int slot, double slowdown) = 0;
  /// Moves the clock to the next date at which work ends and returns the slots of all that ends then, in
  /// rising order; they are free again. Empty when nothing runs.
  virtual const std::vector<int>& advance() = 0;
};

/// On SimGrid: as soon as there are more threads than cores, two users of a link or more reads than the
/// disk's queue, its solver divides what there is. The CPU is a host of so many cores, the disk one of as
/// many as its queue is deep; a link is a host of one core whose work is seconds of its full bandwidth.
/// SimGrid's clock follows the dates only as far as something is shared. Lives inside run_in_actor.
///
/// `scale_s`: about how long the epoch will take at most. It only places the clock's rounding. Throws
/// invalid_argument for more of anything than a machine can have.
std::unique_ptr<Hardware> make_solved_hardware(const Shared& shared, int slots, double scale_s);

/// The same by arithmetic. As no work here uses two resources at a time, max-min fairness is that t threads
/// on c cores get c/t each when that is less than 1.
std::unique_ptr<Hardware> make_computed_hardware(const Shared& shared, int slots, double scale_s);

/// Makes the process's SimGrid engine if there is none yet. SimGrid's signal handlers are not kept.
void make_engine();

/// Runs `body` inside a SimGrid actor to its end. Its exceptions come out.
void run_in_actor(const std::function<void()>& body);

}  // namespace gnomon::sim
