#pragma once

#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sample/topology.h"
#include "plan/job.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// Returns the cores to which a plan's workers are pinned, in the workers' order; empty without pinning.
std::vector<int> worker_cores(const plan::Plan& plan);

/// Returns, for each worker, the cores of the threads that share its mini-batches, its own core first; empty
/// lists without pinning.
std::vector<std::vector<int>> thread_cores(const plan::Plan& plan);

/// A graph in host memory as a plan places it. With "interleave" on a machine of several NUMA nodes,
/// structure and features are copied into memory that is spread over the nodes; the features only if they
/// take at most half of the free memory, otherwise they stay mapped. With "first_touch", and on machines with
/// one node, the features are left in place.
struct PlacedGraph {
  graph::Graph graph;
  kernels::cpu::Topology topology;
};

/// How the job draws neighbours. Throws base::InputError if that requires weights and the graph has none.
kernels::cpu::Draws draws_of(const graph::Graph& graph, const plan::Job& job);

/// Places a graph for sampling by `draws`. `nodes` are base::memory_nodes(). Throws base::Failure if the
/// system refuses.
PlacedGraph place(const graph::Graph& graph, kernels::cpu::Draws draws, plan::Placement placement,
                  const std::vector<int>& nodes);

}  // namespace gnomon::runtime
