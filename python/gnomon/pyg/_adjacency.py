"""Graphs given as the ``adj_t`` of a Data object: rows are destinations, columns are sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnomon._library import InvalidInput


@dataclass(frozen=True)
class Adjacency:
    """The matrix ``adj_t`` in CSR form. The id of an edge is its position.

    Attributes
    ----------
    indptr, sources
        int64: row pointers, and the source of each edge.
    values
        The values of the edges; None: all ones, or no values.
    kind
        The type of the matrix: torch's, or torch_sparse's ``SparseTensor``.
    """

    indptr: Tensor
    sources: Tensor
    values: Tensor | None
    kind: Any

    @property
    def edge_index(self) -> Tensor:
        """All edges, [2, edges]."""
        destinations = torch.repeat_interleave(torch.arange(self.indptr.numel() - 1), self.indptr.diff())
        return torch.stack([self.sources, destinations])

    def add(self, batch: Data, edges: Tensor, edge_ids: Tensor, num_nodes: int) -> None:
        """Set ``adj_t`` of a batch, in the type of the data's ``adj_t``."""
        sources, destinations = edges[0], edges[1]
        values = None if self.values is None else self.values[edge_ids]
        if self.kind is not Tensor:
            size = (num_nodes, num_nodes)
            batch.adj_t = self.kind(row=destinations, col=sources, value=values, sparse_sizes=size, is_sorted=False)
            return
        if bool((destinations[1:] < destinations[:-1]).any()):
            destinations, order = destinations.sort(stable=True)
            sources, values = sources[order], None if values is None else values[order]
        counts = torch.bincount(destinations, minlength=num_nodes)
        indptr = torch.nn.functional.pad(counts.cumsum(0), (1, 0))
        ones = torch.ones(sources.numel()) if values is None else values
        batch.adj_t = torch.sparse_csr_tensor(indptr, sources, ones, (num_nodes, num_nodes))


def adjacency_of(data: Data) -> Adjacency | None:
    """Return the matrix ``adj_t`` of the data; None if it has ``edge_index`` or neither.

    Raises
    ------
    gnomon.InvalidInput
        If it is neither a sparse tensor of torch nor one of torch_sparse.
    """
    matrix = data.get("adj_t")
    if matrix is None or data.get("edge_index") is not None:
        return None
    if isinstance(matrix, Tensor) and matrix.layout != torch.strided and matrix.dim() == 2:
        rows = matrix.to_sparse_csr()
        parts = rows.crow_indices(), rows.col_indices(), rows.values()
        kind: Any = Tensor
    elif hasattr(matrix, "csr") and not isinstance(matrix, Tensor):
        parts, kind = matrix.csr(), type(matrix)
    else:
        raise InvalidInput(f"data: adj_t must be a sparse matrix, not {type(matrix).__name__}")
    indptr, sources, values = (None if part is None else part.detach().cpu().contiguous() for part in parts)
    assert indptr is not None and sources is not None
    return Adjacency(indptr.long(), sources.long(), values, kind)
