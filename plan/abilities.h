#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/document.h"

namespace gnomon::plan {

/// The kinds of devices that train: `host` is threads of the host's own cores, `cuda` a GPU, and `emulated`
/// a device with memory of its own behind a link, emulated on the host's cores.
enum class DeviceKind : std::uint8_t { host, emulated, cuda };

/// Whether a device's kernels run on the host's cores, which they then share with the CPU workers.
constexpr bool runs_on_cores(DeviceKind kind) { return kind != DeviceKind::cuda; }

/// Whether a device has memory of its own, which the host reaches over a link.
constexpr bool has_link(DeviceKind kind) { return kind != DeviceKind::host; }

/// What a device executes beyond the plans that every device does: CPU route, device route or both, all
/// data in host memory, exact mini-batches, one device. The rules in plan/rules.h state which field values
/// require which ability.
struct Abilities {
  bool own_memory = false;                 ///< stores topology or features in memory of its own
  bool static_caches = false;              ///< holds copies that are chosen before training
  bool dynamic_caches = false;             ///< replaces cached copies while it trains (policy "recent")
  bool data_on_disk = false;               ///< trains from topology or features that stay on the disk
  bool unaligned_reads = false;            ///< zero-copy reads that cross 128-byte lines
  bool preparing_beside_training = false;  ///< prepares a mini-batch while it trains another
  bool bias_to_cache = false;              ///< prefers the neighbours that a cache holds
  bool bias_without_cache = false;  ///< prefers the neighbours that a cache would hold, without copying them
  bool mixed_routes = false;        ///< schedule "mixed"
  bool several_devices = false;     ///< data parallelism over several devices
  bool divided_roles = false;       ///< some devices sample, the others train
  bool peer_reads = false;          ///< reads what the caches of linked devices hold
  bool super_batches = false;       ///< prepares several mini-batches together
  bool macro_batches = false;       ///< draws mini-batches from a resident part of the graph
  bool reused_embeddings = false;   ///< uses embeddings for longer than one mini-batch
  bool recorded_steps = false;      ///< replays the launches of a training step

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("own_memory", self.own_memory);
    f("static_caches", self.static_caches);
    f("dynamic_caches", self.dynamic_caches);
    f("data_on_disk", self.data_on_disk);
    f("unaligned_reads", self.unaligned_reads);
    f("preparing_beside_training", self.preparing_beside_training);
    f("bias_to_cache", self.bias_to_cache);
    f("bias_without_cache", self.bias_without_cache);
    f("mixed_routes", self.mixed_routes);
    f("several_devices", self.several_devices);
    f("divided_roles", self.divided_roles);
    f("peer_reads", self.peer_reads);
    f("super_batches", self.super_batches);
    f("macro_batches", self.macro_batches);
    f("reused_embeddings", self.reused_embeddings);
    f("recorded_steps", self.recorded_steps);
  }
  bool operator==(const Abilities&) const = default;
};

/// What the runtime's device of this kind executes.
Abilities abilities_of(DeviceKind kind);

}  // namespace gnomon::plan

namespace gnomon::base {

template <>
struct EnumNames<plan::DeviceKind> {
  static constexpr std::array<std::pair<plan::DeviceKind, std::string_view>, 3> values{
      {{plan::DeviceKind::host, "host"},
       {plan::DeviceKind::emulated, "emulated"},
       {plan::DeviceKind::cuda, "cuda"}}};
};

}  // namespace gnomon::base
