"""Bipartite graphs from the nodes that a layer reads to the nodes that it computes."""

from __future__ import annotations

import ctypes
import itertools
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from gnomon import _library
from gnomon._library import InvalidInput, check, library

if TYPE_CHECKING:
    from torch_geometric.data import Data


class Rows:
    """A sparse matrix in CSR form; see ``gnomon_rows`` in ``gnomon.h``."""

    def __init__(self, num_columns: int, indptr: Tensor, columns: Tensor, edges: Tensor | None = None) -> None:
        self.indptr, self.columns, self.edges = indptr, columns, edges
        self.num_rows, self.num_columns, self.num_entries = indptr.numel() - 1, num_columns, columns.numel()
        self.view = _library.Rows(
            num_rows=self.num_rows,
            num_columns=num_columns,
            num_entries=self.num_entries,
            indptr=indptr.data_ptr(),
            columns=columns.data_ptr(),
            edges=None if edges is None else edges.data_ptr(),
        )

    def transposed(self) -> Rows:
        """The transpose, whose entries name the edges of these rows."""
        indptr = torch.empty(self.num_columns + 1, dtype=torch.int64)
        columns, edges = torch.empty_like(self.columns), torch.empty_like(self.columns)
        check(
            library.gnomon_rows_transpose(
                ctypes.byref(self.view), indptr.data_ptr(), columns.data_ptr(), edges.data_ptr()
            )
        )
        return Rows(self.num_rows, indptr, columns, edges)

    def with_loops(self) -> Rows:
        """The matrix with exactly one entry on the diagonal of each row."""
        indptr = torch.empty_like(self.indptr)
        columns = torch.empty(self.num_entries + self.num_rows, dtype=torch.int32)
        check(library.gnomon_rows_with_loops(ctypes.byref(self.view), indptr.data_ptr(), columns.data_ptr()))
        return Rows(self.num_columns, indptr, columns[: int(indptr[-1])])

    def interleaved(self) -> Rows:
        """The matrix whose row 2r is row r and whose row 2r + 1 has one entry, in column r."""
        indptr = torch.empty(2 * self.num_rows + 1, dtype=torch.int64)
        columns = torch.empty(self.num_entries + self.num_rows, dtype=torch.int32)
        check(library.gnomon_rows_interleaved(ctypes.byref(self.view), indptr.data_ptr(), columns.data_ptr()))
        return Rows(self.num_columns, indptr, columns)

    def degrees(self) -> Tensor:
        """The number of entries of each row, fp32."""
        return self.indptr.diff().to(torch.float32)


def _rows_of(
    num_sources: int, num_destinations: int, sources: Tensor, destinations: Tensor
) -> tuple[Rows, Tensor | None]:
    """Return the rows of edges in any order, and the edge of each entry unless all are in order.

    Within a row, edges keep their order.
    """
    indptr = torch.empty(num_destinations + 1, dtype=torch.int64)
    columns = torch.empty(sources.numel(), dtype=torch.int32)

    def fill(sources: Tensor, destinations: Tensor) -> int:
        return library.gnomon_rows_from_edges(
            num_sources,
            num_destinations,
            sources.numel(),
            sources.data_ptr(),
            destinations.data_ptr(),
            indptr.data_ptr(),
            columns.data_ptr(),
        )

    order = None
    if fill(sources, destinations) != _library.OK:  # they may not be sorted
        destinations, order = destinations.sort(stable=True)
        sources = sources[order]
        check(fill(sources, destinations))
    return Rows(num_sources, indptr, columns), order


