"""Choose how a loader prepares its batches by measuring."""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from gnomon._library import InvalidInput, library
from gnomon.loader_plan import LoaderPlan
from gnomon.replanning import Replanner
from gnomon.report import TIE, Costs, Times, add_times, costs_of, seconds_per_batch

if TYPE_CHECKING:
    from gnomon.pyg._base import BaseLoader, _Batches

_log = logging.getLogger("gnomon")
_MAX_THREADS_PER_BATCH = 8


@dataclass
class Tuning:
    """What :func:`autotune` measured and chose.

    Attributes
    ----------
    workers, threads_per_batch, prefetch_factor
        Chosen, and set in the loader.
    costs
        Of one batch with that many threads per batch, measured one thing at a time.
    plans
        Records of ``workers``, ``threads_per_batch``, ``prefetch_factor``, ``predicted_s`` and ``measured_s`` (None if
        it was not tried) of a batch.
    """

    workers: int
    costs: Costs
    plans: list[dict[str, Any]]
    threads_per_batch: int = 1
    prefetch_factor: int = 2

    @property
    def predicted_s(self) -> float:
        """The predicted time of a batch with the chosen plan."""
        return self._chosen["predicted_s"]

    @property
    def measured_s(self) -> float:
        """Its measured time."""
        return self._chosen["measured_s"]

    @property
    def _chosen(self) -> dict[str, Any]:
        chosen = LoaderPlan(self.workers, self.threads_per_batch, self.prefetch_factor)
        return next(plan for plan in self.plans if _plan_of(plan) == chosen)

    def __str__(self) -> str:
        lines = [_described(self._chosen)]
        lines += ["  " + _described(plan) for plan in self.plans]
        return "\n".join(lines)


def _plan_of(record: dict[str, Any]) -> LoaderPlan:
    return LoaderPlan(record["workers"], record["threads_per_batch"], record["prefetch_factor"])


def _described(record: dict[str, Any]) -> str:
    measured = "" if record["measured_s"] is None else f", measured {1e3 * record['measured_s']:.2f} ms"
    return (
        f"{record['workers']} worker(s): predicted {1e3 * record['predicted_s']:.2f} ms a batch{measured}"
        f" ({record['threads_per_batch']} thread(s) a batch, prefetch factor {record['prefetch_factor']})"
    )


def autotune(
    loader: BaseLoader,
    step: Callable[[Any], Any],
    *,
    batches: int = 20,
    trials: int = 3,
    max_workers: int | None = None,
    replan: bool = True,
) -> Tuning:
    """Choose how a loader prepares its batches beside a training step.

    Measures the preparation of batches and the step, predicts the time of a batch for each number of workers and of
    threads per batch, tries the best predictions for real, and the fastest of them with twice the buffers; sets the
    fastest of all. The batches of the loader's epochs stay the same.

    Parameters
    ----------
    loader
        A loader of ``gnomon.pyg``.
    step
        What is done with each batch: any function, of any framework, on any device. It is called on
        ``batches * (trials + 2)`` batches and a few more, and does to the model what it does; give it a copy of the
        model where that matters. It should wait for a GPU to finish.
    batches
        How many are measured at a time.
    trials
        How many predicted plans are tried.
    max_workers
        None: the cores that the process may use.
    replan
        Whether the loader changes its number of workers between epochs when preparing or the step takes 25 % more or
        less than in the trial, two epochs in a row, and another number is predicted to be 10 % faster. Each change is
        logged, and in ``loader.report().replanned``.

    Returns
    -------
    Tuning
    """
    for name, value, low in (("batches", batches, 3), ("trials", trials, 1)):
        if not isinstance(value, int) or value < low:
            raise InvalidInput(f"{name}: must be an integer from {low} on, not {value!r}")
    if not callable(step):
        raise InvalidInput("step: must be a function of a batch")
    if len(loader) < 1:
        raise InvalidInput("loader: has no batches")
    cores = library.gnomon_usable_cores()
    most = cores if max_workers is None else max_workers
    costs = _costs_by_threads(loader, step, batches, cores)
    plans = [
        _record(LoaderPlan(workers, threads, 2), each, cores)
        for threads, each in costs.items()
        for workers in range(most + 1)
    ]
    shown: dict[LoaderPlan, Times] = {}
    for record in sorted(plans, key=_rank)[:trials]:
        _try(record, loader, step, batches, shown)
    chosen = _fastest(plans)
    if chosen["workers"] > 0:
        with_buffers = replace(_plan_of(chosen), prefetch_factor=2 * chosen["prefetch_factor"])
        plans.append(_record(with_buffers, costs[with_buffers.threads_per_batch], cores))
        _try(plans[-1], loader, step, batches, shown)
        chosen = _fastest(plans)
    plan = _plan_of(chosen)
    alone = costs[plan.threads_per_batch]
    tuning = Tuning(plan.workers, alone, plans, plan.threads_per_batch, plan.prefetch_factor)
    loader._follow(plan, Replanner(alone, costs_of(shown[plan], cores), cores, most) if replan else None)
    _log.info("autotune: %s", tuning)
    return tuning


