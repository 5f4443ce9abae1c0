"""The arguments that the loaders of nodes and of links share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Union

from torch_geometric.data import Data, FeatureStore, GraphStore

from gnomon._library import InvalidInput
from gnomon.graph import Store

if TYPE_CHECKING:
    import torch
    from torch_geometric.sampler import SamplerOutput

LoaderData = Union[Data, Store, "tuple[FeatureStore, GraphStore]"]
"""What loaders take their graph and attributes from."""


class LoaderArguments(TypedDict, total=False):
    """Keyword arguments of :class:`NeighborLoader` and :class:`LinkNeighborLoader`, described there."""

    replace: bool
    subgraph_type: Any
    disjoint: bool
    temporal_strategy: str
    time_attr: str | None
    weight_attr: str | None
    transform: Callable[[Data], Any] | None
    transform_sampler_output: Callable[[SamplerOutput], SamplerOutput] | None
    is_sorted: bool
    filter_per_worker: bool | None
    neighbor_sampler: Any
    directed: bool
    batch_size: int
    shuffle: bool
    drop_last: bool
    sampler: Iterable[int] | None
    batch_sampler: Iterable[list[int]] | None
    num_workers: int | None
    prefetch_factor: int | None
    persistent_workers: bool
    pin_memory: bool
    timeout: float
    generator: torch.Generator | None
    seed: int | None
    expand: str
    threads_per_batch: int
    cached_rows: int
    rank: int
    world_size: int
    stored: Sequence[str]
    device: Any


_DEFAULTS: dict[str, Any] = {
    "replace": False,
    "subgraph_type": "directional",
    "disjoint": False,
    "temporal_strategy": "uniform",
    "time_attr": None,
    "weight_attr": None,
    "transform": None,
    "transform_sampler_output": None,
    "is_sorted": False,
    "filter_per_worker": None,
    "neighbor_sampler": None,
    "directed": True,
}
NODE_ORDER = tuple(_DEFAULTS)
"""The arguments after ``input_time`` in PyG's order, for those who give them by position."""
LINK_ORDER = (*NODE_ORDER[:4], "neg_sampling", "neg_sampling_ratio", *NODE_ORDER[4:])
"""The arguments after ``edge_label_time``."""


def named(order: tuple[str, ...], given: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return all arguments by name, including defaults. Raises TypeError as a call would."""
    if len(given) > len(order):
        raise TypeError(f"takes at most {len(order)} more positional arguments, but {len(given)} were given")
    by_position = dict(zip(order, given))
    for name in by_position:
        if name in kwargs:
            raise TypeError(f"got multiple values for argument {name!r}")
    return {**_DEFAULTS, **by_position, **kwargs}


def refuse_temporal(**arguments: Any) -> None:
    """Raise InvalidInput, naming the first argument of temporal sampling that is given."""
    for name, value in arguments.items():
        if value is not None and not (name == "temporal_strategy" and value == "uniform"):
            raise InvalidInput(f"{name}: temporal sampling is not supported yet")
