#pragma once

#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sample/topology.h"
#include "plan/job.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// The cores that a plan's workers are pinned to, in the workers' order; none when they are not pinned.
std::vector<int> worker_cores(const plan::Plan& plan);

/// The cores of the threads that share each worker's mini-batches, the worker's own first; none as above.
std::vector<std::vector<int>> thread_cores(const plan::Plan& plan);

/// A graph as a plan's workers read it: the structure, and the graph with its features, where the plan places
/// them on a machine of several nodes of memory. There "interleave" copies both into memory spread over the
/// nodes (features as long as they take no more than half of what is free; else they stay mapped).
/// "first_touch", and any plan on a machine of one node, leaves the features where they are.
struct PlacedGraph {
  graph::Graph graph;
  kernels::cpu::Topology topology;
};

/// How the job draws neighbours. Throws base::InputError when that needs weights and the graph has none.
kernels::cpu::Draws draws_of(const graph::Graph& graph, const plan::Job& job);

/// `draws`: what the structure is for. `nodes`: base::memory_nodes(). Throws base::Failure when the system
/// refuses.
PlacedGraph place(const graph::Graph& graph, kernels::cpu::Draws draws, plan::Placement placement,
                  const std::vector<int>& nodes);

}  // namespace gnomon::runtime
