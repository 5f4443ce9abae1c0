"""gnomon's sampler for PyG's own loaders."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.sampler import (
    BaseSampler,
    EdgeSamplerInput,
    NegativeSampling,
    NodeSamplerInput,
    SamplerOutput,
)

from gnomon import _library
from gnomon._epoch import CLoader, EpochInput, RawBatch
from gnomon.graph import Store
from gnomon.pyg._arguments import refuse_temporal
from gnomon.pyg._options import Options, read_options
from gnomon.pyg._sampling import read_sampling, sampler_output
from gnomon.pyg._source import check_data, check_ids, graph_of, index_tensor


class Sampler(BaseSampler):
    """A PyG ``BaseSampler`` that samples in C++, in the calling thread.

    For PyG's own loaders: ``NeighborLoader(data, [], neighbor_sampler=Sampler(data, [15, 10]))``. Sample ``i`` of a
    sampler depends on its arguments, ``i`` and the seeds only.

    Parameters
    ----------
    data, num_neighbors, replace, subgraph_type, disjoint, weight_attr, directed
        As in :class:`NeighborLoader`.
    is_sorted, share_memory
        Accepted; without effect.
    time_attr, temporal_strategy
        Not supported yet.
    seed, expand, threads_per_batch
        As in :class:`NeighborLoader`.
    """

    def __init__(
        self,
        data: Data | Store,
        num_neighbors: Any,
        subgraph_type: Any = "directional",
        replace: bool = False,
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        is_sorted: bool = False,
        share_memory: bool = False,
        directed: bool = True,
        **kwargs: Any,
    ) -> None:
        refuse_temporal(time_attr=time_attr, temporal_strategy=temporal_strategy)
        check_data(data)
        options: Options = read_options(kwargs)
        self.data, self.weight_attr = data, weight_attr
        self.graph = graph_of(data, weight_attr)
        self.sampling, self.bidirectional = read_sampling(
            num_neighbors, replace, subgraph_type, disjoint, directed, options
        )
        self._loader = CLoader(self.graph, self.sampling)
        self._num_samples = 0

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("graph", "_loader")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.graph = graph_of(self.data, self.weight_attr)
        self._loader = CLoader(self.graph, self.sampling)

    def sample_from_nodes(self, inputs: NodeSamplerInput, **kwargs: Any) -> SamplerOutput:
        """Sample the subgraph of some nodes."""
        nodes = index_tensor(inputs.node, "inputs.node")
        check_ids(nodes, self.graph.num_nodes, "inputs.node")
        out = sampler_output(self._sample({"seeds": nodes}), self.bidirectional)
        out.metadata = (inputs.input_id, inputs.time)
        return out

    def sample_from_edges(
        self, inputs: EdgeSamplerInput, neg_sampling: NegativeSampling | None = None
    ) -> SamplerOutput:
        """Sample the subgraph of the endpoints of some edges."""
        from torch_geometric.sampler.neighbor_sampler import edge_sample

        def sample(nodes: Tensor, time: Any) -> SamplerOutput:
            refuse_temporal(time=time)
            return sampler_output(self._sample({"seeds": nodes}), self.bidirectional)

        return edge_sample(inputs, sample, self.graph.num_nodes, self.sampling.disjoint, None, neg_sampling)

    @property
    def edge_permutation(self) -> Tensor | None:
        """None: edge ids are positions in the data's edges."""
        return None

    def _sample(self, seeds: dict[str, Any]) -> RawBatch:
        count = seeds["seeds"].numel()
        number, self._num_samples = self._num_samples, self._num_samples + 1
        begins = torch.tensor([0, count])
        epoch = self._loader.begin(EpochInput(epoch=number, begins=begins, negatives=_library.NO_NEGATIVES, **seeds))
        raw = epoch.next()
        epoch.close()
        assert raw is not None
        return raw