def _record(plan: LoaderPlan, costs: Costs, cores: int) -> dict[str, Any]:
    return {
        "workers": plan.workers,
        "threads_per_batch": plan.threads_per_batch,
        "prefetch_factor": plan.prefetch_factor,
        "predicted_s": seconds_per_batch(costs, plan.workers, cores),
        "measured_s": None,
    }


def _rank(record: dict[str, Any]) -> tuple[float, LoaderPlan]:
    return record["predicted_s"], _plan_of(record)


def _fastest(records: list[dict[str, Any]]) -> dict[str, Any]:
    """The least plan that is as fast as the fastest of those that were tried."""
    tried = [record for record in records if record["measured_s"] is not None]
    fastest = min(record["measured_s"] for record in tried)
    return min((each for each in tried if each["measured_s"] <= (1 + TIE) * fastest), key=_plan_of)


def _costs_by_threads(loader: BaseLoader, step: Callable[[Any], Any], batches: int, cores: int) -> dict[int, Costs]:
    """Measure what a batch costs for each number of threads that may share its preparation."""
    alone = _measure_costs(loader.trial(LoaderPlan(0), batches + 1), step)
    costs, threads = {1: alone}, 2
    while threads <= min(cores, _MAX_THREADS_PER_BATCH):
        shared = _measure_costs(loader.trial(LoaderPlan(0, threads), batches + 1), lambda batch: None)
        costs[threads] = replace(alone, prepare_s=shared.prepare_s, prepare_cores=shared.prepare_cores)
        threads *= 2
    return costs


def _measure_costs(given_out: _Batches, step: Callable[[Any], Any]) -> Costs:
    """Measure one thing at a time, in the caller's thread: medians, after a batch that warms up."""
    prepare, prepare_cpu, hand_over, steps, cpu = [], [], [], [], []
    begin_cpu = time.process_time()
    for batch in given_out:
        begin, got_cpu = time.perf_counter(), time.process_time()
        step(batch)
        steps.append(time.perf_counter() - begin)
        last = given_out.last
        prepare.append(last.sample_s + last.gather_s)
        prepare_cpu.append(got_cpu - begin_cpu - last.hand_over_s)
        hand_over.append(last.hand_over_s)
        begin_cpu = time.process_time()
        cpu.append(begin_cpu - got_cpu)

    def typical(values: list[float]) -> float:
        return statistics.median(values[1:] or values)

    def per_second(cpu_s: float, wall_s: float, least: float) -> float:
        return max(cpu_s / wall_s, least) if wall_s > 0 else least

    step_s, prepare_s = typical(steps), typical(prepare)
    return Costs(
        prepare_s=prepare_s,
        hand_over_s=typical(hand_over),
        step_s=step_s,
        step_cores=per_second(typical(cpu), step_s, 0.0),
        prepare_cores=per_second(typical(prepare_cpu), prepare_s, 1.0),
    )


def _try(
    record: dict[str, Any],
    loader: BaseLoader,
    step: Callable[[Any], Any],
    batches: int,
    shown: dict[LoaderPlan, Times],
) -> None:
    """Measure the time of a batch with a plan, in its steady state, and what its parts take."""
    plan = _plan_of(record)
    warm_up = 1 + plan.workers * plan.prefetch_factor  # batches that were prepared ahead while nothing was done
    given_out = loader.trial(plan, batches + warm_up)
    for batch in islice(given_out, warm_up):
        step(batch)
    begin, times = time.perf_counter(), Times()
    for batch in given_out:
        step(batch)
        add_times(times, given_out.last)
    record["measured_s"] = (time.perf_counter() - begin) / max(times.batches, 1)
    shown[plan] = times
