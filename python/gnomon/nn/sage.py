"""GraphSAGE."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn.dense.linear import Linear

from gnomon._library import InvalidInput
from gnomon.nn._functions import SageLayer
from gnomon.nn._inputs import (
    Edges,
    block_of,
    check_dense,
    check_destinations,
    fit,
    pair_of,
    refuse_inputs,
    refuse_options,
)
from gnomon.nn.stored import StoredRows


class SAGEConv(nn.Module):
    """GraphSAGE, like ``torch_geometric.nn.SAGEConv``.

    Parameters
    ----------
    in_channels : int or (int, int)
        Number of input features, or those of sources and of destinations; -1: taken from the first input.
    out_channels : int
        Number of output features.
    aggr : str
        ``"mean"`` or ``"sum"``.
    normalize : bool
        L2-normalise the output rows.
    root_weight : bool
        Add a linear transformation of the node's own features.
    project : bool
        Not supported: must be False.
    bias : bool
        Add a bias.
    activation : str, optional
        ``"relu"``: applied to the output, in place. PyG's layer lacks this argument.
    """

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        aggr: str = "mean",
        normalize: bool = False,
        root_weight: bool = True,
        project: bool = False,
        bias: bool = True,
        activation: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        refuse_options(
            "SAGEConv", {"project": project, **options}, {"project": False, "aggr_kwargs": None, "node_dim": -2}
        )
        if activation not in (None, "relu"):
            raise InvalidInput(f"activation: {activation!r} is not supported; use 'relu' or None")
        if aggr not in ("mean", "sum", "add"):
            raise InvalidInput(f"aggr: {aggr!r} is not supported; use 'mean' or 'sum'")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.aggr, self.normalize, self.root_weight, self.activation = aggr, normalize, root_weight, activation
        of_sources, of_destinations = (
            in_channels if isinstance(in_channels, (tuple, list)) else (in_channels, in_channels)
        )
        self.lin_l = Linear(of_sources, out_channels, bias=bias)
        if root_weight:
            self.lin_r = Linear(of_destinations, out_channels, bias=False)

    def reset_parameters(self) -> None:
        """Draw the parameters anew."""
        self.lin_l.reset_parameters()
        if self.root_weight:
            self.lin_r.reset_parameters()

    def forward(
        self,
        x: Tensor | StoredRows | tuple[Tensor | StoredRows, Tensor | None],
        edge_index: Edges,
        size: None = None,
    ) -> Tensor:
        """Compute the features of the destinations of a block, or of all nodes of an ``edge_index``.

        Parameters
        ----------
        x
            The features of the nodes; or those of the sources and those of the destinations, which are not transformed
            if they are None.
        edge_index
            The block, or int64, [2, edges].
        size
            Must be None.
        """
        refuse_inputs("SAGEConv", size=size)
        if isinstance(x, (tuple, list)):
            out, has_relu = self._of_pair(*pair_of(x), edge_index)
        else:
            out, has_relu = self._of_nodes(x, edge_index)
        if self.normalize:
            out = F.normalize(out, p=2.0, dim=-1)
        return F.relu(out) if self.activation == "relu" and not has_relu else out

    def _of_nodes(self, x: Tensor | StoredRows, edges: Edges) -> tuple[Tensor, bool]:
        """Return the outputs, and whether the activation was applied."""
        if not isinstance(x, StoredRows):
            check_dense(x)
            x = x.contiguous()
        block, weight = block_of(x, edges), fit(self.lin_l, x)
        if self.root_weight:
            weight = torch.cat([weight, fit(self.lin_r, x)], dim=1)
        has_relu = self.activation == "relu" and not self.normalize  # otherwise after the norm
        out = SageLayer.apply(x, weight, self.lin_l.bias, block, self.aggr == "mean", self.root_weight, has_relu)
        return out, has_relu

    def _of_pair(self, x: Tensor | StoredRows, own: Tensor | None, edges: Edges) -> tuple[Tensor, bool]:
        if not isinstance(x, StoredRows):
            check_dense(x, "x[0]")
            x = x.contiguous()
        block = block_of(x, edges, None if own is None else len(own))
        weight = fit(self.lin_l, x, "x[0]")
        out = SageLayer.apply(x, weight, self.lin_l.bias, block, self.aggr == "mean", False, False)
        if own is not None:
            check_destinations(own, block)
            if self.root_weight:
                out = out + F.linear(own, fit(self.lin_r, own, "x[1]"))
        return out, False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_channels}, {self.out_channels}, aggr={self.aggr})"
