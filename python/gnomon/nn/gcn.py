"""Graph convolution."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.nn.dense.linear import Linear
from torch_geometric.nn.inits import zeros

from gnomon._library import InvalidInput
from gnomon.nn._functions import Aggregate, Dense, WeightedAggregate
from gnomon.nn._inputs import Edges, block_of, check_dense, fit, refuse_options, rows_of
from gnomon.nn.block import Block


class GCNConv(nn.Module):
    """Graph convolution, like ``torch_geometric.nn.GCNConv``.

    Parameters
    ----------
    in_channels, out_channels : int
        Number of input and of output features; ``in_channels=-1``: taken from the first input.
    improved : bool
        Added self-loops have the weight 2 instead of 1; only with ``edge_weight``, as in PyG.
    cached : bool
        Not supported: must be False.
    add_self_loops : bool, optional
        Add a self-loop to each node; None: as `normalize`.
    normalize : bool
        Symmetric normalisation by the degrees.
    bias : bool
        Add a bias.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        improved: bool = False,
        cached: bool = False,
        add_self_loops: bool | None = None,
        normalize: bool = True,
        bias: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        if cached:
            raise InvalidInput("cached: is not supported; make a gnomon.nn.Block of the edges once and pass it instead")
        refuse_options("GCNConv", options, {"node_dim": -2})
        if add_self_loops and not normalize:
            raise InvalidInput("add_self_loops: needs normalize=True")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.improved, self.normalize = improved, normalize
        self.add_self_loops = normalize if add_self_loops is None else add_self_loops
        self.lin = Linear(in_channels, out_channels, bias=False, weight_initializer="glorot")
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        zeros(self.bias)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.lin.reset_parameters()
        zeros(self.bias)

    def forward(self, x: Tensor, edge_index: Edges, edge_weight: Tensor | None = None) -> Tensor:
        """Compute the features of the destinations of a block, or of all nodes of an ``edge_index``.

        Parameters
        ----------
        x
            The features of the nodes.
        edge_index
            The block, or int64, [2, edges].
        edge_weight
            The weight of each edge, in the order of the edges that the block was made of.
        """
        check_dense(x)
        block = block_of(x, edge_index)
        h = Dense.apply(x, fit(self.lin, x))
        out = self._aggregate(h, block) if edge_weight is None else self._aggregate_weighted(h, block, edge_weight)
        return out if self.bias is None else out + self.bias

    def _aggregate(self, h: Tensor, block: Block) -> Tensor:
        rows, transposed = rows_of(block, self.add_self_loops)
        if not self.normalize:
            return Aggregate.apply(h, rows, transposed, None, None)
        # Sources that are not destinations have no other edges than their self-loop.
        scales = torch.full((block.num_sources,), float(self.add_self_loops))
        scales[: block.num_destinations] = rows.degrees().rsqrt().nan_to_num(posinf=0.0)
        return Aggregate.apply(h, rows, transposed, scales[: block.num_destinations], scales)

    def _aggregate_weighted(self, h: Tensor, block: Block, edge_weight: Tensor) -> Tensor:
        weights = block.by_row(edge_weight, "edge_weight")
        if self.normalize:
            loops, size = self.add_self_loops, block.num_sources
            edges, weights = gcn_norm(block.edge_index, weights, size, self.improved, loops, dtype=h.dtype)
            kept = edges[1] < block.num_destinations
            block = Block(edges[:, kept], size, block.num_destinations)
            weights = block.by_row(weights[kept], "edge_weight")
        rows, columns = h.shape[0], h.shape[1]
        out = WeightedAggregate.apply(
            weights.view(-1, 1), h.view(rows, 1, columns), block.rows, lambda: block.transposed
        )
        return out.flatten(1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels})"