class Block:
    """The edges of a layer. The destinations are the first of the sources.

    Parameters
    ----------
    edge_index : Tensor
        int64, [2, edges]: sources and destinations.
    num_sources, num_destinations : int
        The number of nodes that the layer reads, and that it computes.

    Raises
    ------
    gnomon.InvalidInput
        For ids that are out of range.
    """

    def __init__(self, edge_index: Tensor, num_sources: int, num_destinations: int | None = None) -> None:
        if not isinstance(edge_index, Tensor):
            raise InvalidInput(f"edge_index: must be a tensor or a block, not {type(edge_index).__name__}")
        if edge_index.device.type != "cpu" or edge_index.dtype != torch.int64 or edge_index.dim() != 2:
            raise InvalidInput("edge_index: must be int64 of shape [2, edges] in the host's memory")
        count = num_sources if num_destinations is None else num_destinations
        if count > num_sources:
            raise InvalidInput(f"num_destinations: {count} is more than the {num_sources} sources")
        sources, destinations = edge_index[0].contiguous(), edge_index[1].contiguous()
        self.rows, self._order = _rows_of(num_sources, count, sources, destinations)
        self._num_edges = sources.numel()
        self._whole: Block | None = None  # the block whose first part this is

    def first(self, num_destinations: int, num_sources: int) -> Block:
        """Return the block of the first destinations, whose sources must also be the first ones. Copies nothing."""
        block = Block.__new__(Block)
        indptr = self.rows.indptr[: num_destinations + 1]
        block.rows = Rows(num_sources, indptr, self.rows.columns[: int(indptr[-1])])
        block._order = None if self._order is None else self._order[: block.rows.num_entries]
        block._num_edges = self._num_edges
        block._whole = self
        return block

    def by_row(self, values: Tensor, name: str) -> Tensor:
        """Return the value of each entry of the rows.

        Parameters
        ----------
        values
            fp32: the value of each edge that this block, or the block of which it is a part, was made of.
        name
            What errors name.
        """
        if not isinstance(values, Tensor) or values.shape != (self._num_edges,):
            raise InvalidInput(f"{name}: must be a tensor of one value for each of the {self._num_edges} edges")
        if values.dtype != torch.float32 or values.device.type != "cpu":
            raise InvalidInput(f"{name}: must be fp32 in the host's memory, not {values.dtype} on {values.device}")
        return values[: self.rows.num_entries] if self._order is None else values[self._order]

    @cached_property
    def edge_index(self) -> Tensor:
        """The edges, [2, edges], sorted by destination."""
        destinations = torch.arange(self.num_destinations).repeat_interleave(self.rows.indptr.diff())
        return torch.stack([self.rows.columns.long(), destinations])

    @property
    def num_sources(self) -> int:
        """The number of nodes that the layer reads."""
        return self.rows.num_columns

    @property
    def num_destinations(self) -> int:
        """The number of nodes that the layer computes."""
        return self.rows.num_rows

    @cached_property
    def transposed(self) -> Rows:
        """The edges by source."""
        return self.rows.transposed()

    @cached_property
    def loops(self) -> Rows:
        """The edges with exactly one self-loop at each destination."""
        return self.rows.with_loops()

    @cached_property
    def transposed_loops(self) -> Rows:
        """The transpose of :attr:`loops`."""
        return self.loops.transposed()

    @cached_property
    def with_own(self) -> Rows:
        """The edges of each destination, then its own row."""
        return self.rows.interleaved()

    @cached_property
    def transposed_with_own(self) -> Rows:
        """The transpose of :attr:`with_own`."""
        return self.with_own.transposed()

    @cached_property
    def inverse_degrees_with_own(self) -> Tensor:
        """1 / in-degree of each destination, then 1 for its own row."""
        scales = torch.ones(2 * self.num_destinations)
        scales[::2] = self.inverse_degrees
        return scales

    @cached_property
    def inverse_degrees(self) -> Tensor:
        """1 / in-degree of each destination, 0 for destinations without edges."""
        if self._whole is not None:
            return self._whole.inverse_degrees[: self.num_destinations]
        degrees = self.rows.degrees()
        return torch.where(degrees > 0, 1 / degrees.clamp(min=1), 0.0)

    def __repr__(self) -> str:
        return f"Block(num_sources={self.num_sources}, num_destinations={self.num_destinations}, num_edges={self.rows.num_entries})"


def blocks_of(batch: Data) -> list[Block]:
    """Return the blocks of a batch's layers, the first layer's first.

    Layer ``i`` of ``L`` computes the nodes of the first ``L - i`` hops from the edges of these hops and the next. Its
    output is the input of the next layer; the last layer computes the seeds.

    Parameters
    ----------
    batch : Data
        A directional batch with one hop per layer and ``expand="once"``.
    """
    nodes, edges = batch.get("num_sampled_nodes"), batch.get("num_sampled_edges")
    if nodes is None or edges is None:
        raise InvalidInput("batch: has no num_sampled_nodes; it must be directional")
    ends = list(itertools.accumulate(nodes))
    whole = Block(batch.edge_index, ends[-1], ends[-2])
    return [
        whole if hop + 2 == len(ends) else whole.first(ends[hop], ends[hop + 1]) for hop in reversed(range(len(edges)))
    ]
