"""Graphs in memory on their way into a store."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon._library import InvalidInput

if TYPE_CHECKING:
    import numpy as np

MASKS = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}
"""The name of each set's mask."""
# As in the program.
_MAX_CLASS = 1_000_000


@dataclass
class GraphArrays:
    """A graph in the form of the .npz files that the program reads.

    Attributes
    ----------
    masks
        The masks of the sets "train", "valid" and "test": all or none.
    notes
        What the caller should know about the reading, one line each.
    """

    name: str
    num_nodes: int
    edge_index: np.ndarray
    features: np.ndarray | None = None
    labels: np.ndarray | None = None
    edge_weight: np.ndarray | None = None
    masks: dict[str, np.ndarray] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def save(self, path: Path) -> None:
        """Write the .npz file."""
        import numpy as np

        arrays: dict[str, Any] = {
            "edge_index": self.edge_index,
            "num_nodes": np.array(self.num_nodes),
            "x": self.features,
            "y": self.labels,
            "edge_weight": self.edge_weight,
            **{MASKS[split]: mask for split, mask in self.masks.items()},
        }
        kept: dict[str, Any] = {name: np.ascontiguousarray(each) for name, each in arrays.items() if each is not None}
        np.savez(path, **kept)


def two_dimensional(features: np.ndarray | None) -> np.ndarray | None:
    """Return features with one row for each node."""
    return features.reshape(len(features), -1) if features is not None else None


def mask_of(ids: Any, num_nodes: int, where: str) -> np.ndarray:
    """Return the mask of nodes that are given by their ids or by a mask. Raises InvalidInput, naming ``where``."""
    import numpy as np

    given = np.asarray(ids)
    if given.dtype == bool and given.shape == (num_nodes,):
        return given
    if given.size == 0:
        given = given.astype(np.int64)
    if given.dtype.kind not in "iu" or given.ndim != 1:
        raise InvalidInput(f"{where}: must be a vector of node ids, not {given.dtype} of shape {given.shape}")
    outside = given[(given < 0) | (given >= num_nodes)]
    if outside.size > 0:
        raise InvalidInput(f"{where}: {outside[0]} is not a node; the graph has {num_nodes}")
    mask = np.zeros(num_nodes, dtype=bool)
    mask[given] = True
    return mask


def labels_of(labels: np.ndarray, count: int, where: str) -> np.ndarray:
    """Return one class for each node as int64, -1 where it is unknown (-1 or NaN).

    Labels of several classes per node (nodes, classes), 0 or 1, are returned as fp32, -1 in rows that are unknown.

    Raises
    ------
    gnomon.InvalidInput
        If the labels are neither; names ``where``.
    """
    if labels.dtype.kind not in "biuf":
        raise InvalidInput(f"{where}: must be numbers, not {labels.dtype}")
    if labels.ndim == 2 and len(labels) == count and labels.shape[1] > 1:
        return _label_sets_of(labels, where)
    if labels.size != count or labels.shape[:1] != (count,):
        raise InvalidInput(
            f"{where}: must be one class for each of {count} nodes, or of the shape ({count}, classes),"
            f" not of shape {labels.shape}"
        )
    return _classes_of(labels.reshape(-1), where)


def _label_sets_of(labels: np.ndarray, where: str) -> np.ndarray:
    import numpy as np

    sets = labels.astype(np.float32)
    sets[(np.isnan(sets) | (sets == -1)).all(axis=1)] = -1
    wrong = (sets != 0) & (sets != 1) & ~(sets == -1).all(axis=1)[:, None]
    if wrong.any():
        node, column = np.unravel_index(wrong.argmax(), wrong.shape)
        raise InvalidInput(
            f"{where}: {sets[node, column]} of node {node} for class {column} must be 1 if the node has the class and 0"
            " if not, or the whole row -1 or NaN for unknown"
        )
    return sets


def _classes_of(flat: np.ndarray, where: str) -> np.ndarray:
    import numpy as np

    if flat.dtype.kind == "b":
        return flat.astype(np.int64)
    if flat.dtype.kind == "f":
        flat = np.where(np.isnan(flat), -1, flat)
    wrong = (flat < -1) | (flat > _MAX_CLASS) | (flat != np.floor(flat))
    if wrong.any():
        node = int(wrong.argmax())
        raise InvalidInput(
            f"{where}: {flat[node]} of node {node} is not a class; use whole numbers from 0 to {_MAX_CLASS}, or -1 or"
            " NaN for unknown"
        )
    return flat.astype(np.int64)
