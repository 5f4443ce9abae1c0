// A library that CUDA's driver loads into a process (CUDA_INJECTION64_PATH) and that adds up what the GPU
// does for it: how often each kernel, copy and fill ran and how long they took together. Writes
//     {"from_ns": …, "to_ns": …, "kernels": {name: [count, ns]}}, or {"error": "…"},
// to the file GNOMON_CUDA_KERNELS when the process ends; the first two are the begin of the first and the end
// of the last of them. It stands in for Nsight Systems.

#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace {

struct Total {
  std::int64_t count = 0;
  std::int64_t ns = 0;
};

struct Totals {
  std::mutex mutex;
  std::string error;
  std::map<std::string, Total> of;  ///< by mangled names
  std::int64_t from_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t to_ns = 0;

  void add(const std::string& name, std::uint64_t start, std::uint64_t end) {
    auto& total = of[name];
    ++total.count;
    total.ns += static_cast<std::int64_t>(end - start);
    from_ns = std::min(from_ns, static_cast<std::int64_t>(start));
    to_ns = std::max(to_ns, static_cast<std::int64_t>(end));
  }
};

/// Never destroyed: it is written when the process ends.
Totals& totals() {
  static auto* const all = new Totals;
  return *all;
}

constexpr std::size_t buffer_bytes = std::size_t{8} << 20;
constexpr std::size_t buffer_alignment = 8;

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *bytes = buffer_bytes;
  *max_records = 0;  // no limit
}

void add_record(const CUpti_Activity& record) {
  if (record.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto& kernel = reinterpret_cast<const CUpti_ActivityKernel10&>(record);
    totals().add(kernel.name == nullptr ? "unnamed" : kernel.name, kernel.start, kernel.end);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
    totals().add("copy of kind " + std::to_string(copy.copyKind), copy.start, copy.end);
  } else if (record.kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    const auto& fill = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
    totals().add("fill", fill.start, fill.end);
  }
}

void take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  const std::lock_guard lock(totals().mutex);
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    add_record(*record);
  }
  std::free(buffer);
}

std::string readable(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? plain.get() : name;
}

void write_totals() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  const char* path = std::getenv("GNOMON_CUDA_KERNELS");
  const std::unique_ptr<std::FILE, decltype(&std::fclose)> file(
      path == nullptr ? nullptr : std::fopen(path, "w"), &std::fclose);
  if (file == nullptr) {
    return;
  }
  const std::lock_guard lock(totals().mutex);
  if (!totals().error.empty()) {
    std::fprintf(file.get(), "{\"error\": \"%s\"}\n", totals().error.c_str());
    return;
  }
  std::fprintf(file.get(), "{\"from_ns\": %lld, \"to_ns\": %lld, \"kernels\": {",
               static_cast<long long>(totals().from_ns), static_cast<long long>(totals().to_ns));
  const char* separator = "";
  for (const auto& [name, total] : totals().of) {
    std::fprintf(file.get(), "%s\n\"%s\": [%lld, %lld]", separator, readable(name).c_str(),
                 static_cast<long long>(total.count), static_cast<long long>(total.ns));
    separator = ",";
  }
  std::fputs("}}\n", file.get());
}

void check(CUptiResult result, const char* what) {
  if (result != CUPTI_SUCCESS && totals().error.empty()) {
    const char* text = nullptr;
    cuptiGetResultString(result, &text);
    totals().error = std::string("CUPTI, ") + what + ": " + (text == nullptr ? "unknown" : text);
  }
}

}  // namespace

/// Called by the driver when it starts, once a process.
extern "C" int InitializeInjection() {
  check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "registering buffers");
  for (const auto kind :
       {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET}) {
    check(cuptiActivityEnable(kind), "enabling records");
  }
  std::atexit(write_totals);
  return 1;
}
