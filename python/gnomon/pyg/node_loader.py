"""Mini-batches of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from gnomon._epoch import RawBatch
from gnomon._library import InvalidInput
from gnomon._tensors import selected
from gnomon.graph import Store
from gnomon.pyg._arguments import NODE_ORDER, LoaderArguments, LoaderData, named, refuse_temporal
from gnomon.pyg._base import BaseLoader
from gnomon.pyg._source import ids_of, tensor_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


def input_nodes_of(data: LoaderData, nodes: Any, num_nodes: int) -> tuple[Tensor, Tensor | None]:
    """Return the nodes to batch, and their ids if these differ from their positions."""
    if nodes is None:
        return torch.arange(num_nodes), None
    if isinstance(nodes, str):
        return _split_of(data, nodes), None
    given = tensor_of(nodes, "input_nodes")
    found = ids_of(given, "input_nodes", num_nodes)
    return found, found if given.dtype == torch.bool else None  # as PyG


def _split_of(data: LoaderData, name: str) -> Tensor:
    if not isinstance(data, Store):
        raise InvalidInput(
            f"input_nodes: {name!r} names a split, which only a gnomon.Store has; pass a mask, such as data.train_mask,"
            " or ids (node types are for heterogeneous graphs, which are not supported yet)"
        )
    return torch.from_numpy(data.split(name).copy())


class NeighborLoader(BaseLoader):
    """Drop-in replacement for ``torch_geometric.loader.NeighborLoader``.

    Accepts its arguments and yields its batches: ``Data`` with ``x``, ``y`` and all other attributes of nodes and
    edges, ``edge_index`` in the order of the hops, ``n_id``, ``e_id``, ``input_id``, ``batch_size``,
    ``num_sampled_nodes`` and ``num_sampled_edges``. C++ threads prepare batches ahead; transforms run in the calling
    thread.

    Parameters
    ----------
    data : Data, Store, or (FeatureStore, GraphStore)
        A homogeneous ``Data`` with ``edge_index`` or ``adj_t``, a :class:`gnomon.Store`, or PyG's feature store and
        graph store: the graph is read once, the features of each batch by ``multi_get_tensor`` in the calling thread.
    num_neighbors : list of int
        Neighbours of each hop: 0 to 512, or -1 for all.
    input_nodes : Tensor, array, list or str, optional
        Ids or a mask of the nodes to batch; of a store also ``"train"``, ``"valid"`` or ``"test"``. None: all.
    replace : bool
        Sample neighbours with replacement.
    subgraph_type : str
        ``"directional"``, ``"bidirectional"`` or ``"induced"``.
    disjoint : bool
        Give every seed a subgraph of its own; ``batch`` holds the seed of each node.
    weight_attr : str, optional
        The edge attribute that weights the sampling of neighbours; for a store ``"edge_weight"``.
    transform, transform_sampler_output : callable, optional
        Applied to each batch; applied to its ``SamplerOutput`` beforehand.
    neighbor_sampler : Sampler, optional
        A :class:`gnomon.pyg.Sampler`, whose graph and sampling rule are used.
    is_sorted, filter_per_worker : bool
        Accepted; without effect.
    directed : bool
        Deprecated: False is ``subgraph_type="induced"``.
    input_time, time_attr, temporal_strategy : None
        Not supported yet.
    **kwargs
        Those of ``torch.utils.data.DataLoader``: ``batch_size``, ``shuffle``, ``drop_last``, ``sampler``,
        ``batch_sampler``, ``num_workers`` (threads; None: chosen automatically, 0: batches are prepared in the calling
        thread), ``prefetch_factor``, ``pin_memory``, ``timeout``, ``generator`` (its initial seed is used). Further:
        ``seed`` (default: torch's initial seed); ``expand`` (``"once"`` as in PyG, or ``"every_hop"`` as in DGL);
        ``threads_per_batch`` (default: without workers those of torch, at most 16, else 1); for several processes ``rank`` and ``world_size``: each process batches its part of every
        epoch's order, all parts of equal size; ``stored``: node attributes that are not gathered; batches have them as
        :class:`gnomon.nn.StoredRows`, which the layers of ``gnomon.nn`` read in place; ``device``: batches are copied
        to this device after the transforms, on a separate stream, and rows are gathered into page-locked memory;
        ``cached_rows``: number of rows of ``x`` to cache on ``device``: those of the most frequently sampled nodes,
        which are then neither gathered nor copied.

    Raises
    ------
    gnomon.InvalidInput
        A ``ValueError`` that names the argument.

    Examples
    --------
    >>> loader = NeighborLoader(data, [15, 10], input_nodes=data.train_mask, batch_size=1024, shuffle=True)
    >>> for batch in loader:
    ...     out = model(batch.x, batch.edge_index)[: batch.batch_size]
    """

    def __init__(
        self,
        data: LoaderData,
        num_neighbors: Any,
        input_nodes: Any = None,
        input_time: Any = None,
        *args: Any,
        **kwargs: Unpack[LoaderArguments],
    ) -> None:
        refuse_temporal(input_time=input_time)
        super().__init__(data, num_neighbors, named(NODE_ORDER, args, dict(kwargs)))
        self.input_nodes = input_nodes
        self._nodes, self._ids = input_nodes_of(data, input_nodes, self._num_nodes)

    def _inputs(self) -> tuple[Tensor, ...]:
        return (self._nodes,)

    def _seeds(self, positions: Tensor) -> dict[str, Any]:
        return {"seeds": selected(self._nodes, positions)}

    def _metadata(self, raw: RawBatch, positions: Tensor) -> dict[str, Any]:
        input_id = positions if self._ids is None else selected(self._ids, positions)
        return {"input_id": input_id, "batch_size": positions.numel()}
