"""Choose how a loader prepares its batches by measuring."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from gnomon._library import GnomonError, InvalidInput, library
from gnomon.loader_plan import LoaderPlan
from gnomon.measuring import Measured, measure_costs, measure_plan
from gnomon.replanning import Replanner
from gnomon.report import TIE, Costs, Times, costs_of, seconds_per_batch

if TYPE_CHECKING:
    from gnomon.pyg._base import BaseLoader

_log = logging.getLogger("gnomon")
_MAX_THREADS_PER_BATCH = 8
# Default share of a device's free memory for a cache; and the shares of that limit that are tried.
_CACHE_SHARE = 0.5
_CACHE_PARTS = (0.25, 0.5, 1.0)


@dataclass
class Tuning:
    """What :func:`autotune` measured and chose.

    Attributes
    ----------
    plan : LoaderPlan
        The chosen plan, which the loader now uses.
    costs : Costs
        The cost of one batch with the chosen threads per batch and cache, each part measured alone.
    plans : list of dict
        Records of the fields of a :class:`LoaderPlan`, and ``predicted_s`` and ``measured_s`` per batch (None if the
        plan was not tried).
    """

    plan: LoaderPlan
    costs: Costs
    plans: list[dict[str, Any]]

    @property
    def workers(self) -> int:
        """Threads that prepare batches ahead."""
        return self.plan.workers

    @property
    def threads_per_batch(self) -> int:
        """Threads that prepare one batch together."""
        return self.plan.threads_per_batch

    @property
    def prefetch_factor(self) -> int:
        """Maximum number of batches per worker that are ready or being prepared."""
        return self.plan.prefetch_factor

    @property
    def predicted_s(self) -> float:
        """The predicted time per batch with the chosen plan."""
        return self._chosen["predicted_s"]

    @property
    def measured_s(self) -> float:
        """The measured time per batch with the chosen plan."""
        return self._chosen["measured_s"]

    @property
    def _chosen(self) -> dict[str, Any]:
        return next(record for record in self.plans if _plan_of(record) == self.plan)

    def __str__(self) -> str:
        lines = [_described(self._chosen)]
        lines += ["  " + _described(record) for record in self.plans]
        return "\n".join(lines)


def _plan_of(record: dict[str, Any]) -> LoaderPlan:
    return LoaderPlan(**{each.name: record[each.name] for each in fields(LoaderPlan)})


def _described(record: dict[str, Any]) -> str:
    measured = "" if record["measured_s"] is None else f", measured {1e3 * record['measured_s']:.2f} ms"
    how = [f"{record['threads_per_batch']} thread(s) a batch", f"prefetch factor {record['prefetch_factor']}"]
    how += ["pinned"] if record["pinned"] else []
    how += ["spread over the NUMA nodes"] if record["spread"] else []
    how += [f"{record['cached_rows']} rows on the device"] if record["cached_rows"] else []
    return (
        f"{record['workers']} worker(s): predicted {1e3 * record['predicted_s']:.2f} ms a batch{measured}"
        f" ({', '.join(how)})"
    )


def autotune(
    loader: BaseLoader,
    step: Callable[[Any], Any],
    *,
    batches: int = 20,
    trials: int = 3,
    max_workers: int | None = None,
    cache_bytes: int | None = None,
    replan: bool = True,
) -> Tuning:
    """Choose how a loader prepares its batches beside a training step.

    Measures the preparation of batches and the step, and predicts the time per batch for each number of workers and of
    threads per batch, and, for a loader with a ``device``, for several sizes of a cache of ``x`` on the device. It runs
    the plans with the best predictions, then variations of the fastest one: twice the prefetch factor, pinned threads,
    and, on machines with several NUMA nodes, interleaved memory. The loader then uses the fastest plan. The batches
    stay the same.

    Parameters
    ----------
    loader : NeighborLoader or LinkNeighborLoader
        A loader of ``gnomon.pyg``.
    step : callable
        The training step, called with each batch: any function, of any framework, on any device. It is called about
        ``batches * (trials + 4)`` times and really trains: use a copy of the model if that matters. It should wait
        until a GPU has finished.
    batches : int
        Number of batches per measurement.
    trials : int
        Number of predicted plans to run.
    max_workers : int, optional
        Maximum number of workers; None: the number of cores that the process may use.
    cache_bytes : int, optional
        Maximum device memory of a cache of rows of ``x``; 0: no cache. None: half of the memory that is free during a
        step.
    replan : bool
        Whether the loader changes its number of workers between epochs: when preparation or step takes 25 % more or
        less than in the trial in two consecutive epochs, and another number is predicted to be 10 % faster. Each
        change is logged and listed in ``loader.report().replanned``.

    Returns
    -------
    Tuning
    """
    for name, value, low in (("batches", batches, 3), ("trials", trials, 1)):
        if not isinstance(value, int) or value < low:
            raise InvalidInput(f"{name}: must be an integer from {low} on, not {value!r}")
    if cache_bytes is not None and (not isinstance(cache_bytes, int) or cache_bytes < 0):
        raise InvalidInput(f"cache_bytes: must be a number of bytes, not {cache_bytes!r}")
    if not callable(step):
        raise InvalidInput("step: must be a function of a batch")
    if len(loader) < 1:
        raise InvalidInput("loader: has no batches")
    cores = library.gnomon_usable_cores()
    most = cores if max_workers is None else max_workers
    search = _Search(loader, step, batches, cores)
    search.measure()
    sizes = [0, *cache_sizes(loader, cache_bytes)]
    search.predict(
        LoaderPlan(workers, threads, cached_rows=rows)
        for threads in search.costs
        for workers in range(most + 1)
        for rows in sizes
    )
    search.try_best(trials)
    search.try_changed(lambda plan: replace(plan, prefetch_factor=2 * plan.prefetch_factor))
    if cores > 1:
        search.try_changed(lambda plan: replace(plan, pinned=True))
    if library.gnomon_memory_nodes() > 1:
        search.try_changed(lambda plan: replace(plan, spread=True))
    plan = _plan_of(search.fastest())
    alone = search.costs_of(plan)
    tuning = Tuning(plan, alone, search.records)
    loader._follow(plan, Replanner(alone, costs_of(search.shown[plan], cores), cores, most) if replan else None)
    _log.info("autotune: %s", tuning)
    return tuning


def cache_sizes(loader: BaseLoader, cache_bytes: int | None) -> list[int]:
    """Return the sizes to try for a cache on the loader's device, in rows of ``x``; none without a device."""
    matrix = loader.cached_matrix(or_none=True)
    if matrix is None or matrix.numel() == 0:
        return []
    budget = int(_CACHE_SHARE * loader.free_bytes()) if cache_bytes is None else cache_bytes
    row_bytes = matrix[0].numel() * matrix.element_size()
    most = min(budget // row_bytes, matrix.shape[0])
    return sorted({int(part * most) for part in _CACHE_PARTS} - {0})


class _Search:
    """The predicted and the measured plans of a loader for a training step."""

    def __init__(self, loader: BaseLoader, step: Callable[[Any], Any], batches: int, cores: int) -> None:
        self._loader, self._step, self._batches, self._cores = loader, step, batches, cores
        self.costs: dict[int, Measured] = {}  # by threads per batch
        self.records: list[dict[str, Any]] = []
        self.shown: dict[LoaderPlan, Times] = {}  # of the measured plans

    def measure(self) -> None:
        """Measure the cost of a batch for each number of threads per batch."""
        alone = measure_costs(self._loader.trial(LoaderPlan(0), self._batches + 1), self._step)
        self.costs, threads = {1: alone}, 2
        while threads <= min(self._cores, _MAX_THREADS_PER_BATCH):
            shared = measure_costs(self._loader.trial(LoaderPlan(0, threads), self._batches + 1), lambda batch: None)
            self.costs[threads] = replace(
                shared,
                costs=replace(alone.costs, prepare_s=shared.costs.prepare_s, prepare_cores=shared.costs.prepare_cores),
            )
            threads *= 2

    def costs_of(self, plan: LoaderPlan) -> Costs:
        """Return the cost of a batch with a plan's threads per batch and cache."""
        measured = self.costs[plan.threads_per_batch]
        if plan.cached_rows == 0:
            return measured.costs
        return measured.with_hits(float(self._loader.hotness().hits[plan.cached_rows]))

    def predict(self, plans: Iterable[LoaderPlan]) -> None:
        """Add plans with their predicted times."""
        for plan in plans:
            predicted_s = seconds_per_batch(self.costs_of(plan), plan.workers, self._cores)
            self.records.append({**asdict(plan), "predicted_s": predicted_s, "measured_s": None})

    def try_best(self, count: int) -> None:
        """Measure the plans with the best predictions. Of equal ones the plan with the fewest resources comes first."""
        best = sorted(self.records, key=lambda record: (record["predicted_s"], _plan_of(record)))
        for record in best[:count]:
            self._try(record)

    def try_changed(self, change: Callable[[LoaderPlan], LoaderPlan]) -> None:
        """Measure a variation of the fastest plan, if it has workers. Skipped if the system refuses it."""
        plan = _plan_of(self.fastest())
        if plan.workers == 0:
            return
        self.predict([change(plan)])
        try:
            self._try(self.records[-1])
        except GnomonError as error:
            _log.info("autotune: without %s: %s", _described(self.records.pop()), error)

    def fastest(self) -> dict[str, Any]:
        """Return, of the measured plans that are as fast as the fastest, the one with the fewest resources."""
        tried = [record for record in self.records if record["measured_s"] is not None]
        fastest = min(record["measured_s"] for record in tried)
        return min((each for each in tried if each["measured_s"] <= (1 + TIE) * fastest), key=_plan_of)

    def _try(self, record: dict[str, Any]) -> None:
        plan = _plan_of(record)
        record["measured_s"], self.shown[plan] = measure_plan(self._loader, plan, self._step, self._batches)
