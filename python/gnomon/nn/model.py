"""The models that ``gnomon train`` trains (``docs/training.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn.norm import BatchNorm, LayerNorm

from gnomon._library import InvalidInput
from gnomon.nn._functions import Aggregate, Dense
from gnomon.nn._inputs import Edges, block_of, check_dense, fit
from gnomon.nn.block import Block
from gnomon.nn.gat import GATConv
from gnomon.nn.gcn import GCNConv
from gnomon.nn.sage import SAGEConv
from gnomon.nn.stored import StoredRows

# The names of a layer's parameters in a run's weights, and whether a matrix is transposed.
_PARAMETERS = {
    "sage": {
        "lin_l.weight": ("neighbours.weight", True),
        "lin_l.bias": ("bias", False),
        "lin_r.weight": ("self.weight", True),
    },
    "gcn": {"lin.weight": ("weight", True), "bias": ("bias", False)},
    "gat": {
        "lin.weight": ("weight", True),
        "att_src": ("attention.sources", False),
        "att_dst": ("attention.destinations", False),
        "bias": ("bias", False),
    },
}


class DegreeGCNConv(GCNConv):
    """Graph convolution with the nodes' in-degrees in the whole graph, as ``gnomon train`` computes it.

    The sum over sampled neighbours is scaled to an estimate of the sum over all neighbours. Self-loops are added to
    those that the graph has.
    """

    def forward(self, x: Tensor, edge_index: Edges, in_degrees: Tensor | None = None) -> Tensor:
        """Compute the features of the destinations of a block, or of all nodes of an ``edge_index``.

        Parameters
        ----------
        x
            The features of the nodes.
        edge_index
            The block, or int64, [2, edges].
        in_degrees
            The number of edges into each node in the whole graph; None: these are all edges.
        """
        check_dense(x)
        block = block_of(x, edge_index)
        drawn = block.rows.degrees()
        degrees = drawn if in_degrees is None else in_degrees[: block.num_sources].float()
        if len(degrees) != block.num_sources:
            raise InvalidInput(
                "in_degrees: needed for each node of a batch: the number of its edges in the whole graph"
            )
        h = Dense.apply(x, fit(self.lin, x))
        count = block.num_destinations
        scales = (degrees + 1).rsqrt()
        of_destinations = torch.where(drawn > 0, degrees[:count] / drawn.clamp(min=1), 0.0) * scales[:count]
        sums = Aggregate.apply(h, block.rows, lambda: block.transposed, of_destinations, scales)
        out = sums + scales[:count].square().unsqueeze(1) * h[:count]
        return out if self.bias is None else out + self.bias


class Model(nn.Module):
    """A model of ``gnomon train``: GraphSAGE, GCN or GAT. Made by :func:`gnomon.load_model`.

    Parameters
    ----------
    job : dict
        The document of what is trained.
    in_channels, out_channels : int
        Number of features and of classes.
    """

    def __init__(self, job: Mapping[str, Any], in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.job = dict(job)
        self.in_channels, self.out_channels = in_channels, out_channels
        hidden, count = job["hidden"], len(job["fanouts"])
        widths = [in_channels, *[hidden] * (count - 1), out_channels]
        self.convs, self.norms, self.skips = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        for i, (before, after) in enumerate(zip(widths, widths[1:])):
            is_last = i + 1 == count
            self.convs.append(_conv_of(job, before, after, is_last))
            self.norms.append(nn.Identity() if is_last else _norm_of(job["norm"], after))
            if job["skip"]:
                self.skips.append(nn.Identity() if before == after else nn.Linear(before, after, bias=False))

    def forward(
        self, x: Tensor | StoredRows, edge_index: Edges | Sequence[Block], in_degrees: Tensor | None = None
    ) -> Tensor:
        """Return the logits of the nodes of an ``edge_index``, or of a batch's seeds.

        Parameters
        ----------
        x
            The features of the nodes.
        edge_index
            The edges of the whole graph, or the blocks of a batch (:func:`blocks_of`), one for each layer.
        in_degrees
            For a GCN on the blocks of a batch: the number of edges into each of its nodes in the whole graph.
        """
        for i, block in enumerate(self._blocks_of(x, edge_index)):
            x = self._layer(i, self._inputs(i, x), block, in_degrees)
        assert isinstance(x, Tensor)
        return x

    def _layer(self, index: int, x: Tensor | StoredRows, block: Block, in_degrees: Tensor | None) -> Tensor:
        conv = self.convs[index]
        out = conv(x, block, in_degrees) if isinstance(conv, DegreeGCNConv) else conv(x, block)
        if index + 1 < len(self.convs):
            out = self.norms[index](out)
            out = F.elu(out) if self.job["model"] == "gat" else out.relu()
        if self.skips and isinstance(x, Tensor):
            out = out + self.skips[index](x[: block.num_destinations])
        return out

    def _blocks_of(self, x: Tensor | StoredRows, edges: Edges | Sequence[Block]) -> Sequence[Block]:
        if isinstance(edges, (Block, Tensor)):
            return [block_of(x, edges)] * len(self.convs)
        if len(edges) != len(self.convs):
            raise InvalidInput(
                f"edge_index: must be one block for each of the {len(self.convs)} layers, not {len(edges)}"
            )
        return edges

    def _inputs(self, index: int, x: Tensor | StoredRows) -> Tensor | StoredRows:
        """Return the inputs of a layer, as fp32 and with dropout."""
        is_training = self.training and self.job["dropout"] > 0
        if isinstance(x, StoredRows):
            if isinstance(self.convs[index], SAGEConv) and not self.skips and not is_training:
                return x
            x = x.gather()
        x = x.float()
        return F.dropout(x, self.job["dropout"]) if is_training else x


def _conv_of(job: Mapping[str, Any], before: int, after: int, is_last: bool) -> nn.Module:
    if job["model"] == "sage":
        return SAGEConv(before, after)
    if job["model"] == "gcn":
        return DegreeGCNConv(before, after)
    heads = 1 if is_last else job["heads"]
    return GATConv(before, after // heads, heads, dropout=job["dropout"])


def _norm_of(norm: str, columns: int) -> nn.Module:
    return {
        "none": nn.Identity,
        "batch": lambda: BatchNorm(columns, eps=1e-5, momentum=0.1),
        "layer": lambda: LayerNorm(columns, eps=1e-5, mode="node"),
    }[norm]()


def model_of(job: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Model:
    """Return the model of a job with the weights of a run, in evaluation mode.

    Raises
    ------
    KeyError, RuntimeError
        If the weights are those of another model.
    """
    last = len(job["fanouts"]) - 1
    names = _PARAMETERS[job["model"]]
    first, _ = names.get("lin.weight") or names["lin_l.weight"]
    columns, classes = len(weights[f"layers.0.{first}"]), len(weights[f"layers.{last}.bias"])
    model = Model(job, columns, classes)
    model.load_state_dict(_renamed(model, dict(weights)))
    return model.eval()


def _renamed(model: Model, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of a run under the names of a model's state."""
    rest, state = dict(weights), model.state_dict()
    for name, own in state.items():
        if name.endswith("num_batches_tracked"):
            continue
        stored, is_transposed = _name_in_run(model.job["model"], name)
        value = rest.pop(stored)
        if name.startswith("convs") and ".att_" in name:
            value = value.unsqueeze(0)
        state[name] = value.t().contiguous() if is_transposed else value
        if state[name].shape != own.shape:
            raise RuntimeError(f"{stored} is of shape {list(value.shape)}")
    if rest:
        raise RuntimeError(f"{', '.join(rest)} are not a part of it")
    return state


def _name_in_run(model: str, name: str) -> tuple[str, bool]:
    """Return the name of a parameter in a run's weights, and whether it is transposed there."""
    kind, index, *parts = name.split(".")
    if kind == "convs":
        stored, is_transposed = _PARAMETERS[model][".".join(parts)]
    elif kind == "norms":
        stored, is_transposed = f"norm.{parts[-1]}", False
    else:
        stored, is_transposed = "skip.weight", True
    return f"layers.{index}.{stored}", is_transposed
