#include <array>

#include "apps/command.h"

namespace gnomon::apps {
namespace {

constexpr std::string_view data = "Data";
constexpr std::string_view planning = "Measure and plan";
constexpr std::string_view training = "Train";

constexpr auto table = std::to_array<CommandInfo>({
    {"import", "Import a graph from another format into a store", data,
     "gnomon import npz cora.npz stores/cora --undirected --split per_class"},
    {"generate", "Generate a random graph store (sbm or rmat)", data,
     "gnomon generate sbm stores/toy --vertices 10000 --average-degree 20 --classes 8"},
    {"convert", "Convert a graph store to the current version, or to another vertex order", data,
     "gnomon convert stores/old stores/new"},
    {"partition", "Partition a graph and report the quality of the partition", data,
     "gnomon partition stores/cora --parts 8 -o parts/cora"},
    {"info", "Describe a graph store, or this machine and this build", data,
     "gnomon info stores/cora --check"},
    {"machine", "Measure this machine's speeds, independent of any workload", planning,
     "gnomon machine -o machine.json"},
    {"profile", "Measure a workload on this machine", planning, "gnomon profile stores/cora -o profile.json"},
    {"catalog", "List known machines and papers' workloads, or print one with its sources", planning,
     "gnomon catalog aws-g5.2xlarge"},
    {"explore", "Predict plans on this or other machines and workloads (what-if)", planning,
     "gnomon explore profile.json --plan all --set machine.cpu.cores=2,4,8"},
    {"serve", "Explore, tune and watch runs on a page in the browser", planning, "gnomon serve profile.json"},
    {"tune", "Find the best plan for a profile, or for a graph store that is measured first", planning,
     "gnomon tune profile.json -o plan.json", "--device"},
    {"surrogate", "Train a model that predicts plans on graphs without a profile", planning,
     "gnomon surrogate learn profiles/*.json -o surrogate.json"},
    {"validate", "Run plans and compare predicted with measured times", planning,
     "gnomon validate stores/cora profile.json"},
    {"compare", "Run every preset and compare times, memory and accuracy", planning,
     "gnomon compare stores/cora --device emulated:aws-g5.2xlarge"},
    {"history", "Show what earlier runs on this machine teach predictions", planning, "gnomon history"},
    {"reproduce", "Predict or measure published papers' tables and figures beside the printed values",
     planning, "gnomon reproduce morphgl", "--measure"},
    {"train", "Train a model with a plan", training, "gnomon train stores/cora --plan plan.json"},
    {"evaluate", "Evaluate a run's model with all neighbours", training, "gnomon evaluate runs/cora-1"},
    {"predict", "Write a run's predictions, logits or embeddings", training,
     "gnomon predict runs/cora-1 -o classes.csv --logits logits.npy"},
    {"runs", "Compare runs", training, "gnomon runs runs"},
    {"autotune", "Profile, tune and train in one go", training, "gnomon autotune stores/cora"},
    {"demo", "Run everything on a generated graph, or on your own file", training, "gnomon demo"},
});

}  // namespace

std::span<const CommandInfo> all_commands() { return table; }

}  // namespace gnomon::apps
