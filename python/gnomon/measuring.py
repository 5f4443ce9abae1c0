"""Measure what a loader's batches cost beside a training step."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from gnomon.loader_plan import LoaderPlan
from gnomon.report import Costs, Times, add_times

if TYPE_CHECKING:
    from gnomon.pyg._base import BaseLoader
    from gnomon.pyg._batches import Batches


@dataclass(frozen=True)
class Measured:
    """The cost of one batch without a cache.

    Attributes
    ----------
    costs
        The costs of the batch.
    gather_s
        The part of the preparation that gathers attributes.
    x_of_gathered, x_of_copied
        The share of ``x`` in the bytes that are gathered, and in the bytes that are copied to a device.
    """

    costs: Costs
    gather_s: float = 0.0
    x_of_gathered: float = 0.0
    x_of_copied: float = 0.0

    def with_hits(self, hits: float) -> Costs:
        """Return the costs with a cache that holds that share of a batch's rows of ``x``."""
        return replace(
            self.costs,
            prepare_s=self.costs.prepare_s - hits * self.x_of_gathered * self.gather_s,
            copy_s=self.costs.copy_s * (1 - hits * self.x_of_copied),
        )


def measure_costs(given_out: Batches, step: Callable[[Any], Any]) -> Measured:
    """Measure preparation, copy and step one after another in the calling thread: medians, after a warm-up batch."""
    times: list[Times] = []
    steps, step_cpu, prepare_cpu, shares = [], [], [], []
    begin_cpu = time.process_time()
    for batch in given_out:
        begin, got_cpu = time.perf_counter(), time.process_time()
        step(batch)
        steps.append(time.perf_counter() - begin)
        times.append(given_out.last)
        prepare_cpu.append(got_cpu - begin_cpu - given_out.last.hand_over_s)
        shares.append(given_out.shares_of("x", batch))
        begin_cpu = time.process_time()
        step_cpu.append(begin_cpu - got_cpu)

    def typical(values: list[float]) -> float:
        return statistics.median(values[1:] or values)

    def per_second(cpu_s: float, wall_s: float, least: float) -> float:
        return max(cpu_s / wall_s, least) if wall_s > 0 else least

    step_s, prepare_s = typical(steps), typical([each.sample_s + each.gather_s for each in times])
    costs = Costs(
        prepare_s=prepare_s,
        hand_over_s=typical([each.hand_over_s for each in times]),
        step_s=step_s,
        step_cores=per_second(typical(step_cpu), step_s, 0.0),
        prepare_cores=per_second(typical(prepare_cpu), prepare_s, 1.0),
        copy_s=typical([each.copy_s for each in times]),
    )
    of_gathered, of_copied = (typical(list(each)) for each in zip(*shares))
    return Measured(costs, typical([each.gather_s for each in times]), of_gathered, of_copied)


def measure_plan(loader: BaseLoader, plan: LoaderPlan, step: Callable[[Any], Any], batches: int) -> tuple[float, Times]:
    """Measure the time of a batch with a plan, in the steady state, and the times of its parts."""
    warm_up = 1 + plan.workers * plan.prefetch_factor  # batches that were prepared ahead while the caller did nothing
    given_out = loader.trial(plan, batches + warm_up)
    for batch in islice(given_out, warm_up):
        step(batch)
    begin, times = time.perf_counter(), Times()
    for batch in given_out:
        step(batch)
        add_times(times, given_out.last)
    return (time.perf_counter() - begin) / max(times.batches, 1), times
