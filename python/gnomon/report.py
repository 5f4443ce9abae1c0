"""The bottleneck of an epoch, and predictions for other settings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

# Preparation is the bottleneck if the caller waits for more than this share of its time.
_NEGLIGIBLE = 0.05
# Plans within this share of the fastest are considered equal; the one with fewer workers is chosen.
TIE = 0.03


@dataclass
class Times:
    """Total times of batches.

    Attributes
    ----------
    batches
        Number of batches.
    sample_s, gather_s
        Time of the preparing threads.
    wait_s
        Time in which the caller waited for batches.
    hand_over_s
        Time in which the caller assembled batches, including transforms.
    step_s
        The rest of the caller's time: its training steps.
    step_cpu_s
        Processor time of the process during steps, less that of preparing batches.
    copy_s
        Time in which the caller waited for copies to a device; only in trials without workers.
    """

    batches: int = 0
    sample_s: float = 0.0
    gather_s: float = 0.0
    wait_s: float = 0.0
    hand_over_s: float = 0.0
    step_s: float = 0.0
    step_cpu_s: float = 0.0
    copy_s: float = 0.0


def add_times(total: Times, more: Times) -> None:
    """Add times to a total."""
    for each in fields(Times):
        setattr(total, each.name, getattr(total, each.name) + getattr(more, each.name))


def seconds_per_batch(costs: Costs, workers: int, cores: int) -> float:
    """Predict the time of a batch when ``workers`` threads prepare ahead (0: the caller prepares).

    The maximum of four times: the caller's, the workers', that of copies to a device, and that of all work divided by
    the cores.
    """
    caller_s = costs.hand_over_s + costs.step_s
    if workers == 0:
        return costs.prepare_s + costs.copy_s + caller_s
    work_s = costs.prepare_s * costs.prepare_cores + costs.hand_over_s + costs.step_s * costs.step_cores
    return max(caller_s, costs.prepare_s / workers, costs.copy_s, work_s / cores)


def fewest_workers(costs: Costs, max_workers: int, cores: int) -> int:
    """Return the fewest workers whose predicted time of a batch is as good as the best."""
    predicted = [seconds_per_batch(costs, workers, cores) for workers in range(max_workers + 1)]
    return next(workers for workers, each in enumerate(predicted) if each <= (1 + TIE) * min(predicted))


@dataclass(frozen=True)
class Costs:
    """The cost of one batch.

    Attributes
    ----------
    prepare_s, hand_over_s, step_s
        Times of its preparation by a worker, of its assembly by the caller, and of the caller's step.
    step_cores, prepare_cores
        Cores that the step and the preparation of one batch keep busy.
    copy_s
        Time of its copy to a device.
    """

    prepare_s: float
    hand_over_s: float
    step_s: float
    step_cores: float = 1.0
    prepare_cores: float = 1.0
    copy_s: float = 0.0


@dataclass
class Report:
    """Where the time of the batches went.

    Attributes
    ----------
    batches, workers, cores : int
        Number of batches handed out, of threads that prepared them, and of cores that the process may use.
    costs : Costs
        The cost of one batch.
    waiting_share : float
        The share of the caller's time in which it waited for batches.
    bound_by : str
        ``"preparation"`` if that share is over 5 %, else ``"step"``.
    batch_s : float
        Measured time per batch.
    what_if : list of dict
        Predicted times per batch: records of ``workers``, ``cores`` and ``batch_s``.
    replanned : list of dict
        Changes of the number of workers between epochs: records of ``epoch``, ``workers_before``, ``workers``,
        ``prepare_drift`` and ``step_drift`` (relative to the expected times), ``predicted_before_s`` and
        ``predicted_s`` per batch.
    """

    batches: int
    workers: int
    cores: int
    costs: Costs
    waiting_share: float
    batch_s: float
    what_if: list[dict[str, Any]] = field(default_factory=list)
    replanned: list[dict[str, Any]] = field(default_factory=list)

    @property
    def bound_by(self) -> str:
        """The bottleneck: ``"preparation"`` or ``"step"``."""
        return "preparation" if self.waiting_share > _NEGLIGIBLE else "step"

    def as_dict(self) -> dict[str, Any]:
        """All fields, for JSON."""
        return {**asdict(self), "bound_by": self.bound_by}

    def __str__(self) -> str:
        costs = self.costs
        parts = ("prepare", costs.prepare_s), ("hand over", costs.hand_over_s), ("step", costs.step_s)
        lines = [
            f"{self.batches} batches, {1e3 * self.batch_s:.2f} ms each; {self.workers} worker(s), {self.cores} core(s)",
            "  "
            + ", ".join(f"{name} {1e3 * value:.2f} ms" for name, value in parts)
            + f" on {costs.step_cores:.1f} core(s)",
            f"  waiting {100 * self.waiting_share:.0f} %: bound by {self.bound_by}",
        ]
        lines += [
            f"  predicted with {each['workers']} worker(s) on {each['cores']} core(s): {1e3 * each['batch_s']:.2f} ms"
            for each in self.what_if
        ]
        lines += [
            f"  from epoch {each['epoch']} on {each['workers']} instead of {each['workers_before']} worker(s)"
            for each in self.replanned
        ]
        return "\n".join(lines)


def costs_of(times: Times, cores: int, threads_per_batch: int = 1) -> Costs:
    """Return the cost of one batch. For a step too short to measure, ``step_cores`` is capped at all cores."""
    count = max(times.batches, 1)
    return Costs(
        prepare_s=(times.sample_s + times.gather_s) / count,
        hand_over_s=times.hand_over_s / count,
        step_s=times.step_s / count,
        step_cores=min(times.step_cpu_s / times.step_s, cores) if times.step_s > 0 else 0.0,
        prepare_cores=min(threads_per_batch, cores),
    )


def make_report(
    times: Times, workers: int, threads_per_batch: int, cores: int, replanned: list[dict[str, Any]]
) -> Report:
    """Report on the batches handed out. What-if keeps the threads per batch."""
    costs = costs_of(times, cores, threads_per_batch)
    total_s = times.wait_s + times.hand_over_s + times.step_s
    settings = {(workers, cores), (0, cores), (1, cores), (cores, cores), (2 * cores, 2 * cores)}
    what_if = [
        {"workers": some, "cores": of, "batch_s": seconds_per_batch(costs, some, of)} for some, of in sorted(settings)
    ]
    return Report(
        batches=times.batches,
        workers=workers,
        cores=cores,
        costs=costs,
        waiting_share=times.wait_s / total_s if total_s > 0 else 0.0,
        batch_s=total_s / max(times.batches, 1),
        what_if=what_if,
        replanned=list(replanned),
    )
