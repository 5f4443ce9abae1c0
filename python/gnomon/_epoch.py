"""Loaders and epochs of the C API."""

from __future__ import annotations

import ctypes
import operator
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gnomon import _library
from gnomon._lending import LentMemory
from gnomon._library import GnomonError, InvalidInput, check, library
from gnomon._tensors import take
from gnomon.graph import Graph

_Take = Callable[[int], Tensor]
# Seconds between two checks for signals, such as Ctrl-C.
_WAIT_S = 0.1


@dataclass(frozen=True)
class Sampling:
    """The sampling rule of a loader.

    Attributes
    ----------
    fanouts
        Neighbours of each hop, from the seeds outwards; -1 for all, 0 for none.
    seed
        Random seed of all draws.
    expansion
        ``"once"``: a vertex is expanded in the hop after its first appearance, as pyg-lib does. ``"every_hop"``: all
        vertices seen so far are expanded in every hop, as DGL does.
    replace, disjoint
        Sample with replacement; give every seed a subgraph of its own.
    subgraph
        ``"directional"``: the sampled edges. ``"induced"``: all edges between the sampled vertices.
    threads_per_batch
        Threads that prepare one batch together.
    pin_threads
        Whether each worker and each thread of its batches is pinned to one core.
    """

    fanouts: tuple[int, ...]
    seed: int = 0
    expansion: str = "once"
    replace: bool = False
    disjoint: bool = False
    subgraph: str = "directional"
    threads_per_batch: int = 1
    pin_threads: bool = False


@dataclass
class RawBatch:
    """A prepared batch. See ``gnomon_batch`` in ``gnomon.h``."""

    index: int
    num_sampled_nodes: list[int] | None
    num_sampled_edges: list[int] | None
    nodes: Tensor
    edges: Tensor
    edge_ids: Tensor
    trees: Tensor | None
    endpoints: Tensor | None
    node_attributes: list[Tensor]
    edge_attributes: list[Tensor]
    sample_s: float
    gather_s: float
    places: tuple[Tensor, Tensor, Tensor] | None = None
    """With a cache: the positions of the gathered rows, those of the others, and where the cache holds these."""


@dataclass
class EpochInput:
    """The batches of an epoch.

    Attributes
    ----------
    epoch
        The number of the epoch.
    seeds
        int64: nodes, or the sources of links.
    begins
        int64, batches + 1: positions in ``seeds``.
    link_ends
        int64: the destinations of links.
    negatives, negatives_per_link
        Negative sampling of links: its kind in the C API, and the number of negatives per link.
    first_batch
        The batch to start from.
    num_workers, max_ahead
        Threads that prepare batches, and the maximum number of batches that are ready or being prepared.
    store_features, node_attributes, edge_attributes
        The attributes to gather; the features of a store come before the other attributes of nodes.
    cache_slots
        int32, nodes: the slot of each node's first attribute in a cache, -1 if it is not cached. Cached rows are not
        gathered.
    keep
        Objects that must live as long as the epoch.
    """

    epoch: int
    seeds: Tensor
    begins: Tensor
    link_ends: Tensor | None = None
    negatives: int = _library.NO_NEGATIVES
    negatives_per_link: float = 0.0
    first_batch: int = 0
    num_workers: int = 0
    max_ahead: int = 1
    store_features: bool = False
    node_attributes: Sequence[_library.DLTensor] = ()
    edge_attributes: Sequence[_library.DLTensor] = ()
    cache_slots: Tensor | None = None
    keep: Any = None


