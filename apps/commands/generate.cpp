#include "graph/generate/generate.h"

#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "apps/commands/commands.h"
#include "apps/flags/field_flags.h"
#include "apps/flags/import_flags.h"
#include "apps/flags/size_flag.h"
#include "apps/interrupt.h"
#include "apps/progress_bar.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/store_text.h"
#include "base/error.h"
#include "base/stop.h"
#include "graph/order/reorder.h"

namespace gnomon::apps {
namespace {

std::vector<FieldFlag> flags_of_both() {
  return {{"--feature-columns", "feature_columns", "Number of feature columns"},
          {"--classes", "classes", "Number of classes"},
          {"--feature-type", "feature_type", "fp32, fp16 or bf16"},
          {"--train-share", "split.train_share", "Share of the vertices to train on"},
          {"--valid-share", "split.valid_share", "Share to validate on; the rest is for testing"},
          {"--name", "name", "Name of the graph"}};
}

/// The expected accuracy of the best model; none if labels carry no information.
std::optional<double> accuracy_known(const graph::PlantedPartition& options) {
  return graph::best_accuracy(options);
}
std::optional<double> accuracy_known(const graph::Rmat&) { return std::nullopt; }

using Named = std::map<std::string, std::string>;  ///< see FieldFlags::named

/// Throws InputError for an option that was named but changes nothing beside the others.
void refuse_without_effect(const graph::PlantedPartition& options, const Named& named) {
  if (options.num_communities() == 1 && named.contains("intra_share")) {
    throw base::InputError("--intra-share",
                           "has no effect: there is one class; leave it out or add --classes");
  }
}
void refuse_without_effect(const graph::Rmat& options, const Named& named) {
  if (options.feature_columns == 0 && named.contains("feature_type")) {
    throw base::InputError("--feature-type",
                           "has no effect: there are no features; leave it out or add --feature-columns");
  }
}

/// One kind of graph: its options and what it makes. `Kind` is a struct of graph/generate/generate.h.
template <class Kind>
class Generator {
 public:
  Generator(CLI::App& parent, const char* name, const char* summary, const char* example,
            std::vector<FieldFlag> flags)
      : app_(*parent.add_subcommand(name, summary)),
        flags_(app_, base::write_value(Kind{}), with_common(flags)) {
    app_.add_option("DST", destination_, "Graph store to create, a new directory")->required();
    app_.add_option("--seed", seed_, "Random seed of edges, features and splits");
    app_.add_option("--reorder", order_,
                    "Renumber vertices for locality: none, degree or rcm, as in gnomon import");
    add_size(app_, "--host-memory", resources_.memory_bytes, std::string(conversion_memory_help));
    app_.add_flag("--json", json_, "Print one JSON document");
    app_.group("Kinds");
    app_.footer(std::string("Example:\n  ") + example);
  }

  bool asked() const { return app_.parsed(); }

  void run() const {
    auto options = flags_.template value<Kind>();
    refuse_without_effect(options, flags_.named());
    options.seed = seed_;
    options.split.seed = seed_;
    {
      ProgressBar bar;
      const auto progress = base::stoppable(bar.progress(), &stop_on_interrupt());
      const auto order = base::value_of<graph::VertexOrder>("--reorder", order_);
      graph::write_in_order(
          order, destination_,
          [&](const std::filesystem::path& store) { graph::generate(options, store, progress, resources_); },
          progress, resources_);
    }
    const auto description = describe_store(destination_);
    const auto best = accuracy_known(options);
    if (json_) {
      auto document = store_document(description);
      if (best) {
        document["best_accuracy"] = *best;
      }
      print_json(document);
      return;
    }
    std::cout << store_text(description);
    if (best) {
      std::cout << "accuracy  " << format_percent(*best)
                << " is the best accuracy that any model can reach\n";
    }
  }

 private:
  static std::vector<FieldFlag> with_common(std::vector<FieldFlag> flags) {
    const auto common = flags_of_both();
    flags.insert(flags.end(), common.begin(), common.end());
    return flags;
  }

  CLI::App& app_;
  FieldFlags flags_;
  std::string destination_;
  std::uint64_t seed_ = 0;
  std::string order_ = "none";
  bool json_ = false;
  graph::Resources resources_;
};

struct Generators {
  explicit Generators(CLI::App& app)
      : planted_partition(
            app, "sbm", "Stochastic block model: learnable classes with a known best accuracy",
            "gnomon generate sbm stores/toy --vertices 10000 --average-degree 20 --classes 8",
            {{"--vertices", "vertices", "Number of vertices"},
             {"--average-degree", "average_degree", "Edges per vertex"},
             {"--communities", "communities",
              "Number of communities, a multiple of the classes; 0: each class is one community"},
             {"--intra-share", "intra_share", "Share of the edges within a community"},
             {"--feature-noise", "feature_noise", "Standard deviation of the features' noise"}}),
        rmat(app, "rmat", "R-MAT graph with hubs and random labels, for measuring speed",
             "gnomon generate rmat stores/hubs --scale 16 --edge-factor 16",
             {{"--scale", "scale", "Base-2 logarithm of the number of vertices"},
              {"--edge-factor", "edge_factor", "Edges per vertex before duplicates are removed"},
              {"--undirected,!--directed", "edges.undirected",
               "Add the reverse of every edge (--directed: do not)"},
              {"--a", "a", "Probability of the first quadrant"},
              {"--b", "b", "Probability of the second quadrant"},
              {"--c", "c", "Probability of the third quadrant"}}) {
    app.require_subcommand(0, 1);  // none or an unknown one is told by run()
  }

  void run() const {
    if (planted_partition.asked()) {
      planted_partition.run();
    } else if (rmat.asked()) {
      rmat.run();
    } else {
      throw base::InputError("no kind of graph given; use sbm or rmat");
    }
  }

  Generator<graph::PlantedPartition> planted_partition;
  Generator<graph::Rmat> rmat;
};

}  // namespace

Action add_generate(CLI::App& app) {
  const auto generators = std::make_shared<Generators>(app);
  return [generators] { generators->run(); };
}

}  // namespace gnomon::apps
