#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gnomon::sim {

/// The resource that a piece of work uses.
enum class Resource : std::uint8_t {
  device,  ///< the engine's own, for one work at a time
  cores,   ///< CPU cores, shared fairly if there are more threads than cores
  link,    ///< from the host to the devices of one PCIe switch, shared fairly
  peer,    ///< between the devices of one clique (NVLink), shared fairly
  disk,    ///< shared by reads in flight, which have full speed up to the queue depth
};

/// A piece of work: its time alone and its resource.
struct Work {
  double seconds = 0;
  Resource resource = Resource::device;
  int threads = 1;  ///< cores: number of busy cores; disk: number of reads in flight
  int unit = 0;     ///< which link or clique
};

/// The shared resources of a simulated machine.
struct Shared {
  int cores = 1;
  int disk_depth = 1;  ///< reads in flight that saturate the disk
  int links = 1;
  int cliques = 1;
};

/// The hardware of one simulated epoch. Work with exclusive use of its resource takes its time alone.
/// Contended resources are divided with max-min fairness: cores between threads, the disk between reads, and
/// a link's bandwidth between its users. Latency and protocol overhead are part of the measured times.
///
/// Times are seconds since the start of the epoch. Works occupy slots, which their owner numbers from 0.
class Hardware {
 public:
  Hardware() = default;
  Hardware(const Hardware&) = delete;
  Hardware& operator=(const Hardware&) = delete;
  virtual ~Hardware() = default;

  virtual double now_s() const = 0;
  /// Starts work in a free slot; it takes `slowdown` times its time alone.
  virtual void begin(int slot, const Work& work, double slowdown) = 0;
  /// From now on, the remaining work in `slot` takes `slowdown` times its time alone.
  virtual void change_slowdown(int slot, double slowdown) = 0;
  /// Advances the clock to the next end of work and returns the slots of all works that end then, in
  /// ascending order; these slots are then free. Empty if nothing runs.
  virtual const std::vector<int>& advance() = 0;
};

/// Implementation on SimGrid: its solver divides a resource as soon as there are more threads than cores, two
/// users of a link, or more reads than the disk's queue depth. The CPU is a host with that number of cores,
/// the disk one with as many cores as its queue depth, and a link a host with one core whose work is seconds
/// of its full bandwidth. SimGrid's clock only advances while something is shared. To be used inside
/// run_in_actor.
///
/// `scale_s` is an approximate upper bound of the epoch's time, which only determines the clock's rounding.
/// Throws invalid_argument if a resource exceeds the supported maximum.
std::unique_ptr<Hardware> make_solved_hardware(const Shared& shared, int slots, double scale_s);

/// Implementation by arithmetic. As no work uses two resources at a time, max-min fairness means that each of
/// t threads on c cores gets min(1, c/t).
std::unique_ptr<Hardware> make_computed_hardware(const Shared& shared, int slots, double scale_s);

/// Creates the process's SimGrid engine if there is none yet, and restores the signal handlers that SimGrid
/// replaces.
void make_engine();

/// Runs `body` to completion inside a SimGrid actor, and rethrows its exceptions.
void run_in_actor(const std::function<void()>& body);

}  // namespace gnomon::sim
