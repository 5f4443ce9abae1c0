"""Mini-batches of links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.sampler import NegativeSampling

from gnomon import _library
from gnomon._epoch import RawBatch
from gnomon._library import InvalidInput
from gnomon._tensors import selected
from gnomon.graph import Store
from gnomon.pyg._arguments import LINK_ORDER, LoaderArguments, LoaderData, named, refuse_temporal
from gnomon.pyg._base import BaseLoader
from gnomon.pyg._source import all_edges, check_ids, index_tensor

if TYPE_CHECKING:
    from typing_extensions import Unpack


class LinkArguments(LoaderArguments, total=False):
    """Keyword arguments of :class:`LinkNeighborLoader`."""

    neg_sampling: Any
    neg_sampling_ratio: float | None


def _negatives_of(neg_sampling: Any, ratio: Any) -> NegativeSampling | None:
    if ratio is not None and ratio != 0:
        if not isinstance(ratio, (int, float)) or not 0 < ratio < 1e6:
            raise InvalidInput(f"neg_sampling_ratio: must be a positive number, not {ratio!r}")
        neg_sampling = NegativeSampling("binary", ratio)
    try:
        cast = NegativeSampling.cast(neg_sampling)
    except (TypeError, ValueError, NotImplementedError) as error:
        raise InvalidInput(f"neg_sampling: {error}") from None
    if cast is not None and (cast.src_weight is not None or cast.dst_weight is not None):
        raise InvalidInput("neg_sampling: weights are not supported yet")
    return cast


class LinkNeighborLoader(BaseLoader):
    """Drop-in replacement for ``torch_geometric.loader.LinkNeighborLoader``.

    Batches have ``edge_label_index`` and ``edge_label``, or for triplets ``src_index``, ``dst_pos_index`` and
    ``dst_neg_index``. Negatives are drawn in C++, by the threads that prepare the batches, uniformly over all nodes.

    Parameters
    ----------
    data, num_neighbors, replace, subgraph_type, disjoint, weight_attr, transform, transform_sampler_output, **kwargs
        As in :class:`NeighborLoader`.
    edge_label_index : Tensor, optional
        The links to batch, [2, links]; None: the graph's edges.
    edge_label : Tensor, optional
        The labels of the links.
    neg_sampling : NegativeSampling or str, optional
        PyG's ``NegativeSampling``, ``"binary"``, ``"triplet"`` or None. Its ``weight`` is not supported yet.
    neg_sampling_ratio : float, optional
        Deprecated: binary negatives per link.
    edge_label_time, time_attr, temporal_strategy : None
        Not supported yet.

    Raises
    ------
    gnomon.InvalidInput
        A ``ValueError`` that names the argument.
    """

    def __init__(
        self,
        data: LoaderData,
        num_neighbors: Any,
        edge_label_index: Any = None,
        edge_label: Tensor | None = None,
        edge_label_time: Any = None,
        *args: Any,
        **kwargs: Unpack[LinkArguments],
    ) -> None:
        refuse_temporal(edge_label_time=edge_label_time)
        arguments = named(LINK_ORDER, args, dict(kwargs))
        self.neg_sampling = _negatives_of(
            arguments.pop("neg_sampling", None), arguments.pop("neg_sampling_ratio", None)
        )
        super().__init__(data, num_neighbors, arguments)
        self.edge_label_index = edge_label_index
        links = self._links_of(data, edge_label_index)
        self._sources, self._ends = links[0].contiguous(), links[1].contiguous()
        self._label = self._checked_label(edge_label)

    def _links_of(self, data: LoaderData, given: Any) -> Tensor:
        if given is None:
            if isinstance(data, Store):
                raise InvalidInput("edge_label_index: give the links to batch; a store does not list its edges")
            given = all_edges(data)
        elif isinstance(given, (tuple, list)) and len(given) == 2 and isinstance(given[0], (str, tuple)):
            raise InvalidInput("edge_label_index: edge types are for heterogeneous graphs, which are not supported yet")
        links = index_tensor(given, "edge_label_index", dim=2)
        if links.shape[0] != 2:
            raise InvalidInput(f"edge_label_index: must be of shape [2, links], not {list(links.shape)}")
        check_ids(links, self._num_nodes, "edge_label_index")
        return links

    def _checked_label(self, label: Tensor | None) -> Tensor | None:
        if label is None:
            return None
        if not isinstance(label, Tensor) or label.dim() < 1 or label.shape[0] != self._num_inputs():
            raise InvalidInput("edge_label: must be a tensor with one row for each link")
        if self._is_triplet():
            raise InvalidInput("edge_label: cannot be combined with triplets of neg_sampling")
        # As PyG: zero then means negative.
        return label + 1 if self._is_binary() and label.numel() > 0 and label.min() == 0 else label

    def _is_binary(self) -> bool:
        return self.neg_sampling is not None and self.neg_sampling.is_binary()

    def _is_triplet(self) -> bool:
        return self.neg_sampling is not None and self.neg_sampling.is_triplet()

    def _inputs(self) -> tuple[Tensor, ...]:
        return self._sources, self._ends

    def _what_determines_batches(self) -> dict[str, Any]:
        sampling = self.neg_sampling
        negatives = None if sampling is None else [sampling.mode.value, float(sampling.amount)]
        return {**super()._what_determines_batches(), "neg_sampling": negatives}

    def _seeds(self, positions: Tensor) -> dict[str, Any]:
        kind = _library.BINARY if self._is_binary() else _library.TRIPLET
        return {
            "seeds": selected(self._sources, positions),
            "link_ends": selected(self._ends, positions),
            "negatives": _library.NO_NEGATIVES if self.neg_sampling is None else kind,
            "negatives_per_link": 0.0 if self.neg_sampling is None else float(self.neg_sampling.amount),
        }

    def _metadata(self, raw: RawBatch, positions: Tensor) -> dict[str, Any]:
        count = positions.numel()
        if raw.trees is not None:
            raw.trees %= max(count, 1)
        assert raw.endpoints is not None
        if self._is_triplet():
            return {"input_id": positions, **self._triplets(raw.endpoints, count)}
        return {
            "input_id": positions,
            "edge_label_index": raw.endpoints.view(2, -1),
            "edge_label": self._labels(positions),
        }

    def _triplets(self, endpoints: Tensor, count: int) -> dict[str, Tensor]:
        negatives = endpoints[2 * count :]
        if self._sampling.disjoint:  # the negatives of a source belong to its subgraph
            negatives = negatives.view(-1, count).t()
        return {
            "src_index": endpoints[:count],
            "dst_pos_index": endpoints[count : 2 * count],
            "dst_neg_index": negatives.reshape(count, -1).squeeze(-1),
        }

    def _labels(self, positions: Tensor) -> Tensor | None:
        if self.neg_sampling is None or not self._is_binary():
            return None if self._label is None else selected(self._label, positions)
        count = positions.numel()
        label = torch.ones(count) if self._label is None else selected(self._label, positions)
        negatives = math.ceil(count * self.neg_sampling.amount)
        return torch.cat([label, label.new_zeros(negatives, *label.shape[1:])])
