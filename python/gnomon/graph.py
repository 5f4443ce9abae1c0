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
    from torch_geometric.data import Data


class Graph:
    """A graph's structure in memory, from which loaders sample.

    Made by :func:`from_edges`, :func:`from_csc` and :class:`Store`.
    """

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self.handle = handle
        self.num_nodes: int = library.gnomon_graph_num_vertices(handle)
        self.num_edges: int = library.gnomon_graph_num_edges(handle)
        self._finalizer = weakref.finalize(self, library.gnomon_graph_free, handle)

    def spread(self) -> None:
        """Interleave the structure over all NUMA nodes."""
        check(library.gnomon_graph_spread(self.handle))

    def __repr__(self) -> str:
        return f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges})"


def _made(function: Any, *arguments: Any) -> Graph:
    handle = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(handle)))
    return Graph(handle)


def from_edges(num_nodes: int, num_edges: int, sources: int, destinations: int, weights: int | None) -> Graph:
    """Make a graph from edges, given by the addresses of their arrays (int64, and fp32 weights)."""
    return _made(library.gnomon_graph_from_edges, num_nodes, num_edges, sources, destinations, weights)


def from_csc(
    num_nodes: int, num_edges: int, indptr: int, sources: int, edge_ids: int | None, weights: int | None
) -> Graph:
    """Make a graph from its CSC form, given by the addresses of its arrays (int64, and fp32 weights)."""
    return _made(library.gnomon_graph_from_csc, num_nodes, num_edges, indptr, sources, edge_ids, weights)


