"""Import and generate graph stores."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon._library import InvalidInput
from gnomon._program import Progress, run
from gnomon.graph import Store

if TYPE_CHECKING:
    import numpy as np
    import torch

_SPLITS = {"train": "train_mask", "valid": "val_mask", "test": "test_mask"}


@dataclass
class _Arrays:
    """A graph in the form of the .npz files that the program reads."""

    name: str
    num_nodes: int
    edge_index: np.ndarray
    features: np.ndarray | None = None
    labels: np.ndarray | None = None
    edge_weight: np.ndarray | None = None
    masks: dict[str, np.ndarray] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        import numpy as np

        arrays: dict[str, Any] = {
            "edge_index": self.edge_index,
            "num_nodes": np.array(self.num_nodes),
            "x": self.features,
            "y": self.labels,
            "edge_weight": self.edge_weight,
            **{_SPLITS[split]: mask for split, mask in self.masks.items()},
        }
        kept: dict[str, Any] = {name: np.ascontiguousarray(each) for name, each in arrays.items() if each is not None}
        np.savez(path, **kept)


def import_graph(
    source: Any,
    store: str | os.PathLike[str],
    format: str = "auto",
    progress: Progress | None = None,
    **options: Any,
) -> Store:
    """Write a graph store.

    Parameters
    ----------
    source : path, Data or data set
        A file or directory that ``gnomon import`` reads (.npz, a data set of the Open Graph Benchmark, Matrix Market,
        edge lists), a directory with GraphBolt's ``metadata.yaml``, a ``torch_geometric.data.Data``, or a data set of
        PyTorch Geometric or of ``ogb`` with one such graph.
    store : path
        The directory to create.
    format : str, optional
        ``"npz"``, ``"ogb"``, ``"mtx"``, ``"edges"``, ``"graphbolt"`` or ``"auto"``. For files only.
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.
    **options
        Those of ``gnomon import --help``, with underscores: ``undirected=True``, ``edge_weights="given"``.

    Returns
    -------
    Store

    Raises
    ------
    gnomon.InvalidInput
        If the input cannot be read, or an option would have no effect.

    Examples
    --------
    >>> store = gnomon.import_graph(Planetoid("data", "Cora"), "stores/cora", undirected=True)
    """
    target = Path(store)
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if format != "graphbolt" and not (format == "auto" and _metadata_of(path).is_file()):
            run("import", [format, path, target], options, progress)
            return Store(target)
        arrays = _read_graphbolt(_metadata_of(path))
    else:
        if format != "auto":
            raise InvalidInput(f"format: {format!r} is for files only; leave it out")
        arrays = _read_data(source)
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".import-", dir=target.parent) as folder:
        file = Path(folder) / "graph.npz"
        arrays.save(file)
        run("import", ["npz", file, target], {"name": arrays.name, **options}, progress)
    return Store(target)


def generate(kind: str, store: str | os.PathLike[str], progress: Progress | None = None, **options: Any) -> Store:
    """Write the store of a random graph.

    Parameters
    ----------
    kind : str
        ``"sbm"`` (learnable classes) or ``"rmat"`` (hubs, for measuring speed).
    store : path
        The directory to create.
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.
    **options
        Those of ``gnomon generate KIND --help``, with underscores: ``vertices=10000``, ``classes=8``.

    Returns
    -------
    Store
    """
    run("generate", [kind, Path(store)], options, progress)
    return Store(store)


# ---- PyTorch Geometric ----


def _read_data(source: Any) -> _Arrays:
    """Read a Data object, or the only graph of a data set."""
    import torch
    from torch_geometric.data import Data

    data: Any = source
    splits: dict[str, Any] = {}
    if not isinstance(source, Data) and hasattr(source, "__getitem__") and hasattr(source, "__len__"):
        if len(source) != 1:
            raise InvalidInput(f"source: holds {len(source)} graphs; give one of them")
        data = source[0]
        splits = source.get_idx_split() if hasattr(source, "get_idx_split") else {}
    if not isinstance(data, Data) or data.get("edge_index") is None:
        raise InvalidInput(
            f"source: must be a path, a Data with edge_index or a data set of one, not {type(source).__name__}"
        )
    count = int(data.num_nodes or 0)

    def array(name: str) -> np.ndarray | None:
        value = data.get(name)
        if not isinstance(value, torch.Tensor):
            return None
        value = value.detach().cpu()
        return _numpy(value.to_dense() if value.layout != torch.strided else value)

    masks = {split: mask for split, name in _SPLITS.items() if (mask := array(name)) is not None}
    for name, ids in splits.items():
        masks[name] = _mask(count, ids.numpy() if isinstance(ids, torch.Tensor) else ids)
    edge_index = array("edge_index")
    assert edge_index is not None
    return _Arrays(
        name=str(getattr(source, "name", None) or "graph"),
        num_nodes=count,
        edge_index=edge_index,
        features=_two_dimensional(array("x")),
        labels=_labels(array("y"), count),
        edge_weight=array("edge_weight"),
        masks=masks,
    )


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    """Return the tensor as a NumPy array. bf16, which NumPy lacks, becomes fp32."""
    import torch

    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _two_dimensional(features: np.ndarray | None) -> np.ndarray | None:
    return features.reshape(len(features), -1) if features is not None else None


def _mask(count: int, ids: Any) -> np.ndarray:
    import numpy as np

    mask = np.zeros(count, dtype=bool)
    mask[ids] = True
    return mask


def _labels(labels: np.ndarray | None, count: int) -> np.ndarray | None:
    """Return classes as int64, -1 where they are unknown (NaN)."""
    import numpy as np

    if labels is None:
        return None
    flat = labels.reshape(len(labels), -1) if labels.ndim else labels
    if flat.shape != (count, 1):
        raise InvalidInput(f"source: y must be one class for each of {count} nodes, not of shape {labels.shape}")
    flat = flat[:, 0]
    return np.where(np.isnan(flat), -1, flat).astype(np.int64) if flat.dtype.kind == "f" else flat.astype(np.int64)


# ---- GraphBolt ----


def _metadata_of(path: Path) -> Path:
    return path if path.name == "metadata.yaml" else path / "metadata.yaml"


def _read_graphbolt(metadata: Path) -> _Arrays:
    """Read a data set of GraphBolt: one type of nodes, one of edges, and a task on nodes if there is one."""
    try:
        import yaml
    except ImportError:
        raise InvalidInput(f"{metadata}: reading it needs PyYAML (pip install pyyaml)") from None
    if not metadata.is_file():
        raise InvalidInput(f"{metadata}: does not exist")
    try:
        content = yaml.safe_load(metadata.read_text())
        graph = content["graph"]
        (nodes,), (edges,) = graph["nodes"], graph["edges"]
        if nodes.get("type") or edges.get("type"):
            raise InvalidInput(f"{metadata}: graph: heterogeneous graphs are not supported yet")
        count = int(nodes["num"])
        labels, masks = _read_task(metadata, content.get("tasks") or [], count)
        return _Arrays(
            name=str(content.get("dataset_name", "graph")),
            num_nodes=count,
            edge_index=_read_edges(metadata, edges),
            features=_read_features(metadata, content.get("feature_data") or []),
            labels=labels,
            masks=masks,
        )
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{metadata}: is not a data set with one type of nodes and of edges: {error!r}") from None


def _read_array(metadata: Path, entry: Mapping[str, Any]) -> np.ndarray:
    import numpy as np

    path = metadata.parent / entry["path"]
    if entry.get("format") == "torch":
        import torch

        return _numpy(torch.load(path, weights_only=True))
    if entry.get("format") != "numpy":
        raise InvalidInput(f"{metadata}: {path.name}: format {entry.get('format')!r} is not known; use numpy or torch")
    return np.load(path, mmap_mode="r")


def _read_edges(metadata: Path, entry: Mapping[str, Any]) -> np.ndarray:
    import numpy as np

    if entry.get("format") == "csv":
        return np.loadtxt(metadata.parent / entry["path"], delimiter=",", dtype=np.int64, ndmin=2).T
    return _read_array(metadata, entry)


def _read_features(metadata: Path, entries: list[Mapping[str, Any]]) -> np.ndarray | None:
    """Return the node features named "feat", or the only features."""
    found = {each["name"]: each for each in entries if each.get("domain") == "node"}
    if not found:
        return None
    if "feat" not in found and len(found) > 1:
        raise InvalidInput(f"{metadata}: feature_data: none of {', '.join(found)} is called feat")
    return _two_dimensional(_read_array(metadata, found.get("feat") or next(iter(found.values()))))


def _read_task(
    metadata: Path, tasks: list[Mapping[str, Any]], count: int
) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
    """Return the labels and the masks of the first node-classification task."""
    import numpy as np

    task = next((each for each in tasks if each.get("name") == "node_classification"), None)
    if task is None:
        return None, {}
    labels, masks = np.full(count, -1, dtype=np.int64), {}
    for split, key in (("train", "train_set"), ("valid", "validation_set"), ("test", "test_set")):
        masks[split] = np.zeros(count, dtype=bool)
        for part in task.get(key) or []:
            arrays = {each["name"]: _read_array(metadata, each) for each in part["data"]}
            seeds = arrays["seeds"] if "seeds" in arrays else arrays["seed_nodes"]
            masks[split][seeds] = True
            if "labels" in arrays:
                labels[seeds] = arrays["labels"].reshape(-1)
    return labels, masks
