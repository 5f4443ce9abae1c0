"""Checks of the layers' arguments and inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Union

import torch
from torch import Tensor
from torch.nn.parameter import is_lazy
from torch_geometric.nn.dense.linear import Linear

from gnomon._library import InvalidInput
from gnomon.nn.block import Block, Rows
from gnomon.nn.stored import StoredRows

Edges = Union[Block, Tensor]
"""A block, or the ``edge_index`` of all nodes."""

_COMMON_OPTIONS: dict[str, Any] = {"aggr": "add", "flow": "source_to_target", "decomposed_layers": 1}


def refuse_options(layer: str, options: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """Raise InvalidInput for options of PyG's layer that have another value than the default, which ours implements.

    Parameters
    ----------
    layer
        The name of the layer.
    options
        What the user gave.
    defaults
        The options of PyG's layer that ours lacks, besides those of all of PyG's layers.

    Raises
    ------
    TypeError
        For options that PyG's layer does not have either.
    """
    known = {**_COMMON_OPTIONS, **defaults}
    for name, value in options.items():
        if name not in known:
            raise TypeError(f"{layer}: unexpected keyword argument {name!r}")
        if value != known[name]:
            raise InvalidInput(
                f"{name}: gnomon.nn.{layer} supports only {known[name]!r}, not {value!r};"
                f" use torch_geometric.nn.{layer}"
            )


def refuse_inputs(layer: str, **inputs: Any) -> None:
    """Raise InvalidInput for inputs of PyG's layer that ours lacks."""
    for name, value in inputs.items():
        if value is not None:
            raise InvalidInput(f"{name}: is not supported by gnomon.nn.{layer}; use torch_geometric.nn.{layer}")


def block_of(x: Tensor | StoredRows, edges: Edges, num_destinations: int | None = None) -> Block:
    """Return the block of a layer, whose sources have the rows of ``x``.

    Parameters
    ----------
    x
        The features.
    edges
        The block or its edges.
    num_destinations
        The number of nodes to compute; None: those of the block, or all sources.
    """
    if len(x.shape) != 2:
        raise InvalidInput(f"x: must be a matrix, not of shape {list(x.shape)}")
    block = edges if isinstance(edges, Block) else Block(edges, x.shape[0], num_destinations)
    if x.shape[0] != block.num_sources:
        raise InvalidInput(f"x: must have one row for each of the {block.num_sources} nodes, not {list(x.shape)}")
    return block


def check_dense(x: Any, name: str = "x") -> None:
    """Raise InvalidInput, naming ``name``, unless this is an fp32 tensor in the host's memory."""
    if isinstance(x, StoredRows):
        raise InvalidInput(f"{name}: only SAGEConv accepts stored rows; pass {name}.gather()")
    if isinstance(x, (tuple, list)):
        raise InvalidInput(f"{name}: a pair of features is supported by SAGEConv and GATConv only")
    if not isinstance(x, Tensor):
        raise InvalidInput(f"{name}: must be a tensor, not {type(x).__name__}")
    if x.dtype != torch.float32 or x.device.type != "cpu":
        raise InvalidInput(f"{name}: must be fp32 in the host's memory, not {x.dtype} on {x.device}")


def pair_of(x: Any) -> tuple[Any, Any]:
    """Return the features of sources and of destinations. Raises InvalidInput unless these are two."""
    if len(x) != 2:
        raise InvalidInput(f"x: a pair must have the features of sources and of destinations, not {len(x)} elements")
    return x[0], x[1]


def check_destinations(x: Tensor, block: Block) -> None:
    """Raise InvalidInput unless these are features of a block's destinations."""
    check_dense(x, "x[1]")
    if x.dim() != 2 or x.shape[0] != block.num_destinations:
        raise InvalidInput(
            f"x[1]: must have one row for each of the {block.num_destinations} destinations, not {list(x.shape)}"
        )


def rows_of(block: Block, add_self_loops: bool) -> tuple[Rows, Callable[[], Rows]]:
    """Return the rows that a layer aggregates, and a function that makes their transpose."""
    if add_self_loops:
        return block.loops, lambda: block.transposed_loops
    return block.rows, lambda: block.transposed


def fit(linear: Linear, x: Tensor | StoredRows, name: str = "x") -> Tensor:
    """Return the weight of a layer for these features, made at the first use of a lazy layer.

    Raises
    ------
    gnomon.InvalidInput
        If they have another number of columns than the weight; names ``name``.
    """
    columns = x.shape[1]
    if is_lazy(linear.weight):
        linear.initialize_parameters(linear, (torch.empty(0, columns),))
    if columns != linear.weight.shape[1]:
        raise InvalidInput(f"{name}: has {columns} columns, but in_channels is {linear.weight.shape[1]}")
    return linear.weight