class CLoader:
    """A loader of the C API."""

    def __init__(self, graph: Graph, sampling: Sampling) -> None:
        fanouts = (ctypes.c_int32 * len(sampling.fanouts))(*sampling.fanouts)
        given = _library.Sampling(
            num_hops=len(fanouts),
            fanouts=fanouts,
            seed=sampling.seed % 2**64,
            expansion=_library.EXPANSIONS[sampling.expansion],
            replace=sampling.replace,
            disjoint=sampling.disjoint,
            subgraph=_library.SUBGRAPHS[sampling.subgraph],
            threads_per_batch=sampling.threads_per_batch,
            pin_threads=sampling.pin_threads,
        )
        self.handle = ctypes.c_void_p()
        weakref.finalize(self, library.gnomon_loader_free, self.handle)
        check(library.gnomon_loader_new(graph.handle, given, ctypes.byref(self.handle)))
        self.take: _Take = take
        """Makes a tensor from the DLManagedTensor at an address."""

    def lock_pages(self, lock: _library.PageLock) -> None:
        """Page-lock (pin) the memory of large tensors, from the next batch on."""
        check(library.gnomon_loader_lock_pages(self.handle, lock))

    def share(self, run: ctypes.c_void_p, count: int) -> None:
        """Prepare batches of epochs without workers by this many threads of an OpenMP runtime, the caller's included.

        Parameters
        ----------
        run
            Its GOMP_parallel.
        count
            Number of threads.
        """
        check(library.gnomon_loader_share(self.handle, _library.Threads(run=run, count=count)))

    def lend_from(self, allocate: Callable[[int], Tensor]) -> None:
        """Make large tensors in memory of this allocator, which returns uint8 tensors of a number of bytes."""
        self.take = LentMemory(self.handle, allocate).take

    def begin(self, given: EpochInput) -> Epoch:
        """Begin an epoch."""
        return Epoch(self, given)


class Epoch:
    """The batches of an epoch, in order. Thread-safe."""

    def __init__(self, loader: CLoader, given: EpochInput) -> None:
        def array(tensors: Sequence[_library.DLTensor]) -> Any:
            return (_library.DLTensor * max(len(tensors), 1))(*tensors)

        nodes, edges = array(given.node_attributes), array(given.edge_attributes)
        self._take = loader.take
        self._num_attributes = (len(given.node_attributes) + given.store_features, len(given.edge_attributes))
        passed = _library.EpochInput(
            epoch=given.epoch,
            num_batches=len(given.begins) - 1,
            batch_begins=given.begins.data_ptr(),
            seeds=given.seeds.data_ptr(),
            link_ends=None if given.link_ends is None else given.link_ends.data_ptr(),
            negatives=given.negatives,
            negatives_per_link=given.negatives_per_link,
            first_batch=given.first_batch,
            num_workers=given.num_workers,
            max_ahead=given.max_ahead,
            store_features=given.store_features,
            num_vertex_attributes=len(given.node_attributes),
            vertex_attributes=nodes,
            num_edge_attributes=len(given.edge_attributes),
            edge_attributes=edges,
            cache_slots=None if given.cache_slots is None else given.cache_slots.data_ptr(),
        )
        self._handle = ctypes.c_void_p()
        self._lock = threading.RLock()
        # The finalizer keeps the threads' inputs alive until they have ended. It also runs when the interpreter exits,
        # while another thread may still wait for a batch.
        kept = (given, nodes, edges, loader)
        # It exists before the epoch, so that an interrupt leaves no threads behind.
        self._close = weakref.finalize(self, _free_epoch, self._handle, self._lock, kept)
        check(library.gnomon_epoch_begin(loader.handle, passed, ctypes.byref(self._handle)))

    def close(self) -> None:
        """Stop and join the threads. Idempotent."""
        self._close()

    def next(self, timeout_s: float = 0.0) -> RawBatch | None:
        """Return the next batch, None after the last.

        Raises
        ------
        gnomon.GnomonError
            If ``timeout_s`` is positive and no batch is ready after it.
        """
        deadline = time.monotonic() + timeout_s if timeout_s > 0 else None
        while self._close.alive:
            left_s = _WAIT_S if deadline is None else deadline - time.monotonic()
            batch = self._taken_within(min(_WAIT_S, max(0.0, left_s)))
            if batch is not None or not self._close.alive:
                return batch
            if deadline is not None and time.monotonic() >= deadline:
                raise GnomonError(f"timeout: no batch was ready after {timeout_s} s")
        return None

    def poll(self) -> RawBatch | None:
        """Return the next batch if it is ready, otherwise None; None also after the last batch."""
        return self._taken_within(0.0)

    def _taken_within(self, seconds: float) -> RawBatch | None:
        with self._lock:
            return self._taken_locked(seconds) if self._close.alive else None

    def _taken_locked(self, seconds: float) -> RawBatch | None:
        batch = ctypes.POINTER(_library.Batch)()
        status = library.gnomon_epoch_next(self._handle, seconds, ctypes.byref(batch))
        if status == _library.PENDING:
            return None
        if status == _library.END:
            self.close()
            return None
        check(status)
        try:
            return self._taken(batch.contents)
        finally:
            library.gnomon_batch_free(batch)

    def _taken(self, batch: _library.Batch) -> RawBatch:
        hops = batch.num_hops
        num_nodes, num_edges = self._num_attributes
        take = self._take
        return RawBatch(
            index=batch.index,
            num_sampled_nodes=batch.num_sampled_nodes[: hops + 1] if hops else None,
            num_sampled_edges=batch.num_sampled_edges[:hops] if hops else None,
            nodes=_take_field(batch, "vertices", take),
            edges=_take_field(batch, "edges", take),
            edge_ids=_take_field(batch, "edge_ids", take),
            trees=_take_field(batch, "trees", take),
            endpoints=_take_field(batch, "endpoints", take),
            node_attributes=_take_all(batch.vertex_attributes, num_nodes, take),
            edge_attributes=_take_all(batch.edge_attributes, num_edges, take),
            sample_s=batch.sample_s,
            gather_s=batch.gather_s,
            places=_take_places(batch, take),
        )


