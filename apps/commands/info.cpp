#include <iostream>
#include <memory>

#include "apps/build_facts.h"
#include "apps/commands/commands.h"
#include "apps/format.h"
#include "apps/host_facts.h"
#include "apps/output.h"

namespace gnomon::apps {
namespace {

struct Options {
  std::string data;
  bool check = false;
  bool json = false;
};

void describe_machine(bool json) {
  const auto host = host_facts();
  const auto build = build_facts();
  if (json) {
    print_json({{"schema", "gnomon.info/1"},
                {"machine",
                 {{"cpu", host.cpu},
                  {"cores", host.cores},
                  {"memory_bytes", host.memory_bytes},
                  {"gpus", host.gpus}}},
                {"build",
                 {{"version", build.version},
                  {"compiler", build.compiler},
                  {"build_type", build.build_type},
                  {"cuda", build.with_cuda},
                  {"cuda_reason", build.cuda_reason},
                  {"libtorch", build.libtorch},
                  {"simgrid", build.simgrid}}}});
    return;
  }
  std::cout << "cpu       " << host.cpu << "\n"
            << "cores     " << host.cores << "\n"
            << "memory    " << format_bytes(host.memory_bytes) << "\n";
  for (const auto& gpu : host.gpus) {
    std::cout << "gpu       " << gpu << "\n";
  }
  if (host.gpus.empty()) {
    std::cout << "gpu       none\n";
  }
  std::cout << "gnomon    " << build.version << ", " << build.build_type << ", " << build.compiler << "\n"
            << "cuda      " << (build.with_cuda ? "with: " : "without: ") << build.cuda_reason << "\n"
            << "libtorch  " << build.libtorch << "\n"
            << "simgrid   " << build.simgrid << "\n";
}

}  // namespace

Action add_info(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] { describe_machine(options->json); };
}

}  // namespace gnomon::apps
