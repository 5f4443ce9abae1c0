"""Mini-batches of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from gnomon._epoch import RawBatch
from gnomon.graph import Store
from gnomon.pyg._arguments import NODE_ORDER, LoaderArguments, LoaderData, named, refuse_temporal
from gnomon.pyg._base import BaseLoader
from gnomon.pyg._source import check_ids, index_tensor

if TYPE_CHECKING:
    from typing_extensions import Unpack


def input_nodes_of(data: LoaderData, nodes: Any, num_nodes: int) -> tuple[Tensor, Tensor | None]:
    """Return the nodes to batch, and their ids where these are not their positions."""
    if nodes is None:
        return torch.arange(num_nodes), None
    if isinstance(nodes, str) and isinstance(data, Store):
        return torch.from_numpy(data.split(nodes).copy()), None
    if isinstance(nodes, Tensor) and nodes.dtype == torch.bool:
        found = nodes.detach().cpu().nonzero(as_tuple=False).view(-1)
        check_ids(found, num_nodes, "input_nodes")
        return found, found  # as PyG
    found = index_tensor(nodes, "input_nodes")
    check_ids(found, num_nodes, "input_nodes")
    return found, None


class NeighborLoader(BaseLoader):
    """Stands in for ``torch_geometric.loader.NeighborLoader``.

    Takes its arguments and gives its batches: ``Data`` with ``x``, ``y`` and all other attributes of nodes and edges,
    ``edge_index`` in the order of the hops, ``n_id``, ``e_id``, ``input_id``, ``batch_size``, ``num_sampled_nodes`` and
    ``num_sampled_edges``. Threads prepare batches ahead in C++; the transforms run in the caller's thread.

    Parameters
    ----------
    data : Data, Store, or (FeatureStore, GraphStore)
        A homogeneous ``Data`` with ``edge_index`` or ``adj_t``, a :class:`gnomon.Store`, or PyG's feature store and
        graph store: the graph is read once, features of each batch by ``multi_get_tensor`` in the caller's thread.
    num_neighbors : list of int
        Neighbours of each hop: 0 to 512, or -1 for all.
    input_nodes : Tensor or str, optional
        Ids or a mask of the nodes to batch; of a store also ``"train"``, ``"valid"`` or ``"test"``. None: all.
    replace : bool
        Draw neighbours with replacement.
    subgraph_type : str
        ``"directional"``, ``"bidirectional"`` or ``"induced"``.
    disjoint : bool
        Give every seed a subgraph of its own; ``batch`` tells the seed of each node.
    weight_attr : str, optional
        The attribute of edges by which neighbours are drawn; of a store ``"edge_weight"``.
    transform, transform_sampler_output : callable, optional
        Applied to each batch, and to its ``SamplerOutput`` before.
    neighbor_sampler : Sampler, optional
        A :class:`gnomon.pyg.Sampler`, whose graph and sampling are then used.
    is_sorted, filter_per_worker : bool
        Accepted; without effect.
    directed : bool
        Deprecated: False is ``subgraph_type="induced"``.
    input_time, time_attr, temporal_strategy : None
        Not supported yet.
    **kwargs
        Of ``torch.utils.data.DataLoader``: ``batch_size``, ``shuffle``, ``drop_last``, ``sampler``, ``batch_sampler``,
        ``num_workers`` (threads; None chooses, 0 prepares in the caller), ``prefetch_factor``, ``pin_memory``,
        ``timeout``, ``generator`` (its initial seed). And ours: ``seed`` (else torch's), ``expand``
        (``"once"`` as PyG, or ``"every_hop"`` as DGL), ``threads_per_batch``, and for several processes ``rank`` and
        ``world_size``: each batches its part of every epoch's order, all parts of one size. ``stored``: attributes of
        nodes that are not gathered; batches have them as :class:`gnomon.nn.StoredRows`, which ``gnomon.nn`` reads where
        they are. ``device``: where batches are copied to after the transforms, on a stream of their own beside what the
        device computes; rows are gathered into page-locked memory. ``cached_rows``: so many rows of ``x``, those that
        batches have most often, stay in the memory of ``device``, and are neither gathered nor copied.

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

    def _num_inputs(self) -> int:
        return self._nodes.numel()

    def _seeds(self, positions: Tensor) -> dict[str, Any]:
        return {"seeds": self._nodes[positions]}

    def _metadata(self, raw: RawBatch, positions: Tensor) -> dict[str, Any]:
        input_id = positions if self._ids is None else self._ids[positions]
        return {"input_id": input_id, "batch_size": positions.numel()}
