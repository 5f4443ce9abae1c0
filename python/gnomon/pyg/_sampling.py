"""Sampling rules, and samples in the form of PyG's samplers."""

from __future__ import annotations

from dataclasses import replace as replaced
from typing import Any

from torch_geometric.sampler import SamplerOutput
from torch_geometric.sampler.base import SubgraphType

from gnomon._epoch import RawBatch, Sampling, check_fanouts
from gnomon._library import InvalidInput
from gnomon.loader_plan import LoaderPlan
from gnomon.pyg._options import Options


def read_sampling(
    num_neighbors: Any, replace: Any, subgraph_type: Any, disjoint: Any, directed: Any, options: Options
) -> tuple[Sampling, bool]:
    """Check the sampling rule. Also returns whether edges are made bidirectional afterwards."""
    if isinstance(num_neighbors, dict):
        raise InvalidInput("num_neighbors: dictionaries are for heterogeneous graphs, which are not supported yet")
    if hasattr(num_neighbors, "get_mapped_values"):  # PyG's NumNeighbors
        num_neighbors = num_neighbors.get_mapped_values()
    try:
        kind = SubgraphType(subgraph_type) if directed else SubgraphType.induced
    except ValueError:
        names = ", ".join(repr(each.value) for each in SubgraphType)
        raise InvalidInput(f"subgraph_type: {subgraph_type!r} is unknown; use {names}") from None
    if disjoint and kind == SubgraphType.induced:
        raise InvalidInput("disjoint: cannot be combined with subgraph_type='induced'")
    if disjoint and options.expand == "every_hop":
        raise InvalidInput("disjoint: cannot be combined with expand='every_hop'")
    fanouts = check_fanouts(num_neighbors)
    if options.expand == "every_hop" and any(fanouts[fanouts.index(0) :] if 0 in fanouts else ()):
        raise InvalidInput("num_neighbors: with expand='every_hop' a 0 is only allowed at the end")
    sampling = Sampling(
        fanouts=fanouts,
        seed=options.sampling_seed,
        expansion=options.expand,
        replace=bool(replace),
        disjoint=bool(disjoint),
        subgraph="induced" if kind == SubgraphType.induced else "directional",
        threads_per_batch=options.threads_per_batch,
    )
    return sampling, kind == SubgraphType.bidirectional


def sampler_output(raw: RawBatch, bidirectional: bool) -> SamplerOutput:
    """Return a sample in the form of PyG's samplers."""
    out = SamplerOutput(
        node=raw.nodes,
        row=raw.edges[0],
        col=raw.edges[1],
        edge=raw.edge_ids,
        batch=raw.trees,
        num_sampled_nodes=raw.num_sampled_nodes,
        num_sampled_edges=raw.num_sampled_edges,
    )
    return out.to_bidirectional() if bidirectional else out


def sampling_for(sampling: Sampling, plan: LoaderPlan) -> Sampling:
    """Return the sampling rule with a plan's threads."""
    return replaced(sampling, threads_per_batch=plan.threads_per_batch, pin_threads=plan.pinned)