def _free_epoch(handle: ctypes.c_void_p, lock: threading.RLock, kept: Any) -> None:  # type: ignore[valid-type]
    with lock:
        library.gnomon_epoch_free(handle)
    del kept


def _take_field(batch: _library.Batch, name: str, take: _Take) -> Any:
    pointer = getattr(batch, name)
    if pointer is None:
        return None
    setattr(batch, name, None)  # first: an interrupt between these lines must not free the tensor twice
    return take(pointer)


def _take_places(batch: _library.Batch, take: _Take) -> tuple[Tensor, Tensor, Tensor] | None:
    if batch.cached_slots is None:
        return None
    gathered, cached, slots = (
        _take_field(batch, name, take) for name in ("gathered_positions", "cached_positions", "cached_slots")
    )
    return gathered, cached, slots


def _take_all(pointers: Any, count: int, take: _Take) -> list[Tensor]:
    tensors = []
    for i in range(count):
        pointer, pointers[i] = pointers[i], None
        tensors.append(take(pointer))
    return tensors


def epoch_order(count: int, seed: int, epoch: int) -> Tensor:
    """Return a permutation of 0 … count - 1 that depends on seed and epoch only."""
    order = torch.empty(count, dtype=torch.int64)
    library.gnomon_epoch_order(count, seed % 2**64, epoch, order.data_ptr())
    return order


def check_fanouts(fanouts: Sequence[int]) -> tuple[int, ...]:
    """Return the fanouts as a tuple of int. Raises InvalidInput, naming ``num_neighbors``."""
    try:
        values = tuple(operator.index(each) for each in fanouts)
    except (TypeError, ValueError):
        raise InvalidInput(f"num_neighbors: must be a list of integers, not {fanouts!r}") from None
    for hop, value in enumerate(values):
        if not -1 <= value <= 512:
            raise InvalidInput(f"num_neighbors[{hop}]: {value} is out of range; use -1 (all) or 0 to 512")
    if not 1 <= len(values) <= 255:
        raise InvalidInput(f"num_neighbors: must have 1 to 255 hops, not {len(values)}")
    return values
