"""Data sets of GraphBolt."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon._graph_arrays import GraphArrays, labels_of, mask_of, two_dimensional
from gnomon._library import InvalidInput
from gnomon._read_pyg import array_of

if TYPE_CHECKING:
    import numpy as np


def metadata_of(path: Path) -> Path:
    """Return the file that describes the data set in a directory; the path itself if it is that file."""
    return path if path.name == "metadata.yaml" else path / "metadata.yaml"


def read_graphbolt(metadata: Path) -> GraphArrays:
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
        features, notes = _read_features(metadata, content.get("feature_data") or [])
        return GraphArrays(
            name=str(content.get("dataset_name", "graph")),
            num_nodes=count,
            edge_index=_read_edges(metadata, edges),
            features=features,
            labels=labels,
            masks=masks,
            notes=notes,
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

        return array_of(torch.load(path, weights_only=True))
    if entry.get("format") != "numpy":
        raise InvalidInput(f"{metadata}: {path.name}: format {entry.get('format')!r} is not known; use numpy or torch")
    return np.load(path, mmap_mode="r")


def _read_edges(metadata: Path, entry: Mapping[str, Any]) -> np.ndarray:
    import numpy as np

    if entry.get("format") == "csv":
        return np.loadtxt(metadata.parent / entry["path"], delimiter=",", dtype=np.int64, ndmin=2).T
    return _read_array(metadata, entry)


def _read_features(metadata: Path, entries: list[Mapping[str, Any]]) -> tuple[np.ndarray | None, list[str]]:
    """Return the node features named "feat", or the only features, and a note on all others."""
    found = {each["name"]: each for each in entries if each.get("domain") == "node"}
    if len(found) > 1 and "feat" not in found:
        raise InvalidInput(f"{metadata}: feature_data: none of {', '.join(found)} is called feat")
    chosen = found.get("feat") or next(iter(found.values()), None)
    ignored = [str(each["name"]) for each in entries if each is not chosen]
    notes = [f"not imported: {', '.join(ignored)}"] if ignored else []
    return None if chosen is None else two_dimensional(_read_array(metadata, chosen)), notes


def _read_task(
    metadata: Path, tasks: list[Mapping[str, Any]], count: int
) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
    """Return the labels and the masks of the first node-classification task."""
    import numpy as np

    task = next((each for each in tasks if each.get("name") == "node_classification"), None)
    if task is None:
        return None, {}
    labels: np.ndarray | None = None
    masks: dict[str, np.ndarray] = {}
    for split, key in (("train", "train_set"), ("valid", "validation_set"), ("test", "test_set")):
        masks[split] = np.zeros(count, dtype=bool)
        for part in task.get(key) or []:
            arrays = {each["name"]: _read_array(metadata, each) for each in part["data"]}
            seeds = arrays["seeds"] if "seeds" in arrays else arrays["seed_nodes"]
            masks[split] |= mask_of(seeds, count, f"{metadata}: {key}: seeds")
            if "labels" in arrays:
                where = f"{metadata}: {key}: labels"
                found = labels_of(arrays["labels"], len(seeds), where)
                if labels is None:
                    labels = np.full((count, *found.shape[1:]), -1, dtype=found.dtype)
                if labels.shape[1:] != found.shape[1:]:
                    raise InvalidInput(f"{where}: must have as many columns as those of the other sets")
                labels[seeds] = found
    return labels, masks
