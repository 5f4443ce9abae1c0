// A library that CUDA's driver loads into a process (CUDA_INJECTION64_PATH) and that counts the process's
// calls of the driver, by their names: what the host launches, copies and waits for, whichever library asks
// for it. Writes {"calls": {name: count}}, or
// {"error": "…"}, to the file GNOMON_CUDA_CALLS when the process ends. It stands in for Nsight Systems.

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// Beyond every identifier of CUDA 13, which has about 800.
std::array<std::atomic<std::int64_t>, 4096> calls;
std::string error;

void count(void* /*user*/, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id < calls.size() &&
      static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_ENTER) {
    calls[id].fetch_add(1, std::memory_order_relaxed);
  }
}

void write_calls() {
  const char* path = std::getenv("GNOMON_CUDA_CALLS");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) {
    return;
  }
  if (!error.empty()) {
    std::fprintf(file, "{\"error\": \"%s\"}\n", error.c_str());
  } else {
    const char* separator = "";
    std::fputs("{\"calls\": {", file);
    for (std::size_t id = 0; id < calls.size(); ++id) {
      const char* name = nullptr;
      if (calls[id] != 0 && cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, static_cast<std::uint32_t>(id),
                                                 &name) == CUPTI_SUCCESS) {
        std::fprintf(file, "%s\"%s\": %lld", separator, name, static_cast<long long>(calls[id]));
        separator = ", ";
      }
    }
    std::fputs("}}\n", file);
  }
  std::fclose(file);
}

void check(CUptiResult result, const char* what) {
  if (result != CUPTI_SUCCESS && error.empty()) {
    const char* text = nullptr;
    cuptiGetResultString(result, &text);
    error = std::string("CUPTI, ") + what + ": " + (text == nullptr ? "unknown" : text);
  }
}

}  // namespace

/// Called by the driver when it starts, once a process.
extern "C" int InitializeInjection() {
  CUpti_SubscriberHandle subscriber = nullptr;
  check(cuptiSubscribe(&subscriber, count, nullptr), "subscribing");
  if (error.empty()) {
    check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), "watching the driver");
  }
  std::atexit(write_calls);
  return 1;
}
