#include "apps/compute/device_flags.h"

#include "apps/compute/emulated_flags.h"
#include "apps/flags/size_flag.h"
#include "base/cores.h"
#include "base/error.h"
#include "base/usable.h"

namespace gnomon::apps {
namespace {

std::string why_no_device_name(const std::string& device) {
  if (device == "auto" || device == "cpu" || device == "gpu" || names_emulated(device)) {
    return "";
  }
  return "\"" + device + "\" is not a device; use cpu, gpu, auto, emulated or emulated:NAME";
}

}  // namespace

void add_device_flags(CLI::App& app, DeviceFlags& flags) {
  app.add_option(
         "--device", flags.device,
         "Device to run on: cpu, gpu, auto (a GPU if there is one), or emulated: the cores with\n"
         "the memory and the link of a machine (emulated:NAME, see gnomon catalog) or of the flags below")
      ->check(CLI::Validator(why_no_device_name, "", "device"));
  add_size(app, "--device-memory", flags.max_bytes,
           "Maximum GPU memory to use (default: all of it), or an emulated device's memory");
  add_emulated_flags(app, flags);
}

std::vector<std::string> arguments_of(const DeviceFlags& flags) {
  std::vector<std::string> arguments{"--device", flags.device};
  const auto add = [&](bool is_given, const char* name, std::string value) {
    if (is_given) {
      arguments.insert(arguments.end(), {name, std::move(value)});
    }
  };
  add(flags.max_bytes > 0, "--device-memory", std::to_string(flags.max_bytes));
  add(!flags.link.empty(), "--link", flags.link);
  add(!flags.link_latency.empty(), "--link-latency", flags.link_latency);
  add(!flags.peer_link.empty(), "--peer-link", flags.peer_link);
  add(flags.devices > 0, "--devices", std::to_string(flags.devices));
  add(flags.link_request > 0, "--link-request", std::to_string(flags.link_request));
  return arguments;
}

runtime::DeviceOptions device_of(const DeviceFlags& flags) {
  if (names_emulated(flags.device)) {
    return emulated_device(flags);
  }
  refuse_emulated_flags(flags);
  const bool wants_gpu = flags.device != "cpu";
  runtime::DeviceOptions gpu{plan::DeviceKind::cuda, static_cast<std::int64_t>(flags.max_bytes)};
  const auto why = wants_gpu ? runtime::why_no_device(gpu) : "";
  if (flags.device == "gpu" && !why.empty()) {
    throw base::InputError("--device gpu", why + "; use --device cpu");
  }
  if (wants_gpu && why.empty()) {
    return gpu;
  }
  if (flags.max_bytes > 0) {
    throw base::InputError("--device-memory",
                           "limits the memory of a GPU or of an emulated device; the device is the CPU");
  }
  return {};
}

plan::Cores cores_with(const runtime::DeviceOptions& device) {
  return {base::usable_cores(), device.kind, device.devices, base::physical_cores(base::allowed_cores())};
}

}  // namespace gnomon::apps
