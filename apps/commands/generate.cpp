#include "graph/generate/generate.h"

#include <iostream>
#include <memory>
#include <optional>

#include "apps/commands/commands.h"
#include "apps/field_flags.h"
#include "apps/format.h"
#include "apps/interrupt.h"
#include "apps/output.h"
#include "apps/progress_bar.h"
#include "apps/store_text.h"
#include "base/error.h"
#include "graph/order/reorder.h"

namespace gnomon::apps {
namespace {

std::vector<FieldFlag> flags_of_both() {
  return {{"--feature-columns", "feature_columns", "Columns of the features"},
          {"--classes", "classes", "Number of classes"},
          {"--feature-type", "feature_type", "fp32 or fp16"},
          {"--train-share", "split.train_share", "Share of the vertices to train on"},
          {"--valid-share", "split.valid_share", "Share to validate on; the rest is the test set"},
          {"--name", "name", "What the graph is called"}};
}

/// What the best model reaches in expectation; nothing where labels tell nothing.
std::optional<double> accuracy_known(const graph::PlantedPartition& options) {
  return graph::best_accuracy(options);
}
std::optional<double> accuracy_known(const graph::Rmat&) { return std::nullopt; }

/// One kind of graph: its options and what it makes. `Kind` is a struct of graph/generate/generate.h.
template <class Kind>
class Generator {
 public:
  Generator(CLI::App& parent, const char* name, const char* summary, const char* example,
            std::vector<FieldFlag> flags)
      : app_(*parent.add_subcommand(name, summary)),
        flags_(app_, base::write_value(Kind{}), with_common(flags)) {
    app_.add_option("DST", destination_, "The store to make, a directory that does not exist")->required();
    app_.add_option("--seed", seed_, "Seed of edges, features and splits");
    app_.add_option("--reorder", order_, "none, degree or rcm: as gnomon import does");
    app_.add_flag("--json", json_, "Print one JSON document");
    app_.group("Kinds");
    app_.footer(std::string("Example:\n  ") + example);
  }

  bool asked() const { return app_.parsed(); }

  void run() const {
    auto options = flags_.template value<Kind>();
    options.seed = seed_;
    options.split.seed = seed_;
    {
      ProgressBar bar;
      const auto progress = interruptible(bar.progress(), stop_on_interrupt());
      const auto order = base::value_of<graph::VertexOrder>("--reorder", order_);
      graph::write_in_order(
          order, destination_,
          [&](const std::filesystem::path& store) { graph::generate(options, store, progress); }, progress);
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
      std::cout << "accuracy  " << format_percent(*best) << " is the best that any model can reach\n";
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
};

struct Generators {
  explicit Generators(CLI::App& app)
      : planted_partition(
            app, "sbm", "Classes that can be learnt from edges and features, best accuracy known",
            "gnomon generate sbm stores/toy --vertices 10000 --average-degree 20 --classes 8",
            {{"--vertices", "vertices", "Number of vertices"},
             {"--average-degree", "average_degree", "Edges a vertex"},
             {"--intra-share", "intra_share", "Share of the edges that stay in a class"},
             {"--feature-noise", "feature_noise", "Standard deviation of the features' noise"}}),
        rmat(app, "rmat", "A graph with hubs, R-MAT, nothing to learn; for speed",
             "gnomon generate rmat stores/hubs --scale 16 --edge-factor 16",
             {{"--scale", "scale", "2 to this power is the number of vertices"},
              {"--edge-factor", "edge_factor", "Edges a vertex, before duplicates go"},
              {"--undirected,!--directed", "edges.undirected", "With the reverse of every edge, or without"},
              {"--a", "a", "Chance of the first quadrant"},
              {"--b", "b", "Chance of the second"},
              {"--c", "c", "Chance of the third"}}) {
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
