#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/vocabulary.h"
#include "profiles/contention.h"
#include "profiles/ranges.h"

namespace gnomon::profiles {

using plan::DeviceKind;

struct Cpu {
  std::string name;
  int cores = 1;
  std::optional<int> physical_cores{};
  std::vector<int> node_cores;  ///< cores of each NUMA node; empty if unknown
  std::optional<double> memory_bytes{};
  std::optional<double> memory_bandwidth_bytes_per_s{};  ///< all cores reading
  std::optional<double> copy_bandwidth_bytes_per_s{};  ///< one core copying; bytes copied, not read + written
  double process_bytes = 3e8;                          ///< memory of an idle worker process
  /// Memory of the training process apart from graph, mini-batches and tensors: the program, its libraries
  /// and their buffers.
  std::optional<double> runtime_bytes{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("name", self.name);
    f.required("cores", self.cores, base::Range{1, 4096});
    f("physical_cores", self.physical_cores, base::Range{0, 4096, true});
    f("node_cores", self.node_cores, base::Range{0, 4096});
    f("memory_bytes", self.memory_bytes, positive_or_unknown);
    f("memory_bandwidth_bytes_per_s", self.memory_bandwidth_bytes_per_s, positive_or_unknown);
    f("copy_bandwidth_bytes_per_s", self.copy_bandwidth_bytes_per_s, positive_or_unknown);
    f("process_bytes", self.process_bytes, base::non_negative);
    f("runtime_bytes", self.runtime_bytes, positive_or_unknown);
  }
};

struct Device {
  DeviceKind kind = DeviceKind::host;
  std::string name;
  std::optional<double> memory_bytes{};                  ///< of each device
  int count = 1;                                         ///< devices of this kind
  std::optional<int> multiprocessors{};                  ///< of each device
  std::optional<double> memory_bandwidth_bytes_per_s{};  ///< if unknown, hits in its cache take no time
  std::optional<double> peak_fp32_flops_per_s{};         ///< of products of fp32 matrices, by the data sheet
  std::optional<double> peak_tf32_flops_per_s{};  ///< of those rounded to TF32; absent if it has no TF32
  double link_saturation_share = 0.1;  ///< share of its thread slots that saturates the link by zero-copy
  double context_bytes = 8.4e8;        ///< device memory of libraries and kernels (LibTorch 2.11 on an H100)
  std::optional<double> launch_s{};    ///< launch time of one kernel, if it waits for no other

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("kind", self.kind);
    f("name", self.name);
    f("count", self.count, base::Range{1, 64});
    f("memory_bytes", self.memory_bytes, positive_or_unknown);
    f("multiprocessors", self.multiprocessors, count_or_unknown);
    f("memory_bandwidth_bytes_per_s", self.memory_bandwidth_bytes_per_s, positive_or_unknown);
    f("peak_fp32_flops_per_s", self.peak_fp32_flops_per_s, positive_or_unknown);
    f("peak_tf32_flops_per_s", self.peak_tf32_flops_per_s, positive_or_unknown);
    f("link_saturation_share", self.link_saturation_share, base::Range{0, 1});
    f("context_bytes", self.context_bytes, base::non_negative);
    f("launch_s", self.launch_s, positive_or_unknown);
  }
};

/// PCIe between host and devices. Measured stage times include it; its bandwidth is for transfers that were
/// not measured.
struct Link {
  std::optional<double> bandwidth_bytes_per_s{};  ///< of one copy engine
  std::optional<double> transfers_per_s{};        ///< of each lane: 16e9 is PCIe 4
  std::optional<int> lanes{};
  int devices_per_switch = 1;      ///< devices that share one path to the host
  double outstanding_reads = 256;  ///< zero-copy requests in flight: 256 on PCIe 3, 768 on PCIe 4
  double round_trip_s = 1e-6;
  double header_bytes = 16;  ///< of each response

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, positive_or_unknown);
    f("transfers_per_s", self.transfers_per_s, positive_or_unknown);
    f("lanes", self.lanes, base::Range{0, 1024, true});
    f("devices_per_switch", self.devices_per_switch, base::Range{1, 64});
    f("outstanding_reads", self.outstanding_reads, base::Range{1, 1e6});
    f("round_trip_s", self.round_trip_s, base::non_negative);
    f("header_bytes", self.header_bytes, base::Range{0, 1024});
  }
};

/// Links between devices (NVLink). Devices 0 … clique-1 are all linked to each other, as are the next
/// `clique` devices, and so on.
struct Peers {
  double bandwidth_bytes_per_s = 0;  ///< of one device to the others; 0 if there are no such links
  int clique = 1;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, base::non_negative);
    f("clique", self.clique, base::Range{1, 64});
  }
};

struct Disk {
  std::optional<double> bandwidth_bytes_per_s{};  ///< sequential reads
  std::optional<double> random_reads_per_s{};     ///< of one block each, with a full queue
  double block_bytes = 4096;
  int queue_depth = 32;  ///< reads in flight that reach random_reads_per_s

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, positive_or_unknown);
    f("random_reads_per_s", self.random_reads_per_s, positive_or_unknown);
    f("block_bytes", self.block_bytes, base::Range{1, 1e9});
    f("queue_depth", self.queue_depth, base::Range{1, 256});
  }
};

/// Power (in watts) and price of running the machine.
struct Running {
  std::optional<double> idle_w{};          ///< of the idle machine
  std::optional<double> core_w{};          ///< additional power of a busy core
  std::optional<double> device_w{};        ///< additional power of a busy GPU
  std::optional<double> price_per_hour{};  ///< in any currency

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("idle_w", self.idle_w, positive_or_unknown);
    f("core_w", self.core_w, positive_or_unknown);
    f("device_w", self.device_w, positive_or_unknown);
    f("price_per_hour", self.price_per_hour, positive_or_unknown);
  }
};

struct MachineProfile {
  std::string name;
  Cpu cpu;
  Device device;
  Link link;
  Peers peers;
  Disk disk;
  Running running;
  Contention contention;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("name", self.name);
    f.required("cpu", self.cpu);
    f.required("device", self.device);
    f("link", self.link);
    f("peers", self.peers);
    f("disk", self.disk);
    f("running", self.running);
    f("contention", self.contention);
  }
};

/// Returns the number of physical cores, or 0 if unknown. If a document's `cores` exceeds the cores that were
/// counted, the others are assumed to have as many hardware threads per core.
int physical_cores_of(const Cpu& cpu);

}  // namespace gnomon::profiles
