"""Neighbour sampling by brute force, as pyg-lib defines it, comparisons of distributions, and checks of batches."""

from __future__ import annotations

import random
from collections import Counter

import torch
from torch_geometric.data import Data


def in_edges(edge_index: torch.Tensor, num_nodes: int) -> list[list[int]]:
    """Return the ids of each node's incoming edges."""
    lists: list[list[int]] = [[] for _ in range(num_nodes)]
    for edge, node in enumerate(edge_index[1].tolist()):
        lists[node].append(edge)
    return lists


def sample_once(
    edge_index: torch.Tensor, lists: list[list[int]], seeds: list[int], fanouts: list[int], draws: random.Random
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Expand each node once. Return nodes, edges, and how many of each every hop added."""
    sources = edge_index[0].tolist()
    nodes, edges = list(seeds), []
    seen = set(seeds)
    num_nodes, num_edges = [len(seeds)], []
    begin = 0
    for fanout in fanouts:
        end, before = len(nodes), len(edges)
        for node in nodes[begin:end]:
            found = lists[node]
            if 0 <= fanout < len(found):
                found = draws.sample(found, fanout)
            for edge in found:
                edges.append(edge)
                if sources[edge] not in seen:
                    seen.add(sources[edge])
                    nodes.append(sources[edge])
        begin = end
        num_nodes.append(len(nodes) - end)
        num_edges.append(len(edges) - before)
    return nodes, edges, num_nodes, num_edges


def check_batch(batch: Data, data: Data, fanouts: list[int], disjoint: bool = False) -> None:
    """Check a directional batch of the once-rule against the data, edge by edge."""
    nodes = batch.n_id
    assert torch.equal(batch.x, data.x[nodes])
    assert torch.equal(batch.y, data.y[nodes])
    assert torch.equal(batch.train_mask, data.train_mask[nodes])
    assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])
    assert torch.equal(data.edge_index[:, batch.e_id], nodes[batch.edge_index])
    assert sum(batch.num_sampled_nodes) == nodes.numel() == batch.num_nodes
    assert sum(batch.num_sampled_edges) == batch.e_id.numel() == batch.num_edges
    if not disjoint:
        assert nodes.unique().numel() == nodes.numel()
    degrees = torch.bincount(data.edge_index[1], minlength=data.num_nodes)
    begin, first_edge, end = 0, 0, batch.num_sampled_nodes[0]
    for hop, fanout in enumerate(fanouts):
        last_edge = first_edge + batch.num_sampled_edges[hop]
        destinations = batch.edge_index[1, first_edge:last_edge]
        # Every node that the last hop added, in order, with min(degree, fanout) edges.
        expected = degrees[nodes[begin:end]]
        if fanout >= 0:
            expected = expected.clamp(max=fanout)
        assert torch.equal(destinations, torch.arange(begin, end).repeat_interleave(expected))
        assert batch.e_id[first_edge:last_edge].numel() == int(expected.sum())
        begin, first_edge, end = end, last_edge, end + batch.num_sampled_nodes[hop + 1]
        if batch.num_sampled_edges[hop]:
            assert int(batch.edge_index[0, :last_edge].max()) < end
    if not disjoint:  # without replacement
        assert batch.e_id.unique().numel() == batch.e_id.numel()


def chi_square_p(observed: Counter, expected: Counter) -> float:
    """The chance that two samples of one distribution differ by at least so much (test of homogeneity)."""
    cells = [key for key in observed | expected if observed[key] + expected[key] >= 10]
    rest = [sum(counts[key] for key in counts if key not in cells) for counts in (observed, expected)]
    rows = [[counts[key] for key in cells] + [r] for counts, r in zip((observed, expected), rest)]
    columns = [pair for pair in zip(*rows) if sum(pair) > 0]
    totals = [sum(row) for row in rows]
    statistic = 0.0
    for pair in columns:
        for count, total in zip(pair, totals):
            mean = total * sum(pair) / sum(totals)
            statistic += (count - mean) ** 2 / mean
    return float(torch.special.gammaincc(torch.tensor((len(columns) - 1) / 2), torch.tensor(statistic / 2)))
