#include "apps/compute/emulated_flags.h"

#include <charconv>
#include <string_view>

#include "apps/flags/number_checks.h"
#include "base/error.h"
#include "base/size.h"
#include "profiles/catalog.h"

namespace gnomon::apps {
namespace {

constexpr std::string_view plain_name = "emulated";
constexpr std::string_view machine_prefix = "emulated:";

/// Whether a bandwidth has a unit of bits, as in "12Gb/s".
bool is_in_bits(std::string_view text) {
  constexpr std::string_view prefixes = "kKMGTi";
  constexpr std::string_view bits = "b/s";
  return text.size() > bits.size() && text.ends_with(bits) &&
         prefixes.find(text[text.size() - bits.size() - 1]) != std::string_view::npos;
}

/// Bytes per second of "12GB/s", with the units of base::parse_size. May be 0 if `min` is.
double parse_bandwidth(const std::string& where, const std::string& text, std::int64_t min = 1) {
  constexpr std::string_view per_second = "/s";
  const base::InputError wrong(where, "\"" + text + "\" is not a bandwidth" + (min > 0 ? " above 0" : "") +
                                          "; use a number as in 12GB/s");
  if (!text.ends_with(per_second)) {
    throw wrong;
  }
  if (is_in_bits(text)) {
    throw base::InputError(where, "\"" + text + "\" is in bits; use bytes, eight times fewer, as in 12GB/s");
  }
  try {
    const auto bytes = base::parse_size(where, text.substr(0, text.size() - per_second.size()));
    if (bytes >= min) {
      return static_cast<double>(bytes);
    }
  } catch (const base::InputError&) {
  }
  throw wrong;
}

/// Seconds of "1.5us", "20 ns", "0.1ms" or "1s".
double parse_latency(const std::string& where, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const auto& [name, seconds] :
       {std::pair<std::string_view, double>{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}) {
    if (error == std::errc() && unit == name && number >= 0 && number * seconds <= 1) {
      return number * seconds;
    }
  }
  throw base::InputError(where,
                         "\"" + std::string(text) +
                             "\" is not a time of at most 1s; use a number with s, ms, us or ns, as in "
                             "1.5us");
}

/// Memory, link and number of a machine's devices, as far as they are known.
runtime::DeviceOptions device_of_machine(const std::string& flag, const std::string& name) {
  const auto known = profiles::find_machine(name, flag);
  const auto& machine = known.machine;
  runtime::DeviceOptions options;
  options.kind = plan::DeviceKind::emulated;
  options.max_bytes = static_cast<std::int64_t>(machine.device.memory_bytes.value_or(0));
  options.link.bandwidth_bytes_per_s = machine.link.bandwidth_bytes_per_s.value_or(0);
  options.link.round_trip_s = machine.link.round_trip_s;
  options.link.outstanding_reads = machine.link.outstanding_reads;
  options.link.header_bytes = machine.link.header_bytes;
  options.peers = {machine.peers.bandwidth_bytes_per_s, machine.peers.clique};
  options.devices = machine.device.count;
  options.name = machine.device.name.empty() ? known.name : machine.device.name;
  return options;
}

void require_numbers(const runtime::DeviceOptions& options, const std::string& flag, bool has_machine) {
  const std::string advice =
      has_machine ? "" : ", or name a machine as in emulated:NAME (see gnomon catalog)";
  if (options.max_bytes <= 0) {
    throw base::InputError(flag, "the device's memory is not known; add --device-memory as in 2GB" + advice);
  }
  if (options.link.bandwidth_bytes_per_s <= 0) {
    throw base::InputError(flag, "the link's bandwidth is not known; add --link as in 12GB/s" + advice);
  }
}

}  // namespace

bool names_emulated(const std::string& device) {
  return device == plain_name || device.starts_with(machine_prefix);
}

void add_emulated_flags(CLI::App& app, DeviceFlags& flags) {
  app.add_option("--link", flags.link, "Bandwidth of an emulated device's link, as in 12GB/s");
  app.add_option("--link-latency", flags.link_latency,
                 "Round trip of an emulated device's link, as in 1.5us (default: the machine's, or 1us)");
  app.add_option("--link-request", flags.link_request,
                 "Maximum bytes of a zero-copy read of an emulated device: 32, 64 or 128 (default: 128)")
      ->check(CLI::IsMember({32, 64, 128}));
  app.add_option("--peer-link", flags.peer_link,
                 "Bandwidth of the links between emulated devices (default: 50GB/s, or the named "
                 "machine's);\n0GB/s for none");
  app.add_option("--devices", flags.devices,
                 "Number of emulated devices, each with its own memory and link (default: the "
                 "named\nmachine's, or 1)")
      ->check(in_range(1, 64));
}

void refuse_emulated_flags(const DeviceFlags& flags) {
  const char* given = !flags.link.empty()           ? "--link"
                      : !flags.link_latency.empty() ? "--link-latency"
                      : flags.link_request > 0      ? "--link-request"
                      : !flags.peer_link.empty()    ? "--peer-link"
                      : flags.devices > 0           ? "--devices"
                                                    : nullptr;
  if (given != nullptr) {
    throw base::InputError(given, "needs an emulated device; add --device emulated, or leave it out");
  }
}

runtime::DeviceOptions emulated_device(const DeviceFlags& flags) {
  const bool has_machine = flags.device != plain_name;
  const std::string flag = "--device " + flags.device;
  runtime::DeviceOptions options;
  options.kind = plan::DeviceKind::emulated;
  if (has_machine) {
    options = device_of_machine(flag, flags.device.substr(machine_prefix.size()));
  }
  if (flags.max_bytes > 0) {
    options.max_bytes = static_cast<std::int64_t>(flags.max_bytes);
  }
  if (!flags.link.empty()) {
    options.link.bandwidth_bytes_per_s = parse_bandwidth("--link", flags.link);
  }
  if (!flags.link_latency.empty()) {
    options.link.round_trip_s = parse_latency("--link-latency", flags.link_latency);
  }
  if (flags.link_request > 0) {
    options.link.request_bytes = flags.link_request;
  }
  if (!flags.peer_link.empty()) {
    options.peers = {.bandwidth_bytes_per_s = parse_bandwidth("--peer-link", flags.peer_link, 0)};
  }
  if (flags.devices > 0) {
    options.devices = flags.devices;
  }
  require_numbers(options, flag, has_machine);
  return options;
}

}  // namespace gnomon::apps
