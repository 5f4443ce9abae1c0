#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "apps/build_facts.h"
#include "apps/commands/commands.h"
#include "apps/host_facts.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/store_text.h"
#include "base/error.h"
#include "graph/store/checked_store.h"
#include "graph/trainable.h"

namespace gnomon::apps {
namespace {

struct InfoFlags {
  std::string data;
  bool check = false;
  bool json = false;
};

base::Json machine_document() {
  const auto host = host_facts();
  const auto build = build_facts();
  return {{"schema", "gnomon.info/1"},
          {"machine",
           {{"cpu", host.cpu},
            {"cores", host.cores},
            {"physical_cores", host.physical_cores},
            {"node_cores", host.node_cores},
            {"memory_bytes", host.memory_bytes},
            {"gpus", host.gpus}}},
          {"build",
           {{"version", build.version},
            {"compiler", build.compiler},
            {"build_type", build.build_type},
            {"cuda", build.with_cuda},
            {"cuda_reason", build.cuda_reason},
            {"libtorch", build.libtorch},
            {"simgrid", build.simgrid}}}};
}

/// "2, 2 physical; one NUMA node".
std::string cores_text(const HostFacts& host) {
  std::string nodes;
  for (const int cores : host.node_cores) {
    nodes += (nodes.empty() ? "NUMA nodes with " : ", ") + std::to_string(cores);
  }
  return fmt::format("{}, {} physical; {}", host.cores, host.physical_cores,
                     host.node_cores.size() > 1 ? nodes : "one NUMA node");
}

std::string machine_text() {
  const auto host = host_facts();
  const auto build = build_facts();
  std::string gpus;
  for (const auto& gpu : host.gpus) {
    gpus += (gpus.empty() ? "" : ", ") + gpu;
  }
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += fmt::format("{:<10}{}\n", name, value);
  };
  line("cpu", host.cpu);
  line("cores", cores_text(host));
  line("memory", format_bytes(host.memory_bytes));
  line("gpu", gpus.empty() ? "none" : gpus);
  line("gnomon", fmt::format("{}, {}, {}", build.version, build.build_type, build.compiler));
  line("cuda", (build.with_cuda ? "with: " : "without: ") + build.cuda_reason);
  line("libtorch", build.libtorch);
  line("simgrid", build.simgrid);
  return text;
}

/// Empty when a model can be trained on the graph; otherwise why not.
std::string why_not_trainable(const graph::Graph& graph) {
  try {
    graph::check_trainable(graph);
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

void describe(const InfoFlags& options) {
  if (options.data.empty()) {
    options.json ? print_json(machine_document()) : void(std::cout << machine_text());
    return;
  }
  const auto description = describe_store(options.data);
  std::string why_not;
  if (options.check) {
    graph::verify(description.graph, false);
    why_not = why_not_trainable(description.graph);
  }
  if (options.json) {
    auto document = store_document(description);
    if (options.check) {
      document["trainable"] = why_not.empty();
      document["why_not_trainable"] = why_not;
    }
    print_json(document);
    return;
  }
  std::cout << store_text(description);
  if (options.check) {
    std::cout << "check     all contents are valid; "
              << (why_not.empty() ? "can be trained on" : "cannot be trained on: " + why_not) << "\n";
  }
}

}  // namespace

Action add_info(CLI::App& app) {
  auto options = std::make_shared<InfoFlags>();
  app.add_option("DATA", options->data, "Graph store (default: describe this machine and this build)");
  app.add_flag("--check", options->check, "Read the whole store and check its contents");
  app.add_flag("--json", options->json, "Print one JSON document");
  return [options] {
    if (options->check && options->data.empty()) {
      throw base::InputError("--check", "needs a graph store: gnomon info DATA --check");
    }
    describe(*options);
  };
}

}  // namespace gnomon::apps
