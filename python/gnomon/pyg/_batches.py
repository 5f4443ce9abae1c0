"""Iteration over the batches of an epoch."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnomon._epoch import CLoader, EpochInput, RawBatch
from gnomon._library import InvalidInput
from gnomon.graph import Store
from gnomon.loader_plan import LoaderPlan
from gnomon.pyg._device import Copies, Then, copier_of
from gnomon.pyg._source import Attributes, attributes_of
from gnomon.report import Times, add_times

if TYPE_CHECKING:
    from gnomon.pyg._base import BaseLoader


def assembled(raw: RawBatch, attributes: Attributes) -> Data:
    batch = copy.copy(attributes.template)
    edges = raw.edges
    if attributes.adjacency is not None:
        attributes.adjacency.add(batch, edges, raw.edge_ids, raw.nodes.numel())
    else:
        batch["edge_index"] = edges if attributes.edge_device is None else edges.to(attributes.edge_device)
    if attributes.sets_num_nodes:
        batch.num_nodes = raw.nodes.numel()
    for key, value in zip(attributes.node_keys, raw.node_attributes):
        batch[key] = value
    for key, value in zip(attributes.edge_keys, raw.edge_attributes):
        batch[key] = value
    if attributes.long_labels and "y" in batch:
        batch.y = batch.y.long() if attributes.target_rows is None else attributes.target_rows[batch.y.long()]
    attributes.add_late(batch, raw.nodes, raw.edge_ids)
    return batch


def add_sample(
    batch: Data,
    nodes: Tensor,
    edge_ids: Tensor | None,
    trees: Tensor | None,
    num_sampled_nodes: list[int] | None,
    num_sampled_edges: list[int] | None,
) -> None:
    if "n_id" not in batch:
        batch["n_id"] = nodes
    if edge_ids is not None and "e_id" not in batch:
        batch["e_id"] = edge_ids
    batch["batch"] = trees
    batch["num_sampled_nodes"] = num_sampled_nodes
    batch["num_sampled_edges"] = num_sampled_edges


class Batches:
    """An iteration over the rest of an epoch, or over batches outside of epochs, which do not affect the loader's state.

    ``order`` holds positions of the input, and where batches begin.
    """

    def __init__(
        self,
        loader: BaseLoader,
        number: int,
        first: int,
        plan: LoaderPlan,
        prepares: CLoader,
        order: tuple[Tensor, Tensor],
        in_epoch: bool = True,
        only_structure: bool = False,
    ) -> None:
        self._loader, self._number = loader, number
        self._in_epoch = in_epoch
        self._positions, self._begins = order
        if first > len(self):  # of samplers without a length
            raise InvalidInput(f"state['batch']: {first} is more than the {len(self)} batches of the epoch")
        self._clock = Clock()
        self.last = Times()  # of the last batch
        options = loader._options
        self._looks_ahead = plan.workers > 0
        self._ahead: Arrived | Exception | None = None  # the next batch, whose copy has started
        self._waits_for_copies = not in_epoch and plan.workers == 0
        copies = options.device is not None and not only_structure
        self._copies = Copies(copier_of(options.device)) if copies else None
        if only_structure:
            attributes = Attributes(Data())
        else:
            attributes = attributes_of(loader.data, loader._graph, options.stored)
        self._attributes = attributes
        self._cache = loader._cache_of(plan.cached_rows)
        if self._cache is not None:
            attributes.put_first("x")
        late = loader._bidirectional or loader.transform_sampler_output is not None
        gathers = not late or isinstance(loader.data, Store)
        self._epoch = prepares.begin(
            EpochInput(
                epoch=self._number,
                begins=self._begins,
                first_batch=first,
                num_workers=plan.workers,
                max_ahead=max(plan.workers * plan.prefetch_factor, 1),
                store_features=attributes.store_features,
                node_attributes=attributes.nodes if gathers else (),
                edge_attributes=attributes.edges if gathers else (),
                cache_slots=None if self._cache is None else self._cache.slots,
                keep=(copy.copy(loader.data), loader._graph),
                **loader._seeds(self._positions),
            )
        )

    def __iter__(self) -> Iterator[Any]:
        return self

    def __len__(self) -> int:
        return len(self._begins) - 1

    def __next__(self) -> Any:
        loader, clock = self._loader, self._clock
        clock.begin()
        arrived = self._next_arrived()
        if arrived is None:
            if self._in_epoch and loader._position[0] == self._number:
                loader._position = (self._number + 1, 0)
            raise StopIteration
        if self._copies is not None:
            self._copies.hand_over(arrived.batch, arrived.copied)
            self._look_ahead()
        if self._in_epoch:
            loader._position = (self._number, arrived.raw.index + 1)
        self.last = clock.end(arrived.raw)
        if self._in_epoch:
            add_times(loader._times, self.last)
        return arrived.batch

    def shares_of(self, key: str, batch: Any) -> tuple[float, float]:
        """Return the share of a node attribute in a batch's gathered bytes, and in all its bytes."""
        if key not in self._attributes.node_keys or not isinstance(batch, Data):
            return 0.0, 0.0
        sizes = {name: each.numel() * each.element_size() for name, each in batch if isinstance(each, Tensor)}
        keys = [*self._attributes.node_keys, *self._attributes.edge_keys]
        of_key, of_gathered = sizes.get(key, 0), sum(sizes.get(each, 0) for each in keys)
        return of_key / max(of_gathered, 1), of_key / max(sum(sizes.values()), 1)

    def _next_arrived(self) -> Arrived | None:
        """Wait for the next batch; None after the last."""
        if self._ahead is not None:
            self._clock.arrived()
            arrived, self._ahead = self._ahead, None
            if isinstance(arrived, Exception):
                raise arrived
            return arrived
        raw = self._epoch.next(self._loader._options.timeout)
        self._clock.arrived()
        return None if raw is None else self._received(raw)

    def _look_ahead(self) -> None:
        """Start to copy the next batch if it is ready. Errors are raised when that batch is requested."""
        try:
            if self._looks_ahead and (raw := self._epoch.poll()) is not None:
                self._ahead = self._received(raw)
        except Exception as error:  # noqa: BLE001 - whatever a transform raises
            self._ahead = error

    def _received(self, raw: RawBatch) -> Arrived:
        begin, end = self._begins[raw.index : raw.index + 2].tolist()
        batch = self._loader._collate(raw, self._attributes, self._positions[begin:end])
        if self._copies is None:
            return Arrived(raw, batch)
        then = None if self._cache is None else Then(self._cache.complete, raw.places)
        arrived = Arrived(raw, *self._copies.start(batch, then))
        if self._waits_for_copies:
            with self._clock.copying():
                arrived.copied.synchronize()
        return arrived


