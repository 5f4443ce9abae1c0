#include "apps/flags/device_flags.h"

#include "apps/flags/size_flag.h"
#include "base/error.h"
#include "base/usable.h"

namespace gnomon::apps {

void add_device_flags(CLI::App& app, DeviceFlags& flags) {
  app.add_option("--device", flags.device, "Device to train on: cpu, gpu, or auto (a GPU if there is one)")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}));
  add_size(app, "--device-memory", flags.max_bytes, "Maximum GPU memory to use (default: all of it)");
}

runtime::DeviceOptions device_of(const DeviceFlags& flags) {
  const bool wants_gpu = flags.device != "cpu";
  runtime::DeviceOptions gpu{plan::DeviceKind::cuda, static_cast<std::int64_t>(flags.max_bytes)};
  const auto why = wants_gpu ? runtime::why_no_device(gpu) : "";
  if (flags.device == "gpu" && !why.empty()) {
    throw base::InputError("--device gpu", why + "; use --device cpu");
  }
  return wants_gpu && why.empty() ? gpu : runtime::DeviceOptions{};
}

plan::Cores cores_with(const runtime::DeviceOptions& device) { return {base::usable_cores(), device.kind}; }

}  // namespace gnomon::apps
