"""The sources of a loader's graph and attributes."""

from __future__ import annotations

import copy
import weakref
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, FeatureStore, GraphStore
from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout
from torch_geometric.loader.utils import index_select

from gnomon._library import DLTensor, InvalidInput
from gnomon._tensors import can_describe, check_memory, describe
from gnomon.graph import Graph, Store, from_csc, from_edges
from gnomon.nn.stored import StoredRows
from gnomon.pyg._adjacency import Adjacency, adjacency_of
from gnomon.pyg._arguments import LoaderData

_INTEGER_NAMES = ("int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "uint64")
_INTEGERS = {getattr(torch, name) for name in _INTEGER_NAMES if hasattr(torch, name)}
# Graphs of Data objects, shared by their loaders, keyed by the identity of the tensors that they were made from. An
# entry is removed when its edge_index or adj_t is freed.
_graphs: dict[tuple[int, ...], tuple[weakref.ref, Graph]] = {}


def check_data(data: Any) -> None:
    """Raise InvalidInput, naming ``data``, unless the data has a homogeneous graph."""
    if isinstance(data, Store):
        return
    if _is_pair(data):
        _only_edges(data[1])
        return
    if not isinstance(data, Data):
        raise InvalidInput(
            f"data: {type(data).__name__} is not supported; pass a torch_geometric.data.Data, a gnomon.Store or a pair"
            " of FeatureStore and GraphStore (heterogeneous graphs are not supported yet)"
        )
    if data.get("edge_index") is None and data.get("adj_t") is None:
        raise InvalidInput("data: has neither edge_index nor adj_t")


def check_changes(data: LoaderData, bidirectional: bool, transforms: bool) -> None:
    """Raise InvalidInput for options that change samples of data with ``adj_t``, which PyG cannot batch."""
    if isinstance(data, Data) and (bidirectional or transforms) and adjacency_of(data) is not None:
        name = "transform_sampler_output" if transforms else "subgraph_type"
        raise InvalidInput(f"{name}: cannot be combined with adj_t; give the data edge_index")


def _is_pair(data: Any) -> bool:
    return (
        isinstance(data, tuple)
        and len(data) == 2
        and isinstance(data[0], FeatureStore)
        and isinstance(data[1], GraphStore)
    )


def _only_edges(store: GraphStore) -> EdgeAttr:
    """Return the edge attribute of a homogeneous graph. Raises InvalidInput, naming ``data``, for other graphs."""
    attributes = store.get_all_edge_attrs()
    if not attributes or any(each.edge_type is not None for each in attributes):
        raise InvalidInput(
            "data: the graph store must have one edge_index without a type; heterogeneous graphs are not supported"
        )
    return attributes[0]


def graph_of(data: LoaderData, weight_attr: str | None) -> Graph:
    """Return the graph's structure. It is cached for each ``edge_index`` or ``adj_t`` and weight of a Data object."""
    if isinstance(data, Store):
        if weight_attr is not None and (weight_attr != "edge_weight" or not data.is_weighted):
            raise InvalidInput(f"weight_attr: the store has no {weight_attr!r}")
        return data.graph(weighted=weight_attr is not None)
    if isinstance(data, tuple):
        if weight_attr is not None:
            raise InvalidInput("weight_attr: is not supported with a feature store and a graph store")
        return _graph_of_store(data[1])
    weights = None
    if weight_attr is not None:
        weights = data.get(weight_attr)
        if weights is None:
            raise InvalidInput(f"weight_attr: data has no {weight_attr!r}")
    num_nodes = _num_nodes_of(data)
    structure = data.edge_index if data.get("edge_index") is not None else data.adj_t
    key = (id(structure), getattr(structure, "_version", 0), num_nodes, id(weights), getattr(weights, "_version", 0))
    found = _graphs.get(key)
    if found is not None and found[0]() is structure:
        return found[1]
    adjacency = adjacency_of(data)
    if adjacency is None:
        graph = _graph_of_edges(data.edge_index, num_nodes, weights, weight_attr)
    else:
        given = _checked_weights(weights, adjacency.sources.numel(), weight_attr)
        graph = _graph_of_rows(adjacency.indptr, adjacency.sources, None, given)
    _graphs[key] = (weakref.ref(structure, lambda _: _graphs.pop(key, None)), graph)
    return graph


def _num_nodes_of(data: Data) -> int:
    try:
        return data.num_nodes
    except (IndexError, TypeError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"data: its number of nodes is unknown: {error}") from None


def all_edges(data: Data | tuple[FeatureStore, GraphStore]) -> Tensor:
    """Return all edges, [2, edges], in the order of their ids."""
    if isinstance(data, tuple):
        return _edges_of_store(data[1])
    adjacency = adjacency_of(data)
    return data.edge_index if adjacency is None else adjacency.edge_index


def _edges_of_store(store: GraphStore) -> Tensor:
    sources, destinations, _ = store.coo()
    return torch.stack([sources, destinations])


def _graph_of_store(store: GraphStore) -> Graph:
    attribute = _only_edges(store)
    if attribute.size is None:
        raise InvalidInput("data: the graph store must give the size of its edge_index")
    num_nodes = max(attribute.size)
    if attribute.layout != EdgeLayout.CSC:  # PyG's conversion to CSC does not keep the order of a node's edges
        return _graph_of_edges(_edges_of_store(store), num_nodes, None, None)
    sources, indptr, order = store.csc()
    indptr = index_tensor(indptr, "data")
    filled = torch.nn.functional.pad(indptr, (0, num_nodes + 1 - indptr.numel()), value=int(indptr[-1]))
    return _graph_of_rows(filled, index_tensor(sources, "data"), order, None)


def _graph_of_rows(indptr: Tensor, sources: Tensor, edge_ids: Tensor | None, weights: Tensor | None) -> Graph:
    ids = None if edge_ids is None else index_tensor(edge_ids, "data")
    return from_csc(
        indptr.numel() - 1,
        sources.numel(),
        indptr.data_ptr(),
        sources.data_ptr(),
        None if ids is None else ids.data_ptr(),
        None if weights is None else weights.data_ptr(),
    )


def _graph_of_edges(edge_index: Tensor, num_nodes: int, weights: Any, weight_attr: str | None) -> Graph:
    edges = index_tensor(edge_index, "data.edge_index", dim=2)
    if edges.shape[0] != 2:
        raise InvalidInput(f"data.edge_index: must be of shape [2, edges], not {list(edges.shape)}")
    given = _checked_weights(weights, edges.shape[1], weight_attr)
    sources, destinations = edges[0], edges[1]
    return from_edges(
        num_nodes,
        edges.shape[1],
        sources.data_ptr(),
        destinations.data_ptr(),
        None if given is None else given.data_ptr(),
    )


def _checked_weights(weights: Any, num_edges: int, weight_attr: str | None) -> Tensor | None:
    if weights is None:
        return None
    fits = isinstance(weights, Tensor) and weights.shape == (num_edges,) and weights.layout == torch.strided
    if not fits or weights.is_complex():
        raise InvalidInput(f"weight_attr: {weight_attr!r} must be a tensor of one number for each edge")
    if weights.is_meta:
        raise InvalidInput(f"weight_attr: {weight_attr!r} is on the device 'meta', which has no data")
    check_memory(weights, f"weight_attr: {weight_attr!r}")
    weights = weights.detach().to("cpu", torch.float32).contiguous()
    if bool((weights < 0).any()) or not bool(torch.isfinite(weights).all()):
        raise InvalidInput(f"weight_attr: {weight_attr!r} must be finite and not negative")
    return weights


def index_tensor(value: Any, name: str, dim: int = 1) -> Tensor:
    """Return ids as a contiguous int64 tensor in the host's memory. Raises InvalidInput, naming ``name``."""
    value = tensor_of(value, name)
    if value.dtype not in _INTEGERS:
        raise InvalidInput(f"{name}: must contain integers, not {value.dtype}")
    if value.layout != torch.strided or value.dim() != dim:
        raise InvalidInput(f"{name}: must be a dense tensor of {dim} dimension(s), not {list(value.shape)}")
    if value.is_meta:
        raise InvalidInput(f"{name}: is on the device 'meta', which has no data")
    check_memory(value, name)
    return value.detach().as_subclass(Tensor).to("cpu", torch.int64).contiguous()


def ids_of(value: Any, name: str, count: int, what: str = "nodes") -> Tensor:
    """Return ids, given as such or as a mask, as a contiguous int64 tensor in the host's memory.

    Parameters
    ----------
    value
        A tensor, an array or a list.
    name
        The argument, which errors name.
    count, what
        The number of things that have ids, and what they are.

    Raises
    ------
    gnomon.InvalidInput
        If it is neither, or an id is out of range.
    """
    given = tensor_of(value, name)
    if given.dtype == torch.bool:
        if given.layout != torch.strided or given.shape != (count,):
            raise InvalidInput(f"{name}: a mask must have one value for each of the {count} {what}")
        return index_tensor(given.view(torch.uint8), name).nonzero(as_tuple=False).view(-1)
    ids = index_tensor(given, name)
    check_ids(ids, count, name, what)
    return ids


def tensor_of(value: Any, name: str) -> Tensor:
    """Return an argument as a tensor. Raises InvalidInput, naming ``name``."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray) and not value.flags.writeable:  # torch would warn
        value = value.copy()
    try:
        tensor = torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"{name}: cannot be converted to a tensor: {error}") from None
    return tensor if tensor.numel() > 0 else tensor.to(torch.int64)


def check_ids(ids: Tensor, count: int, name: str, what: str = "nodes") -> None:
    """Raise InvalidInput, naming ``name``, for ids out of range."""
    if ids.numel() == 0:
        return
    low, high = int(ids.min()), int(ids.max())
    if low < 0 or high >= count:
        raise InvalidInput(f"{name}: {low if low < 0 else high} is out of range; there are {count} {what}")


@dataclass
class Attributes:
    """The attributes of each batch.

    Attributes
    ----------
    template
        A batch with only the attributes that do not depend on the sample.
    node_keys, nodes, edge_keys, edges
        The attributes that C++ gathers.
    late_nodes, late_edges
        Key, value and dimension of the attributes that torch gathers: tensors on a GPU, views, NumPy arrays.
    sets_num_nodes
        Whether the data set ``num_nodes`` explicitly.
    edge_device
        The device of ``edge_index``; None for that of the batch.
    store_features
        Whether the features of a store are gathered before `nodes`.
    long_labels
        Whether ``y`` is to be made int64.
    target_rows
        The rows of which ``y`` holds the numbers in a multi-label store.
    adjacency
        The data's ``adj_t``, which batches then have instead of ``edge_index``.
    feature_store
        PyG's feature store, from which the rows of each batch are fetched.
    stored
        Key and matrix of the attributes that are not gathered.
    """

    template: Data
    node_keys: list[str] = field(default_factory=list)
    nodes: list[DLTensor] = field(default_factory=list)
    edge_keys: list[str] = field(default_factory=list)
    edges: list[DLTensor] = field(default_factory=list)
    late_nodes: list[tuple[str, Any, int]] = field(default_factory=list)
    late_edges: list[tuple[str, Any, int]] = field(default_factory=list)
    sets_num_nodes: bool = False
    edge_device: torch.device | None = None
    store_features: bool = False
    long_labels: bool = False
    target_rows: Tensor | None = None
    adjacency: Adjacency | None = None
    feature_store: FeatureStore | None = None
    stored: list[tuple[str, Tensor]] = field(default_factory=list)

    def put_first(self, key: str) -> None:
        """Make this node attribute the first one that C++ gathers. The features of a store are always first."""
        if not self.store_features:
            at = self.node_keys.index(key)
            self.node_keys.insert(0, self.node_keys.pop(at))
            self.nodes.insert(0, self.nodes.pop(at))

    def add_late(self, batch: Data, nodes: Tensor, edge_ids: Tensor) -> None:
        """Gather the attributes that C++ does not gather."""
        if self.feature_store is not None:
            _add_from_store(batch, self.feature_store, nodes)
        for key, matrix in self.stored:
            batch[key] = StoredRows(matrix, nodes)
        for late, ids in ((self.late_nodes, nodes), (self.late_edges, edge_ids)):
            for key, value, dim in late:
                on_device = ids.to(value.device) if isinstance(value, Tensor) else ids
                batch[key] = index_select(value, on_device, dim=dim)


def _add_from_store(batch: Data, store: FeatureStore, nodes: Tensor) -> None:
    wanted = [copy.copy(attribute) for attribute in store.get_all_tensor_attrs()]
    for attribute in wanted:
        attribute.index = nodes
    for attribute, tensor in zip(wanted, store.multi_get_tensor(wanted)):
        batch[attribute.attr_name] = tensor
    batch.num_nodes = nodes.numel()


def attributes_of(data: LoaderData, graph: Graph, stored: tuple[str, ...] = ()) -> Attributes:
    """List the current attributes of the data. Those named in `stored` are not gathered."""
    attributes = _all_attributes(data, graph)
    for name in stored:
        _keep_stored(attributes, name, data)
    return attributes


def gathered_matrix(data: LoaderData, name: str) -> Tensor | None:
    """Return the node attribute of this name if C++ gathers it, otherwise None."""
    if isinstance(data, Store):
        return data.feature_tensor() if name == "x" and data.num_features > 0 and not data.has_sparse_features else None
    value = data.get(name) if isinstance(data, Data) else None
    if not isinstance(value, Tensor) or type(value) not in (Tensor, torch.nn.Parameter):
        return None
    rows = value.detach()
    return rows if can_describe(rows) and rows.shape[0] == data.num_nodes else None


def _keep_stored(attributes: Attributes, name: str, data: LoaderData) -> None:
    if isinstance(data, Store):
        if name != "x" or not attributes.store_features:
            raise InvalidInput(f"stored: the store has no features called {name!r}; they are called 'x'")
        attributes.store_features = False
        attributes.node_keys.remove(name)
        attributes.stored.append((name, data.feature_tensor()))
    elif name in attributes.node_keys and isinstance(data, Data):
        at = attributes.node_keys.index(name)
        del attributes.node_keys[at], attributes.nodes[at]
        attributes.stored.append((name, data[name]))
    else:
        raise InvalidInput(f"stored: {name!r} is not a contiguous node attribute in host memory")


def _all_attributes(data: LoaderData, graph: Graph) -> Attributes:
    if isinstance(data, tuple):
        return Attributes(Data(), feature_store=data[0])
    if isinstance(data, Store):
        has_features, labels = data.attributes(graph)
        return Attributes(
            Data(),
            node_keys=(["x"] if has_features else []) + (["y"] if labels is not None else []),
            nodes=[] if labels is None else [labels],
            store_features=has_features,
            long_labels=True,
            target_rows=data.target_rows() if data.is_multilabel else None,
        )
    attributes = Attributes(copy.copy(data), adjacency=adjacency_of(data))
    store, template = data._store, attributes.template
    for key, value in list(store.items()):
        if key == "num_nodes":
            attributes.sets_num_nodes = True
        elif key == "edge_index":
            attributes.edge_device = value.device if value.device.type != "cpu" else None
        elif key == "adj_t" and attributes.adjacency is not None:
            pass
        elif store.is_node_attr(key):
            dim = data.__cat_dim__(key, value, store)
            _add(key, value, dim, attributes.node_keys, attributes.nodes, attributes.late_nodes)
        elif store.is_edge_attr(key):
            dim = data.__cat_dim__(key, value, store)
            _add(key, value, dim, attributes.edge_keys, attributes.edges, attributes.late_edges)
        else:
            continue
        del template[key]
    return attributes


def _add(key: str, value: Any, dim: int, keys: list[str], tensors: list[DLTensor], late: list) -> None:
    if isinstance(value, Tensor) and type(value) in (Tensor, torch.nn.Parameter):
        value = value.detach()
        if value.device.type == "cpu":
            check_memory(value, f"data.{key}")
        if dim == 0 and can_describe(value):
            keys.append(key)
            tensors.append(describe(value))
            return
    late.append((key, value, dim))
