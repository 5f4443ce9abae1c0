"""A cache of rows of ``x`` in a device's memory: cached rows are neither gathered nor copied."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Hotness:
    """How often batches contain each node.

    Attributes
    ----------
    order
        The nodes by descending frequency.
    hits
        ``hits[k]``: the expected share of a batch's nodes that are among the first ``k``.
    """

    order: Tensor
    hits: Tensor


def hotness_of(batches: Iterable[Tensor], num_nodes: int) -> Hotness:
    """Count the nodes of batches. Hits are estimated by cross-validation: one half's order on the other half."""
    halves = [torch.zeros(num_nodes, dtype=torch.int64) for _ in range(2)]
    for number, nodes in enumerate(batches):
        halves[number % 2] += torch.bincount(nodes, minlength=num_nodes)
    seen, unseen = halves
    of_half = _by_count(seen)
    hits = torch.zeros(num_nodes + 1, dtype=torch.float64)
    hits[1:] = unseen[of_half].cumsum(0)
    return Hotness(_by_count(seen + unseen), hits / hits[-1].clamp(min=1))


def _by_count(counts: Tensor) -> Tensor:
    return torch.sort(counts, descending=True, stable=True).indices


class FeatureCache:
    """Rows of a matrix in a device's memory.

    Parameters
    ----------
    matrix
        One row per node, in host memory.
    nodes
        The nodes to cache.
    device
        The device that holds the cache.

    Attributes
    ----------
    slots
        int32, for each node: its row in the cache, or -1.
    """

    def __init__(self, matrix: Tensor, nodes: Tensor, device: torch.device) -> None:
        self.slots = torch.full((matrix.shape[0],), -1, dtype=torch.int32)
        self.slots[nodes] = torch.arange(nodes.numel(), dtype=torch.int32)
        self._rows = matrix.index_select(0, nodes).to(device)

    def complete(self, batch: Any, places: tuple[Tensor, Tensor, Tensor]) -> None:
        """Add the cached rows to ``batch.x``, which has the gathered ones. All tensors are on the device."""
        at, cached_at, slots = places
        gathered = batch.x
        x = gathered.new_empty(at.numel() + cached_at.numel(), *gathered.shape[1:])
        x.index_copy_(0, at, gathered)
        x.index_copy_(0, cached_at, self._rows.index_select(0, slots))
        if x.is_cuda:
            self._rows.record_stream(torch.cuda.current_stream(x.device))
        batch.x = x