@dataclass
class Arrived:
    """A batch, and the event of its copy to a device."""

    raw: RawBatch
    batch: Any
    copied: Any = None


def repeated(positions: Tensor, begins: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return `count` batches: those of an epoch, repeated."""
    sizes = begins.diff()
    times = -(-count // sizes.numel())
    repeated = sizes.repeat(times)[:count]
    return positions[: int(begins[-1])].repeat(times), torch.nn.functional.pad(repeated.cumsum(0), (1, 0))


class Clock:
    """Measures the caller's times."""

    def __init__(self) -> None:
        self._given_out: float | None = None
        self._cpu = time.process_time()
        self._copy_s = 0.0

    def begin(self) -> None:
        """The caller requests a batch."""
        self._asked = time.perf_counter()

    def arrived(self) -> None:
        """The batch is ready."""
        self._there = time.perf_counter()

    @contextmanager
    def copying(self) -> Iterator[None]:
        """The caller waits for a copy, which does not count as assembly."""
        begin = time.perf_counter()
        yield
        self._copy_s = time.perf_counter() - begin

    def end(self, raw: RawBatch) -> Times:
        """The batch is handed out. Return its times; the step is that of the previous batch."""
        step_s = 0.0 if self._given_out is None else self._asked - self._given_out
        self._given_out = time.perf_counter()
        hand_over_s = self._given_out - self._there - self._copy_s
        cpu_before, self._cpu = self._cpu, time.process_time()
        # Meanwhile as many batches were prepared as were handed out.
        others_s = raw.sample_s + raw.gather_s + hand_over_s
        return Times(
            batches=1,
            sample_s=raw.sample_s,
            gather_s=raw.gather_s,
            wait_s=self._there - self._asked,
            hand_over_s=hand_over_s,
            step_s=step_s,
            step_cpu_s=max(self._cpu - cpu_before - others_s, 0.0) if step_s > 0 else 0.0,
            copy_s=self._copy_s,
        )
