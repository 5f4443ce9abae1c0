"""Graphs of PyTorch Geometric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon._graph_arrays import MASKS, GraphArrays, labels_of, mask_of, two_dimensional
from gnomon._library import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    import torch
    from torch_geometric.data import Data

# The names of each set's mask and ids, the usual one first.
_MASKS = {"train": ("train_mask",), "valid": ("val_mask", "valid_mask"), "test": ("test_mask",)}
_IDS = {"train": ("train_idx",), "valid": ("val_idx", "valid_idx"), "test": ("test_idx",)}
_READ = ("edge_index", "x", "y", "num_nodes")


def read_data(source: Any, takes_weights: bool) -> GraphArrays:
    """Read a Data object, or the only graph of a data set.

    Parameters
    ----------
    source
        The object.
    takes_weights
        Whether ``edge_weight`` is read.

    Raises
    ------
    gnomon.InvalidInput
        If the object is neither, or has attributes that a store cannot hold.
    """
    data, ids = _graph_in(source)
    count = int(data.num_nodes or 0)
    edge_index, labels = _array(data, "edge_index"), _array(data, "y")
    assert edge_index is not None
    weight = _array(data, "edge_weight") if takes_weights else None
    if takes_weights and weight is None:
        raise InvalidInput('edge_weights: "given" needs the attribute edge_weight, which the data lacks')
    masks, used = ({}, []) if ids else _split_of(data, count)
    if ids:
        masks = {split: mask_of(ids.get(split, []), count, f"source.get_idx_split()[{split!r}]") for split in MASKS}
    read = {*_READ, *used, *(["edge_weight"] if takes_weights else [])}
    return GraphArrays(
        name=str(getattr(source, "name", None) or "graph"),
        num_nodes=count,
        edge_index=edge_index,
        features=two_dimensional(_array(data, "x")),
        labels=None if labels is None else labels_of(labels, count, "source.y"),
        edge_weight=weight,
        masks=masks,
        notes=_notes_on(data, read),
    )


def _graph_in(source: Any) -> tuple[Data, dict[str, Any]]:
    """Return the graph, and the ids of each set that its data set gives."""
    from torch_geometric.data import Data

    data: Any = source
    ids: dict[str, Any] = {}
    if not isinstance(source, Data) and hasattr(source, "__getitem__") and hasattr(source, "__len__"):
        if len(source) != 1:
            raise InvalidInput(f"source: holds {len(source)} graphs; give one of them")
        data = source[0]
        ids = source.get_idx_split() if hasattr(source, "get_idx_split") else {}
    if not isinstance(data, Data) or data.get("edge_index") is None:
        raise InvalidInput(
            f"source: must be a path, a Data with edge_index or a data set of one, not {type(source).__name__}"
        )
    return data, {split: ids[split] for split in MASKS if split in ids}


def _array(data: Data, name: str) -> np.ndarray | None:
    import numpy as np
    import torch

    value = data.get(name)
    if isinstance(value, np.ndarray):
        return value
    return array_of(value) if isinstance(value, torch.Tensor) else None


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """Return the tensor as a dense NumPy array. bf16, which NumPy lacks, becomes fp32."""
    import torch

    tensor = tensor.detach().cpu()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _split_of(data: Data, count: int) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the masks of the split, and the names of the attributes that hold it; nothing if there is none."""
    import numpy as np

    for names, are_ids in ((_MASKS, False), (_IDS, True)):
        found = {name: array for among in names.values() for name in among if (array := _array(data, name)) is not None}
        # The first name of each set that the data has.
        used = {split: name for split, among in names.items() for name in among[::-1] if name in found}
        if not used:
            continue
        if "train" not in used:
            raise InvalidInput(f"source: has {', '.join(used.values())}, but no {names['train'][0]}")
        masks = {
            split: mask_of(found[name], count, f"source.{name}") if are_ids else found[name]
            for split, name in used.items()
        }
        empty = np.zeros_like(masks["train"])
        return {split: masks.get(split, empty) for split in MASKS}, list(used.values())
    return {}, []


def _notes_on(data: Data, read: set[str]) -> list[str]:
    """Name the attributes of nodes and edges that are not read."""
    ignored = sorted(key for key, _ in data if key not in read and (data.is_node_attr(key) or data.is_edge_attr(key)))
    if not ignored:
        return []
    hint = ' (edge_weights="given" imports edge_weight)' if "edge_weight" in ignored else ""
    return [f"not imported: {', '.join(ignored)}{hint}"]
