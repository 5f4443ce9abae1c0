"""Graphs in memory and graph stores on disk."""

from __future__ import annotations

import ctypes
import json
import os
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon import _library
from gnomon._library import InvalidInput, check, library

if TYPE_CHECKING:
    import numpy as np


class Graph:
    """A graph's structure in memory, as loaders sample it.

    Made by :func:`from_edges`, :func:`from_csc` and :class:`Store`.
    """

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle = handle
        self.num_nodes: int = library.gnomon_graph_num_vertices(handle)
        self.num_edges: int = library.gnomon_graph_num_edges(handle)
        self._finalizer = weakref.finalize(self, library.gnomon_graph_free, handle)

    def __repr__(self) -> str:
        return f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges})"


def _made(function: Any, *arguments: Any) -> Graph:
    handle = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(handle)))
    return Graph(handle)


def from_edges(num_nodes: int, num_edges: int, sources: int, destinations: int, weights: int | None) -> Graph:
    """Make a graph of edges given by the addresses of their arrays (int64, and fp32 weights)."""
    return _made(library.gnomon_graph_from_edges, num_nodes, num_edges, sources, destinations, weights)


def from_csc(
    num_nodes: int, num_edges: int, indptr: int, sources: int, edge_ids: int | None, weights: int | None
) -> Graph:
    """Make a graph of its CSC form, given by the addresses of its arrays (int64, and fp32 weights)."""
    return _made(library.gnomon_graph_from_csc, num_nodes, num_edges, indptr, sources, edge_ids, weights)


class Store:
    """A graph store on disk, as ``gnomon import`` and ``gnomon generate`` write it.

    Arrays are memory-mapped and read-only.

    Parameters
    ----------
    directory
        The store.

    Attributes
    ----------
    name : str
    num_nodes, num_edges, num_features, num_classes : int
    is_weighted : bool
        Whether the edges have weights.

    Raises
    ------
    gnomon.InvalidInput
        If the directory is no store, or its structure is not valid.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)
        self._graphs: dict[bool, Graph] = {}
        graph = self.graph()
        meta = json.loads((self.directory / "meta.json").read_text())
        self.name: str = meta["name"]
        self.num_nodes = graph.num_nodes
        self.num_edges = graph.num_edges
        self.num_features: int = meta["feature_columns"]
        self.num_classes: int = meta["num_classes"]
        self.is_weighted: bool = meta.get("edge_weights", False)

    def graph(self, weighted: bool = False) -> Graph:
        """The structure, made once; ``weighted`` draws neighbours by the store's edge weights."""
        if weighted not in self._graphs:
            self._graphs[weighted] = _made(library.gnomon_graph_open, os.fsencode(self.directory), int(weighted))
        return self._graphs[weighted]

    def attributes(self, graph: Graph) -> tuple[bool, _library.DLTensor | None]:
        """Whether there are features, and the labels as the C API gathers them, which live as long as ``graph``."""
        arrays = _library.StoreArrays()
        check(library.gnomon_graph_store_arrays(graph.handle, ctypes.byref(arrays)))
        # ctypes keeps `arrays`, which holds the shape, alive as long as this view of it.
        labels = arrays.labels
        return bool(arrays.has_features), labels if labels.data else None

    def _array(self, name: str) -> np.ndarray:
        import numpy as np

        path = self.directory / f"{name}.npy"
        if not path.exists():
            raise InvalidInput(f"{self.directory}: has no {name}")
        return np.load(path, mmap_mode="r")

    @property
    def features(self) -> np.ndarray:
        """The features, nodes x columns, fp32 or fp16.

        Raises
        ------
        gnomon.InvalidInput
            If they are sparse: batches have them in dense form.
        """
        if (self.directory / "features_indptr.npy").exists():
            raise InvalidInput(f"{self.directory}: has sparse features; batches have them in dense form")
        return self._array("features")

    @property
    def labels(self) -> np.ndarray:
        """The labels, int32; -1 for unknown."""
        return self._array("labels")

    def split(self, name: str) -> np.ndarray:
        """The nodes of the split ``"train"``, ``"valid"`` or ``"test"``, ascending."""
        if name not in ("train", "valid", "test"):
            raise InvalidInput(f"split: {name!r} is unknown; use 'train', 'valid' or 'test'")
        return self._array(name)

    def __repr__(self) -> str:
        return f"Store({str(self.directory)!r}, num_nodes={self.num_nodes}, num_edges={self.num_edges})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.directory,)


def open(directory: str | os.PathLike[str]) -> Store:
    """Open a graph store.

    Parameters
    ----------
    directory
        The store's directory.

    Returns
    -------
    Store
    """
    return Store(directory)
