#include "apps/commands/peak_memory.h"

#include <iostream>

#include "apps/interrupt.h"
#include "base/process_memory.h"
#include "base/run_program.h"
#include "profiles/measure/epoch.h"
#include "tuner/run/validation.h"

namespace gnomon::apps {
namespace {

struct Request {
  static constexpr std::string_view schema = "gnomon.peak_memory/1";
  plan::Job job;
  plan::Plan plan;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("job", self.job);
    f.required("plan", self.plan);
  }
};

}  // namespace

void add_peak_memory_option(CLI::App& app, std::string& request) {
  app.add_option("--peak-memory-of", request, "Only print the memory of a job and a plan, given as JSON")
      ->group("");
}

double peak_memory(std::vector<std::string> command, const DeviceFlags& device, const plan::Job& job,
                   const plan::Plan& plan) {
  command.insert(command.end(), {"--peak-memory-of", base::to_document(Request{job, plan}).dump()});
  for (auto& argument : arguments_of(device)) {
    command.push_back(std::move(argument));
  }
  return std::stod(base::output_of("/proc/self/exe", command));
}

void print_peak_memory(const std::string& request, const graph::Graph& graph,
                       const runtime::DeviceOptions& device) {
  const std::string where = "--peak-memory-of";
  const auto [job, plan] = base::from_document<Request>(base::parse_json(request, where), where);
  profiles::EpochOptions epoch;
  epoch.max_batches = tuner::peak_memory_batches;
  epoch.warm_up_batches = 0;
  epoch.stop = &stop_on_interrupt();
  epoch.device = device;
  profiles::measure_epoch(graph, job, plan, epoch);
  std::cout << base::process_memory().peak_bytes << "\n";
}

}  // namespace gnomon::apps
