"""Graph attention."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn.dense.linear import Linear
from torch_geometric.nn.inits import glorot, zeros

from gnomon._library import InvalidInput
from gnomon.nn._functions import AddScores, Dense, EdgeSoftmax, WeightedAggregate
from gnomon.nn._inputs import (
    Edges,
    block_of,
    check_dense,
    check_destinations,
    fit,
    pair_of,
    refuse_inputs,
    refuse_options,
    rows_of,
)


class GATConv(nn.Module):
    """Graph attention, like ``torch_geometric.nn.GATConv`` without edge features.

    Parameters
    ----------
    in_channels, out_channels : int
        Number of input features, and of output features per head; ``in_channels=-1``: taken from the first input.
    heads : int
        The number of heads.
    concat : bool
        Concatenate the heads; otherwise average them.
    negative_slope : float
        Slope of the leaky ReLU of the attention scores.
    dropout : float
        Dropout probability of the attention coefficients.
    add_self_loops : bool
        Add a self-loop to each node.
    edge_dim, fill_value
        Not supported: ``edge_dim`` must be None; ``fill_value`` is then without effect.
    bias : bool
        Add a bias.
    residual : bool
        Not supported: must be False.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        edge_dim: int | None = None,
        fill_value: Any = "mean",
        bias: bool = True,
        residual: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        given = {"edge_dim": edge_dim, "residual": residual, **options}
        refuse_options("GATConv", given, {"edge_dim": None, "residual": False, "node_dim": 0})
        if isinstance(in_channels, (tuple, list)):
            raise InvalidInput("in_channels: must be one number; GATConv transforms all nodes by one matrix")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.heads, self.concat = heads, concat
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.lin = Linear(in_channels, heads * out_channels, bias=False, weight_initializer="glorot")
        self.att_src = nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = nn.Parameter(torch.empty(1, heads, out_channels))
        self.bias = nn.Parameter(torch.empty(heads * out_channels if concat else out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.lin.reset_parameters()
        glorot(self.att_src)
        glorot(self.att_dst)
        zeros(self.bias)

    def forward(
        self,
        x: Tensor | tuple[Tensor, Tensor],
        edge_index: Edges,
        edge_attr: None = None,
        size: None = None,
        return_attention_weights: None = None,
    ) -> Tensor:
        """Compute the features of the destinations of a block, or of all nodes of an ``edge_index``.

        Parameters
        ----------
        x
            The features of the nodes, or those of the sources and those of the destinations.
        edge_index
            The block, or int64, [2, edges].
        edge_attr, size, return_attention_weights
            Must be None.
        """
        refuse_inputs("GATConv", edge_attr=edge_attr, size=size, return_attention_weights=return_attention_weights)
        of_sources, own = pair_of(x) if isinstance(x, (tuple, list)) else (x, None)
        check_dense(of_sources)
        block = block_of(of_sources, edge_index, None if own is None else len(own))
        h = self._project(of_sources, "x")
        if own is None:
            of_destinations = h[: block.num_destinations]
        else:
            check_destinations(own, block)
            of_destinations = self._project(own, "x[1]")
        rows, transposed = rows_of(block, self.add_self_loops)
        scores = AddScores.apply((of_destinations * self.att_dst).sum(-1), (h * self.att_src).sum(-1), rows, transposed)
        attention = EdgeSoftmax.apply(F.leaky_relu(scores, self.negative_slope), rows)
        attention = F.dropout(attention, p=self.dropout, training=self.training)
        out = WeightedAggregate.apply(attention, h, rows, transposed)
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        return out if self.bias is None else out + self.bias

    def _project(self, x: Tensor, name: str) -> Tensor:
        return Dense.apply(x, fit(self.lin, x, name)).view(-1, self.heads, self.out_channels)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, heads={self.heads})"
