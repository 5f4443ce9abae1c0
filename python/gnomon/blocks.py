"""Mini-batches as message-flow graphs, as in DGL.

>>> for input_nodes, output_nodes, blocks in Loader(data, [5, 10, 15], data.train_mask, batch_size=1024, shuffle=True):
...     x = blocks[0].srcdata["x"]
...     for layer, block in zip(layers, blocks):  # gnomon.nn's; DGL's take block.to_dgl()
...         x = layer(x, block.block)
...     loss = cross_entropy(x, blocks[-1].dstdata["y"])
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from gnomon._library import InvalidInput
from gnomon.nn.block import Block
from gnomon.pyg._arguments import LoaderArguments, LoaderData
from gnomon.pyg.node_loader import NeighborLoader

if TYPE_CHECKING:
    import dgl
    from torch_geometric.data import Data
    from typing_extensions import Unpack

# The fields of a batch that are not attributes of the data.
_OWN = {"n_id", "e_id", "input_id", "batch", "num_sampled_nodes", "num_sampled_edges", "edge_index"}


@dataclass
class MFG:
    """The message-flow graph of a layer: its destinations are the first of its sources.

    Attributes
    ----------
    edge_index : Tensor
        int64, [2, edges]: positions of source and destination, in the order of the destinations.
    src_nodes, dst_nodes : Tensor
        int64: the ids of the nodes in the graph.
    edge_ids : Tensor
        int64: the ids of the edges.
    srcdata, dstdata, edata : dict
        Attributes: of all nodes in the first layer's ``srcdata`` and of the seeds in the last one's ``dstdata``.
    """

    edge_index: Tensor
    src_nodes: Tensor
    dst_nodes: Tensor
    edge_ids: Tensor
    srcdata: dict[str, Any] = field(default_factory=dict)
    dstdata: dict[str, Any] = field(default_factory=dict)
    edata: dict[str, Any] = field(default_factory=dict)

    @property
    def num_src_nodes(self) -> int:
        """The number of nodes that the layer reads."""
        return self.src_nodes.numel()

    @property
    def num_dst_nodes(self) -> int:
        """The number of nodes that the layer computes."""
        return self.dst_nodes.numel()

    @property
    def num_edges(self) -> int:
        """The number of edges."""
        return self.edge_ids.numel()

    @cached_property
    def block(self) -> Block:
        """This graph as a block for the layers of :mod:`gnomon.nn`."""
        return Block(self.edge_index, self.num_src_nodes, self.num_dst_nodes)

    def to(self, device: Any) -> MFG:
        """Return a copy on a device."""

        def moved(values: dict[str, Any]) -> dict[str, Any]:
            return {key: value.to(device) for key, value in values.items()}

        return MFG(
            self.edge_index.to(device),
            self.src_nodes.to(device),
            self.dst_nodes.to(device),
            self.edge_ids.to(device),
            moved(self.srcdata),
            moved(self.dstdata),
            moved(self.edata),
        )

    def to_dgl(self) -> dgl.DGLGraph:
        """Return this graph as a DGL block with ``dgl.NID`` and ``dgl.EID``. DGL must be installed."""
        import dgl

        edges = (self.edge_index[0], self.edge_index[1])
        block = dgl.create_block(edges, self.num_src_nodes, self.num_dst_nodes)
        block.srcdata.update({dgl.NID: self.src_nodes, **self.srcdata})
        block.dstdata.update({dgl.NID: self.dst_nodes, **self.dstdata})
        block.edata.update({dgl.EID: self.edge_ids, **self.edata})
        return block

    def __repr__(self) -> str:
        return (
            f"MFG(num_src_nodes={self.num_src_nodes}, num_dst_nodes={self.num_dst_nodes}, num_edges={self.num_edges})"
        )


class Loader:
    """Mini-batches of nodes as ``(input_nodes, output_nodes, blocks)``, prepared ahead on threads in C++.

    Like DGL's ``DataLoader`` with a ``NeighborSampler``: all nodes seen so far are expanded in every hop.

    Parameters
    ----------
    data : Data or Store
        As in :class:`gnomon.pyg.NeighborLoader`.
    fanouts : list of int
        Neighbours for each layer, in DGL's order: that of the layer next to the input first. 0 to 512, or -1 for all.
    input_nodes : Tensor or str, optional
        Ids or a mask of the nodes to batch; of a store also ``"train"``, ``"valid"`` or ``"test"``. None: all.
    **kwargs
        As in :class:`gnomon.pyg.NeighborLoader`, except ``subgraph_type``; ``expand`` defaults to ``"every_hop"``.

    Raises
    ------
    gnomon.InvalidInput
        A ``ValueError`` that names the argument.
    """

    def __init__(
        self,
        data: LoaderData,
        fanouts: Sequence[int],
        input_nodes: Any = None,
        **kwargs: Unpack[LoaderArguments],
    ) -> None:
        if kwargs.get("subgraph_type", "directional") != "directional":
            raise InvalidInput("subgraph_type: blocks are directional; leave it out")
        try:
            outwards = list(fanouts)[::-1]
        except TypeError:
            raise InvalidInput(f"fanouts: must be a list of integers, not {fanouts!r}") from None
        arguments: dict[str, Any] = {"expand": "every_hop", **kwargs}
        self.batches = NeighborLoader(data, outwards, input_nodes, **arguments)
        self._accumulates = arguments["expand"] == "once"

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor, list[MFG]]]:
        for batch in self.batches:
            blocks = mfgs_of(batch, self._accumulates)
            yield blocks[0].src_nodes, blocks[-1].dst_nodes, blocks

    def __repr__(self) -> str:
        return f"Loader({len(self)} batches)"


def mfgs_of(batch: Data, accumulates: bool = False) -> list[MFG]:
    """Return the message-flow graphs of a batch's layers, the first layer's first.

    Parameters
    ----------
    batch
        A directional batch of a :class:`gnomon.pyg.NeighborLoader`.
    accumulates
        Whether each layer also gets the edges of the hops nearer to the seeds; required with ``expand="once"``.
    """
    ends = list(itertools.accumulate(batch.num_sampled_nodes))
    last_edges = list(itertools.accumulate(batch.num_sampled_edges))
    blocks = []
    for hop in reversed(range(len(last_edges))):
        edges = slice(0 if accumulates or hop == 0 else last_edges[hop - 1], last_edges[hop])
        nodes = batch.n_id[: ends[hop + 1]]
        edge_index = batch.edge_index[:, edges]
        blocks.append(MFG(edge_index, nodes, nodes[: ends[hop]], batch.e_id[edges]))
        for key in _attributes(batch, batch.is_edge_attr):
            blocks[-1].edata[key] = batch[key][edges]
    for key in _attributes(batch, batch.is_node_attr):
        blocks[0].srcdata[key] = batch[key]
        blocks[-1].dstdata[key] = batch[key][: ends[0]]
    return blocks


def _attributes(batch: Data, belongs: Any) -> list[str]:
    return [
        key
        for key, value in batch.to_dict().items()
        if key not in _OWN and isinstance(value, torch.Tensor) and value.dim() > 0 and belongs(key)
    ]