class Store:
    """A graph store on disk, as ``gnomon import`` and ``gnomon generate`` write it.

    Arrays are memory-mapped and read-only.

    Parameters
    ----------
    directory : path
        The store.

    Attributes
    ----------
    name : str
    num_nodes, num_edges, num_features, num_classes : int
    is_weighted, has_sparse_features, is_multilabel : bool
        Whether edges have weights; whether features are stored in sparse form; whether nodes may have several classes.

    Raises
    ------
    gnomon.InvalidInput
        If the directory is not a store, or its structure is invalid.
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
        self.has_sparse_features: bool = meta.get("sparse_features") is not None
        self.is_multilabel: bool = meta.get("label_sets") is not None

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
    def indptr(self) -> np.ndarray:
        """int64, nodes + 1: where the edges of each node begin in ``indices``."""
        return self._array("indptr")

    @property
    def indices(self) -> np.ndarray:
        """The source of each edge, sorted by destination: uint32, or int64 in old or very large stores.

        An edge's id is its position.
        """
        return self._array("indices")

    @property
    def edge_weights(self) -> np.ndarray:
        """The weight of each edge, fp32."""
        return self._array("edge_weights")

    @property
    def original_ids(self) -> np.ndarray | None:
        """int64: the id of each node in the imported data; None if they are the same."""
        return self._array("original_ids") if (self.directory / "original_ids.npy").exists() else None

    @property
    def names(self) -> list[str] | None:
        """The names of the nodes by their original ids; None if the imported data did not name them."""
        path = self.directory / "names.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else None

    @property
    def features(self) -> np.ndarray:
        """The features, nodes x columns, fp32, fp16 or bf16.

        NumPy has no bf16: bf16 features are returned as their bits, uint16. ``.view(ml_dtypes.bfloat16)`` interprets
        them; :meth:`feature_tensor` returns a tensor.

        Raises
        ------
        gnomon.InvalidInput
            If the features are sparse. Batches have them in dense form.
        """
        if self.has_sparse_features:
            raise InvalidInput(f"{self.directory}: has sparse features; batches have them in dense form")
        return _as_bits(self._array("features"))

    def feature_tensor(self) -> Any:
        """Return the dense features as a tensor of torch on the mapped file. It must not be written to."""
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that NumPy's array is read-only
            return _tensor_of(self.features)

    @property
    def sparse_features(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Row pointers, columns and values of sparse features in CSR form; no values where all are 1.

        bf16 values are returned as their bits, as in :attr:`features`.

        Raises
        ------
        gnomon.InvalidInput
            If the features are dense.
        """
        if not self.has_sparse_features:
            raise InvalidInput(f"{self.directory}: has no sparse features")
        has_values = (self.directory / "features_values.npy").exists()
        values = _as_bits(self._array("features_values")) if has_values else None
        return self._array("features_indptr"), self._array("features_columns"), values

    @property
    def labels(self) -> np.ndarray:
        """The labels, int32; -1 for unknown. Of a multi-label store they are rows of :attr:`label_sets`."""
        return self._array("labels")

    @property
    def label_sets(self) -> np.ndarray:
        """The distinct sets of classes of a multi-label store, sets x classes, uint8: 1 for the classes of the set."""
        return self._array("label_sets")

    def label_tensor(self) -> Any:
        """Return ``y`` of all nodes in memory: classes, int64, or of a multi-label store (nodes, classes), fp32.

        Unknown labels are -1, in a multi-label store rows of NaN.
        """
        import numpy as np
        import torch

        labels = torch.from_numpy(self.labels.astype(np.int64))
        return self.target_rows()[labels] if self.is_multilabel else labels

    def target_rows(self) -> Any:
        """Return the label sets as an fp32 tensor with a last row of NaN, which is that of the label -1."""
        import numpy as np
        import torch

        return torch.from_numpy(np.vstack([self.label_sets, np.full(self.num_classes, np.nan)]).astype(np.float32))

    def split(self, name: str) -> np.ndarray:
        """The nodes of the split ``"train"``, ``"valid"`` or ``"test"``, ascending."""
        if name not in ("train", "valid", "test"):
            raise InvalidInput(f"split: {name!r} is unknown; use 'train', 'valid' or 'test'")
        return self._array(name)

    def to_data(self) -> Data:
        """Return the whole graph as a ``torch_geometric.data.Data``, in memory: ``edge_index``, ``x``, ``y``, masks."""
        import numpy as np
        import torch
        from torch_geometric.data import Data

        indptr = torch.from_numpy(np.array(self.indptr))
        destinations = torch.repeat_interleave(torch.arange(self.num_nodes), indptr.diff())
        data = Data(edge_index=torch.stack([torch.from_numpy(np.array(self.indices, dtype=np.int64)), destinations]))
        data.num_nodes = self.num_nodes
        if self.num_features > 0:
            data.x = self._dense_features() if self.has_sparse_features else self.feature_tensor().clone()
        if self.num_classes > 0:
            data.y = self.label_tensor()
        if self.is_weighted:
            data.edge_weight = torch.from_numpy(np.array(self.edge_weights))
        for split, name in (("train", "train_mask"), ("valid", "val_mask"), ("test", "test_mask")):
            data[name] = torch.zeros(self.num_nodes, dtype=torch.bool)
            data[name][torch.from_numpy(np.array(self.split(split)))] = True
        return data

    def _dense_features(self) -> Any:
        import numpy as np
        import torch

        indptr, columns, values = self.sparse_features
        rows = np.repeat(np.arange(self.num_nodes), np.diff(indptr))
        dense = torch.zeros(self.num_nodes, self.num_features, dtype=torch.float32)
        entries = torch.ones(len(columns)) if values is None else _tensor_of(np.array(values)).float()
        dense[torch.from_numpy(rows), torch.from_numpy(columns.astype(np.int64))] = entries
        return dense

    def __repr__(self) -> str:
        return f"Store({str(self.directory)!r}, num_nodes={self.num_nodes}, num_edges={self.num_edges})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.directory,)


def _as_bits(array: np.ndarray) -> np.ndarray:
    """Return bf16 arrays, which NumPy reads as void of two bytes, as uint16, and other arrays unchanged."""
    return array.view("uint16") if array.dtype.kind == "V" else array


def _tensor_of(array: np.ndarray) -> Any:
    """Return features as a tensor on the same memory."""
    import torch

    if array.dtype == "uint16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


def open(directory: str | os.PathLike[str]) -> Store:
    """Open a graph store.

    Parameters
    ----------
    directory : path
        The store's directory.

    Returns
    -------
    Store
    """
    return Store(directory)
