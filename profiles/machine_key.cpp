#include "profiles/machine_key.h"

#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <span>
#include <utility>

#include "base/cores.h"
#include "base/crc32.h"
#include "base/host.h"
#include "base/number_text.h"
#include "base/usable.h"

namespace gnomon::profiles {
namespace {

/// Lower-case letters, digits and single hyphens: "amd-epyc-7763".
std::string slug(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  constexpr std::size_t max_length = 60;
  out = out.substr(0, max_length);
  while (!out.empty() && out.back() == '-') {
    out.pop_back();
  }
  return out;
}

/// The key without what is not part of the machine's identity.
MachineKey identity(MachineKey key, bool any_gpu = false) {
  key.probes = probes_version;
  if (any_gpu) {
    key.gpu.clear();
  }
  return key;
}

std::string hash_of(const MachineKey& key) {
  const auto text = base::write_value(identity(key)).dump();
  char hash[16];
  std::snprintf(hash, sizeof hash, "%08x", base::crc32(std::as_bytes(std::span(text))));
  return hash;
}

/// The memory limit of the control group; none if it exceeds the machine's memory, as version 1 says "none".
std::optional<double> memory_limit() {
  const auto limit = base::memory_limit_bytes();
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return limit && *limit < memory ? limit : std::nullopt;
}

std::string gib_text(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g GiB", bytes / (1 << 30));
  return text;
}

std::string nodes_text(const std::vector<int>& node_cores) {
  std::string text;
  for (const int cores : node_cores) {
    text += (text.empty() ? "" : "+") + std::to_string(cores);
  }
  return text;
}

}  // namespace

MachineKey machine_key(bool with_gpu) {
  const auto cores = base::allowed_cores();
  MachineKey key{.cpu = base::cpu_model(),
                 .cores = base::usable_cores(),
                 .physical_cores = base::physical_cores(cores),
                 .node_cores = base::cores_of_nodes(cores),
                 .kernel = base::kernel_release(),
                 .huge_pages = base::transparent_huge_pages(),
                 .quota_cores = base::quota_cores(),
                 .memory_limit_bytes = memory_limit(),
                 .gpu = {}};
  if (with_gpu) {
    const auto models = base::gpu_models();
    key.gpu = models.empty() || models.front().empty() ? "GPU" : models.front();
  }
  return key;
}

bool is_same_machine(const MachineKey& a, const MachineKey& b, bool any_gpu) {
  return identity(a, any_gpu) == identity(b, any_gpu);
}

std::string file_name(const MachineKey& key) {
  const auto name = slug(key.cpu + " " + std::to_string(key.cores) + " cores " + key.gpu);
  return (name.empty() ? "machine" : name) + "-" + hash_of(key) + ".json";
}

std::string text_of(const MachineKey& key) {
  std::string text = (key.cpu.empty() ? "unknown CPU" : key.cpu) + ", " + std::to_string(key.cores) +
                     (key.cores == 1 ? " core" : " cores");
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) {
      text += std::string(", ") + what + " " + value;
    }
  };
  add("physical cores", key.physical_cores > 0 ? std::to_string(key.physical_cores) : "");
  add("NUMA nodes", nodes_text(key.node_cores));
  add("kernel", key.kernel);
  add("transparent huge pages", key.huge_pages);
  add("CPU quota", key.quota_cores ? base::number_text(*key.quota_cores) : "");
  add("memory limit", key.memory_limit_bytes ? gib_text(*key.memory_limit_bytes) : "");
  add("GPU", key.gpu);
  return text;
}

}  // namespace gnomon::profiles
