#include "apps/flags/device_flags.h"

#include "base/error.h"
#include "base/usable.h"

namespace gnomon::apps {

void add_device_flags(CLI::App& app, DeviceFlags& flags) {
  app.add_option("--device", flags.device, "Device to train on: cpu, gpu, or auto (a GPU if there is one)")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}));
  app.add_option("--device-memory", flags.max_bytes, "Maximum GPU memory to use, as in 4GB")
      ->transform(CLI::AsSizeValue(false));
}

runtime::DeviceOptions device_of(const DeviceFlags& flags) {
  const auto why = flags.device == "cpu" ? "" : runtime::why_no_gpu();
  if (flags.device == "gpu" && !why.empty()) {
    throw base::InputError("--device gpu", why + "; use --device cpu");
  }
  return {.gpu = flags.device != "cpu" && why.empty(),
          .most_bytes = static_cast<std::int64_t>(flags.max_bytes)};
}

plan::Cores cores_with(const runtime::DeviceOptions& device) {
  return {base::usable_cores(), device.gpu ? plan::DeviceKind::cuda : plan::DeviceKind::host};
}

}  // namespace gnomon::apps
