"""GraphSAGE, GCN and GAT."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn.dense.linear import Linear
from torch_geometric.nn.inits import glorot, zeros

from gnomon._library import InvalidInput
from gnomon.nn._functions import AddScores, Aggregate, Dense, EdgeSoftmax, SageLayer, WeightedAggregate
from gnomon.nn.block import Block
from gnomon.nn.stored import StoredRows


def _block_of(x: Tensor | StoredRows, edges: Block | Tensor, takes_stored: bool = False) -> Block:
    block = edges if isinstance(edges, Block) else Block(edges, x.shape[0])
    if len(x.shape) != 2 or x.shape[0] != block.num_sources:
        raise InvalidInput(f"x: must have one row for each of the {block.num_sources} nodes, not {list(x.shape)}")
    if isinstance(x, StoredRows):
        if not takes_stored:
            raise InvalidInput("x: only SAGEConv accepts stored rows; pass x.gather()")
        return block
    if x.dtype != torch.float32 or x.device.type != "cpu":
        raise InvalidInput(f"x: must be fp32 in the host's memory, not {x.dtype} on {x.device}")
    return block


class SAGEConv(nn.Module):
    """GraphSAGE, like ``torch_geometric.nn.SAGEConv``.

    Parameters
    ----------
    in_channels, out_channels : int
        Number of input and of output features.
    aggr : str
        ``"mean"`` or ``"sum"``.
    normalize : bool
        L2-normalise the output rows.
    root_weight : bool
        Add a linear transformation of the node's own features.
    bias : bool
        Add a bias.
    activation : str, optional
        ``"relu"``: applied to the output, in place. PyG's layer lacks this argument.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        aggr: str = "mean",
        normalize: bool = False,
        root_weight: bool = True,
        bias: bool = True,
        activation: str | None = None,
    ) -> None:
        super().__init__()
        if activation not in (None, "relu"):
            raise InvalidInput(f"activation: {activation!r} is not supported; use 'relu' or None")
        self.activation = activation
        if aggr not in ("mean", "sum", "add"):
            raise InvalidInput(f"aggr: {aggr!r} is not supported; use 'mean' or 'sum'")
        self.aggr, self.normalize, self.root_weight = aggr, normalize, root_weight
        self._has_relu = activation == "relu" and not normalize  # else after the norm
        self.lin_l = Linear(in_channels, out_channels, bias=bias)
        if root_weight:
            self.lin_r = Linear(in_channels, out_channels, bias=False)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.lin_l.reset_parameters()
        if self.root_weight:
            self.lin_r.reset_parameters()

    def forward(self, x: Tensor | StoredRows, edges: Block | Tensor) -> Tensor:
        """Compute the features of the destinations of a block, or of all nodes of an ``edge_index``."""
        block = _block_of(x, edges, takes_stored=True)
        if isinstance(x, Tensor):
            x = x.contiguous()
        weight = self.lin_l.weight
        if self.root_weight:
            weight = torch.cat([weight, self.lin_r.weight], dim=1)
        is_mean = self.aggr == "mean"
        out = SageLayer.apply(x, weight, self.lin_l.bias, block, is_mean, self.root_weight, self._has_relu)
        if not self.normalize:
            return out
        out = F.normalize(out, p=2.0, dim=-1)
        return F.relu(out) if self.activation == "relu" else out


class GCNConv(nn.Module):
    """Graph convolution, like ``torch_geometric.nn.GCNConv`` with self-loops and symmetric normalisation.

    Parameters
    ----------
    in_channels, out_channels : int
        Number of input and of output features.
    bias : bool
        Add a bias.
    """

    def __init__(self, in_channels: int, out_channels: int, bias: bool = True) -> None:
        super().__init__()
        self.lin = Linear(in_channels, out_channels, bias=False, weight_initializer="glorot")
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        zeros(self.bias)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.lin.reset_parameters()
        zeros(self.bias)

    def forward(self, x: Tensor, edges: Block | Tensor) -> Tensor:
        """Compute the features of the destinations of a block, or of all nodes of an ``edge_index``."""
        block = _block_of(x, edges)
        # Sources that are not destinations have only their self-loop.
        scales = torch.ones(block.num_sources)
        scales[: block.num_destinations] = block.loops.degrees().rsqrt()
        out = Aggregate.apply(
            Dense.apply(x, self.lin.weight),
            block.loops,
            lambda: block.transposed_loops,
            scales[: block.num_destinations],
            scales,
        )
        return out if self.bias is None else out + self.bias


class GATConv(nn.Module):
    """Graph attention, like ``torch_geometric.nn.GATConv`` with self-loops and without edge features.

    Parameters
    ----------
    in_channels, out_channels : int
        Number of input features, and of output features per head.
    heads : int
        The number of heads.
    concat : bool
        Concatenate the heads; otherwise average them.
    negative_slope : float
        Slope of the leaky ReLU of the attention scores.
    dropout : float
        Dropout probability of the attention coefficients.
    bias : bool
        Add a bias.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.heads, self.out_channels, self.concat = heads, out_channels, concat
        self.negative_slope, self.dropout = negative_slope, dropout
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

    def forward(self, x: Tensor, edges: Block | Tensor) -> Tensor:
        """Compute the features of the destinations of a block, or of all nodes of an ``edge_index``."""
        block = _block_of(x, edges)
        h = Dense.apply(x, self.lin.weight).view(-1, self.heads, self.out_channels)
        of_sources = (h * self.att_src).sum(-1)
        of_destinations = (h[: block.num_destinations] * self.att_dst).sum(-1)
        rows = block.loops
        scores = AddScores.apply(of_destinations, of_sources, rows, lambda: block.transposed_loops)
        attention = EdgeSoftmax.apply(F.leaky_relu(scores, self.negative_slope), rows)
        attention = F.dropout(attention, p=self.dropout, training=self.training)
        out = WeightedAggregate.apply(attention, h, rows, lambda: block.transposed_loops)
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        return out if self.bias is None else out + self.bias
