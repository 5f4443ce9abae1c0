"""The common base of the loaders of nodes and of links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.loader.utils import filter_custom_store, filter_data
from torch_geometric.sampler import SamplerOutput

from gnomon._epoch import CLoader, RawBatch, Sampling, epoch_order
from gnomon._library import InvalidInput, library
from gnomon._openmp import parallel_of_openmp
from gnomon._tensors import spread_memory
from gnomon.graph import Store
from gnomon.loader_plan import LoaderPlan
from gnomon.pyg._arguments import LoaderData, refuse_temporal
from gnomon.pyg._batches import Batches, add_sample, assembled, repeated
from gnomon.pyg._cache import FeatureCache, Hotness, hotness_of
from gnomon.pyg._device import free_bytes, page_lock, pinned_allocator
from gnomon.pyg._options import batches_of, default_threads, integer, part_of_rank, read_options
from gnomon.pyg._sampling import read_sampling, sampler_output, sampling_for
from gnomon.pyg._source import Attributes, check_changes, check_data, gathered_matrix, graph_of, ids_of
from gnomon.pyg._state import checksum, position_in, state_of
from gnomon.replanning import Replanner
from gnomon.report import Report, Times, make_report

# The epoch of batches for measurements: the last number that random streams allow.
_TRIAL_EPOCH = 2**32 - 1
# Separates the draws of calls from those of epochs.
_CALLS_SEED = 0x9E3779B97F4A7C15 // 2
# Number of batches by which the rows of a cache are chosen.
_HOTNESS_BATCHES = 40


class BaseLoader:
    """Prepares mini-batches on threads in C++ and hands them out in order.

    Batches depend on the data, the arguments and the number of the epoch only, not on the number of workers.
    ``data`` may be edited between epochs; its graph is read once.
    """

    def __init__(self, data: LoaderData, num_neighbors: Any, arguments: dict[str, Any]) -> None:
        rest = dict(arguments)
        refuse_temporal(**{name: rest.pop(name) for name in ("time_attr", "temporal_strategy")})
        check_data(data)
        self.data = data
        self.transform: Callable[[Data], Any] | None = rest.pop("transform")
        self.transform_sampler_output: Callable[[SamplerOutput], SamplerOutput] | None = rest.pop(
            "transform_sampler_output"
        )
        self._weight_attr: str | None = rest.pop("weight_attr")
        neighbor_sampler = rest.pop("neighbor_sampler")
        sampling = {name: rest.pop(name) for name in ("replace", "subgraph_type", "disjoint", "directed")}
        self._options = read_options(rest)
        if neighbor_sampler is not None:
            self._adopt(neighbor_sampler)
        else:
            self._graph = graph_of(data, self._weight_attr)
            self._sampling, self._bidirectional = read_sampling(num_neighbors, options=self._options, **sampling)
        check_changes(data, self._bidirectional, self.transform_sampler_output is not None)
        self._num_nodes = self._graph.num_nodes
        self._loader = self._made_loader(self._sampling)
        self._hotness: Hotness | None = None
        self._kept_cache: tuple[Any, FeatureCache] | None = None  # and its inputs
        self._is_spread = False
        self._replanner: Replanner | None = None
        if self._options.cached_rows:
            self.cached_matrix()  # raises errors early
        self._next_epoch = 0  # epoch and first batch of the next iteration
        self._first_batch = 0
        self._position = (0, 0)  # epoch and batch after the last batch handed out
        self._num_calls = 0
        self._kept_caller: tuple[Sampling, CLoader] | None = None  # prepares the batches of calls
        self._times = Times()

    def _adopt(self, sampler: Any) -> None:
        from gnomon.pyg.sampler import Sampler

        if not isinstance(sampler, Sampler):
            raise InvalidInput(
                f"neighbor_sampler: must be a gnomon.pyg.Sampler, not {type(sampler).__name__};"
                " other samplers are for PyG's loaders"
            )
        self._graph = sampler.graph
        self._weight_attr = sampler.weight_attr
        self._sampling, self._bidirectional = sampler.sampling, sampler.bidirectional

    def __getstate__(self) -> dict[str, Any]:
        left_out = ("_graph", "_loader", "_kept_cache", "_kept_caller", "_is_spread")
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kept_cache, self._kept_caller, self._is_spread = None, None, False
        self._graph = graph_of(self.data, self._weight_attr)
        self._loader = self._made_loader(self._sampling)

    def _made_loader(self, sampling: Sampling) -> CLoader:
        loader = CLoader(self._graph, sampling)
        if sampling.threads_per_batch > 1 and (run := parallel_of_openmp()) is not None:
            loader.share(run, sampling.threads_per_batch)
        device = self._options.device
        if device is not None and device.type == "cuda" and (lock := page_lock()) is not None:
            loader.lock_pages(lock)
        elif self._options.pin_memory and (allocate := pinned_allocator()) is not None:
            loader.lend_from(allocate)
        return loader

    # ---- How it prepares ----

    @property
    def plan(self) -> LoaderPlan:
        """How batches are prepared."""
        options, sampling = self._options, self._sampling
        return LoaderPlan(
            options.num_workers,
            sampling.threads_per_batch,
            options.prefetch_factor,
            sampling.pin_threads,
            self._is_spread,
            options.cached_rows,
        )

    def _follow(self, plan: LoaderPlan, replanner: Replanner | None) -> None:
        """Use this plan from the next iteration on; ``replanner`` changes it between epochs."""
        self._loader = self._loader_for(plan)
        self._sampling = sampling_for(self._sampling, plan)
        options = self._options
        options.num_workers, options.prefetch_factor = plan.workers, plan.prefetch_factor
        options.cached_rows = plan.cached_rows
        self._replanner = replanner

    def _loader_for(self, plan: LoaderPlan) -> CLoader:
        """Return a loader of the C API for this plan. Memory that the plan interleaves stays interleaved."""
        if plan.spread and not self._is_spread:
            self._graph.spread()
            matrix = gathered_matrix(self.data, "x")
            if matrix is not None and not isinstance(self.data, Store):  # whose file is in the page cache
                spread_memory(matrix)
            self._is_spread = True
        sampling = sampling_for(self._sampling, plan)
        return self._loader if sampling == self._sampling else self._made_loader(sampling)

    # ---- Rows that a device keeps ----

    def cached_matrix(self, or_none: bool = False) -> Tensor | None:
        """Return the matrix ``x`` that a device can cache.

        Parameters
        ----------
        or_none
            Return None instead of raising.

        Raises
        ------
        gnomon.InvalidInput
            If the loader's ``x`` cannot be cached.
        """
        changed = self.transform is not None or self.transform_sampler_output is not None or self._bidirectional
        why = (
            "needs a device"
            if self._options.device is None
            else "cannot be combined with transforms and bidirectional edges"
            if changed
            else None
        )
        matrix = None if why else gathered_matrix(self.data, "x")
        if matrix is None and not or_none:
            raise InvalidInput(f"cached_rows: {why or 'needs contiguous rows of x in the memory of the host'}")
        return matrix

    def free_bytes(self) -> int:
        """Return the free bytes of the device's memory; 0 without a device with memory of its own."""
        return 0 if self._options.device is None else free_bytes(self._options.device)

    def hotness(self) -> Hotness:
        """Return how often batches contain each node, counted once on a sample of batches."""
        if self._hotness is None:
            given_out = self.trial(LoaderPlan(0), _HOTNESS_BATCHES, only_structure=True)
            self._hotness = hotness_of((batch.n_id for batch in given_out), self._num_nodes)
        return self._hotness

    def _cache_of(self, rows: int) -> FeatureCache | None:
        """Return the device's cache of this many rows, filled at first use and after changes of ``x``."""
        if rows == 0:
            return None
        matrix = self.cached_matrix()
        made_of = (rows, matrix.data_ptr(), matrix._version, matrix.shape)
        if self._kept_cache is None or self._kept_cache[0] != made_of:
            self._kept_cache = None  # frees its memory before the next one is made
            nodes = self.hotness().order[:rows]
            self._kept_cache = made_of, FeatureCache(matrix, nodes, self._options.device)
        return self._kept_cache[1]

    # ---- What DataLoader has ----

    @property
    def batch_size(self) -> int:
        """Seeds of a batch."""
        return self._options.batch_size

    @property
    def num_workers(self) -> int:
        """Threads that prepare batches ahead; 0: batches are prepared on request."""
        return self._options.num_workers

    @num_workers.setter
    def num_workers(self, count: int) -> None:
        """Set the number of workers from the next iteration on, and stop replanning. The batches stay the same."""
        workers = read_options({"num_workers": count}).num_workers
        plan = replace(self.plan, workers=workers)
        if self._options.has_default_threads:
            plan = replace(plan, threads_per_batch=default_threads(workers))
        self._follow(plan, None)

    @property
    def drop_last(self) -> bool:
        """Whether an incomplete last batch is left out."""
        return self._options.drop_last

    @property
    def dataset(self) -> range:
        """The positions of the input."""
        return range(self._num_inputs())

    def __len__(self) -> int:
        options = self._options
        if options.batch_sampler is not None:
            return len(options.batch_sampler)  # type: ignore[arg-type]
        inputs = -(-self._num_inputs() // options.world_size)
        count = inputs if options.sampler is None else len(options.sampler)  # type: ignore[arg-type]
        return count // options.batch_size if options.drop_last else -(-count // options.batch_size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    # ---- Epochs ----

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch of the next iteration."""
        self._next_epoch, self._first_batch = integer("epoch", epoch, 0, 2**32 - 1), 0
        self._position = (self._next_epoch, 0)

    def state_dict(self) -> dict[str, Any]:
        """Return the position after the last batch handed out, also in the middle of an epoch.

        It also holds what determines the batches: the arguments, the sizes of the graph and a checksum of the input.
        """
        return state_of(*self._position, self._what_determines_batches())

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue at the position of ``state`` in the next iteration.

        Raises
        ------
        gnomon.InvalidInput
            If the state comes from a loader of other batches, or its position is out of range; names the field.
        """
        epoch, batch = position_in(state, self._what_determines_batches(), self._num_batches())
        self.set_epoch(epoch)
        self._first_batch = batch
        self._position = (epoch, batch)

    def _what_determines_batches(self) -> dict[str, Any]:
        options, sampling = self._options, self._sampling
        return {
            "rank": options.rank,
            "world_size": options.world_size,
            "seed": sampling.seed,
            "batch_size": options.batch_size,
            "shuffle": options.shuffle,
            "order_seed": options.seed if options.shuffle else None,
            "drop_last": options.drop_last,
            "sampler": options.sampler is not None,
            "batch_sampler": options.batch_sampler is not None,
            "num_neighbors": list(sampling.fanouts),
            "expand": sampling.expansion,
            "replace": sampling.replace,
            "disjoint": sampling.disjoint,
            "subgraph_type": "bidirectional" if self._bidirectional else sampling.subgraph,
            "weight_attr": self._weight_attr,
            "num_nodes": self._graph.num_nodes,
            "num_edges": self._graph.num_edges,
            "num_inputs": self._num_inputs(),
            "input_crc32": self._input_crc32,
        }

    @cached_property
    def _input_crc32(self) -> int:
        return checksum(self._inputs())

    def _num_batches(self) -> int | None:
        """Return the number of batches of an epoch; None if a sampler does not tell it."""
        try:
            return len(self)
        except TypeError:
            return None

    def __iter__(self) -> Iterator[Data]:
        number, first = self._next_epoch, self._first_batch
        self._next_epoch, self._first_batch = number + 1, 0
        self._position = (number, first)
        if self._replanner is not None:
            self._options.num_workers = self._replanner.workers_of_next(number, self._times, self.num_workers)
        self._times = Times()
        return Batches(self, number, first, self.plan, self._loader, self._order(number))

    def trial(self, plan: LoaderPlan, batches: int, only_structure: bool = False) -> Batches:
        """Return batches for measuring a plan. They do not affect the loader's epochs and state.

        Parameters
        ----------
        plan
            How they are prepared.
        batches
            How many there are.
        only_structure
            Leave the attributes out, and the batches on the host.
        """
        order = repeated(*self._order(_TRIAL_EPOCH), batches)
        return Batches(self, _TRIAL_EPOCH, 0, plan, self._loader_for(plan), order, False, only_structure)

    def __call__(self, index: Any) -> Any:
        """Sample one mini-batch outside of the epochs, in the calling thread.

        Parameters
        ----------
        index : Tensor, array or list of int
            Positions in the input, or a mask of it: in ``input_nodes`` or in the links. Each call draws anew; the draws
            of call ``i`` of a loader depend on its arguments, ``i`` and the seeds only.
        """
        positions = ids_of(index, "index", self._num_inputs(), "inputs")
        number, self._num_calls = self._num_calls, self._num_calls + 1
        sampling = replace(self._sampling, seed=(self._sampling.seed + _CALLS_SEED) % 2**64)
        if self._kept_caller is None or self._kept_caller[0] != sampling:
            self._kept_caller = sampling, self._made_loader(sampling)
        order = positions, torch.tensor([0, positions.numel()])
        plan = replace(self.plan, workers=0)
        return next(Batches(self, number, 0, plan, self._kept_caller[1], order, in_epoch=False))

    def report(self) -> Report:
        """Report on the current or last epoch: its times, its bottleneck, and predictions for other settings."""
        replanned = [] if self._replanner is None else self._replanner.changes
        plan, cores = self.plan, library.gnomon_usable_cores()
        return make_report(self._times, plan.workers, plan.threads_per_batch, cores, replanned)

    def _order(self, epoch: int) -> tuple[Tensor, Tensor]:
        options, count = self._options, self._num_inputs()
        if options.batch_sampler is not None:
            indices: Any = options.batch_sampler
        elif options.sampler is not None:
            indices = options.sampler
        elif options.shuffle:
            indices = part_of_rank(epoch_order(count, options.seed, epoch), options)
        else:
            indices = part_of_rank(torch.arange(count), options)
        return batches_of(indices, count, options)

    def _num_inputs(self) -> int:
        return self._inputs()[0].numel()

    # ---- What the kinds of loaders differ in ----

    def _inputs(self) -> tuple[Tensor, ...]:
        """Return the nodes to batch, or the sources and destinations of the links."""
        raise NotImplementedError

    def _seeds(self, positions: Tensor) -> dict[str, Any]:
        """Return the fields of EpochInput that determine the seeds, for these positions of the input."""
        raise NotImplementedError

    def _metadata(self, raw: RawBatch, positions: Tensor) -> dict[str, Any]:
        """Return the fields of a batch that describe its input."""
        raise NotImplementedError

    # ---- Batches ----

    def _collate(self, raw: RawBatch, attributes: Attributes, positions: Tensor) -> Any:
        metadata = self._metadata(raw, positions)
        if self._bidirectional or self.transform_sampler_output is not None:
            batch = self._filtered(raw, attributes, metadata)
        else:
            batch = assembled(raw, attributes)
            add_sample(batch, raw.nodes, raw.edge_ids, raw.trees, raw.num_sampled_nodes, raw.num_sampled_edges)
        for key, value in metadata.items():
            batch[key] = value
        if self._options.pin_memory and torch.cuda.is_available():
            batch = batch.pin_memory()  # copies what was not gathered into page-locked memory
        return batch if self.transform is None else self.transform(batch)

    def _filtered(self, raw: RawBatch, attributes: Attributes, metadata: dict[str, Any]) -> Data:
        """Assemble the batch as PyG does, after the sample was changed."""
        out = sampler_output(raw, self._bidirectional)
        out.metadata = tuple(metadata.values())
        if self.transform_sampler_output is not None:
            out = self.transform_sampler_output(out)
        if isinstance(self.data, Store):
            batch = assembled(raw, attributes)
            batch.edge_index = torch.stack([out.row, out.col])
        elif isinstance(self.data, tuple):
            batch = filter_custom_store(*self.data, out.node, out.row, out.col, out.edge)
        else:
            batch = filter_data(self.data, out.node, out.row, out.col, out.edge, None)
        add_sample(batch, out.node, out.edge, out.batch, out.num_sampled_nodes, out.num_sampled_edges)
        return batch
