#include "plan/abilities.h"

namespace gnomon::plan {

Abilities abilities_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::host:
      return {.data_on_disk = true,
              .bias_without_cache = true,
              .super_batches = true,
              .macro_batches = true,
              .reused_embeddings = true};
    case DeviceKind::emulated:
    case DeviceKind::cuda:
      break;
  }
  return {.own_memory = true,
          .static_caches = true,
          .unaligned_reads = true,
          .preparing_beside_training = true,
          .bias_to_cache = true,
          .mixed_routes = true,
          .several_devices = kind == DeviceKind::emulated,
          .divided_roles = kind == DeviceKind::emulated,
          .peer_reads = kind == DeviceKind::emulated,
          .super_batches = true,
          .macro_batches = kind == DeviceKind::emulated,
          .reused_embeddings = true,
          .recorded_steps = kind == DeviceKind::cuda};
}

}  // namespace gnomon::plan
