"""Choose a loader's workers by measuring."""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from gnomon._library import InvalidInput, library
from gnomon.report import Costs, seconds_per_batch

if TYPE_CHECKING:
    from gnomon.pyg._base import BaseLoader

_log = logging.getLogger("gnomon")
# Plans within so much of the fastest are as good; that of fewer workers is taken.
_TIE = 0.03


@dataclass
class Tuning:
    """What :func:`autotune` measured and chose.

    Attributes
    ----------
    workers
        Chosen, and set in the loader.
    costs
        Of one batch, measured one thing at a time.
    plans
        Records of ``workers``, ``predicted_s`` and ``measured_s`` (None if it was not tried) of a batch.
    """

    workers: int
    costs: Costs
    plans: list[dict[str, Any]]

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
        return next(plan for plan in self.plans if plan["workers"] == self.workers)

    def __str__(self) -> str:
        lines = [f"{self.workers} worker(s): predicted {1e3 * self.predicted_s:.2f} ms a batch, measured"]
        lines[0] += f" {1e3 * self.measured_s:.2f} ms"
        for plan in self.plans:
            measured = "" if plan["measured_s"] is None else f", measured {1e3 * plan['measured_s']:.2f} ms"
            lines.append(f"  {plan['workers']} worker(s): predicted {1e3 * plan['predicted_s']:.2f} ms{measured}")
        return "\n".join(lines)


def autotune(
    loader: BaseLoader,
    step: Callable[[Any], Any],
    *,
    batches: int = 20,
    trials: int = 3,
    max_workers: int | None = None,
) -> Tuning:
    """Choose the loader's number of workers for a training step.

    Measures the preparation of batches and the step, predicts the time of a batch for each number of workers, tries the
    best predictions for real, and sets the fastest. The batches of the loader's epochs stay the same.

    Parameters
    ----------
    loader
        A loader of ``gnomon.pyg``.
    step
        What is done with each batch: any function, of any framework, on any device. It is called on
        ``batches * (trials + 1)`` batches and a few more, and does to the model what it does; give it a copy of the
        model where that matters. It should wait for a GPU to finish.
    batches
        How many are measured at a time.
    trials
        How many numbers of workers are tried.
    max_workers
        None: the cores that the process may use.

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
    costs = _measure_costs(loader, step, batches)
    plans: list[dict[str, Any]] = [
        {"workers": workers, "predicted_s": seconds_per_batch(costs, workers, cores), "measured_s": None}
        for workers in range((cores if max_workers is None else max_workers) + 1)
    ]
    for plan in sorted(plans, key=lambda each: (each["predicted_s"], each["workers"]))[:trials]:
        plan["measured_s"] = _measure(loader, step, plan["workers"], batches)
    tried = [plan for plan in plans if plan["measured_s"] is not None]
    fastest = min(plan["measured_s"] for plan in tried)
    chosen = next(plan for plan in tried if plan["measured_s"] <= (1 + _TIE) * fastest)
    loader.num_workers = chosen["workers"]
    tuning = Tuning(chosen["workers"], costs, plans)
    _log.info("autotune: %s", tuning)
    return tuning


def _measure_costs(loader: BaseLoader, step: Callable[[Any], Any], batches: int) -> Costs:
    """Measure one thing at a time, in the caller's thread: medians, after a batch that warms up."""
    prepare, hand_over, steps, cpu = [], [], [], []
    given_out = loader.trial(workers=0, batches=batches + 1)
    for batch in given_out:
        begin, cpu_begin = time.perf_counter(), time.process_time()
        step(batch)
        steps.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - cpu_begin)
        last = given_out.last
        prepare.append(last.sample_s + last.gather_s)
        hand_over.append(last.hand_over_s)

    def typical(values: list[float]) -> float:
        return statistics.median(values[1:] or values)

    step_s = typical(steps)
    return Costs(typical(prepare), typical(hand_over), step_s, typical(cpu) / step_s if step_s > 0 else 0.0)


def _measure(loader: BaseLoader, step: Callable[[Any], Any], workers: int, batches: int) -> float:
    """Measure the time of a batch with so many workers, in their steady state."""
    warm_up = 1 + 2 * workers  # batches that were prepared ahead while nothing was done
    given_out = iter(loader.trial(workers=workers, batches=batches + warm_up))
    for batch in islice(given_out, warm_up):
        step(batch)
    begin, count = time.perf_counter(), 0
    for batch in given_out:
        step(batch)
        count += 1
    return (time.perf_counter() - begin) / max(count, 1)
