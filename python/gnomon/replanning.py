"""Change a loader's number of workers between epochs when measured times deviate from the plan's."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field, replace
from typing import Any

from gnomon.report import Costs, Times, costs_of, fewest_workers, seconds_per_batch

_log = logging.getLogger("gnomon")
# A stage has drifted if its time differs from the expected one by this share, in this many consecutive epochs.
_DRIFT = 0.25
_EPOCHS = 2
# Minimum predicted gain of a change of the number of workers.
_GAIN = 0.10
_MIN_BATCHES = 10


@dataclass
class Replanner:
    """Decides the number of workers of the next epoch.

    Attributes
    ----------
    costs
        The costs of one batch, each measured alone.
    expected
        The same costs, measured while the plan's workers run; None: to be taken from the next epoch.
    cores, max_workers
        Number of cores, and the maximum number of workers.
    directions, drifting
        The drift of preparation and step (1: slower, -1: faster), and for how many consecutive epochs.
    changes
        Records of ``epoch``, ``workers_before``, ``workers``, ``prepare_drift``, ``step_drift``, ``predicted_before_s``
        and ``predicted_s`` per batch.
    """

    costs: Costs
    expected: Costs | None
    cores: int
    max_workers: int
    directions: tuple[int, int] = (0, 0)
    drifting: int = 0
    changes: list[dict[str, Any]] = field(default_factory=list)

    def workers_of_next(self, epoch: int, times: Times, workers: int) -> int:
        """Return the number of workers for ``epoch``, given the times of the previous epoch, which had ``workers``."""
        if times.batches < _MIN_BATCHES:
            return workers
        measured = costs_of(times, self.cores)
        if self.expected is None:
            self.expected = measured
            return workers
        prepare, step = (
            _ratio(now, before)
            for now, before in (
                (measured.prepare_s, self.expected.prepare_s),
                (measured.step_s, self.expected.step_s),
            )
        )
        directions = _direction(prepare), _direction(step)
        self.drifting = self.drifting + 1 if directions == self.directions else 1
        self.directions = directions
        if directions == (0, 0) or self.drifting < _EPOCHS:
            return workers
        costs = replace(self.costs, prepare_s=self.costs.prepare_s * prepare, step_s=self.costs.step_s * step)
        chosen = fewest_workers(costs, self.max_workers, self.cores)
        before_s, after_s = (seconds_per_batch(costs, each, self.cores) for each in (workers, chosen))
        if before_s < (1 + _GAIN) * after_s:
            return workers
        self.costs, self.expected, self.drifting = costs, None, 0
        self.changes.append(
            {
                "epoch": epoch,
                "workers_before": workers,
                "workers": chosen,
                "prepare_drift": prepare,
                "step_drift": step,
                "predicted_before_s": before_s,
                "predicted_s": after_s,
            }
        )
        _log.info(
            "epoch %d: preparing takes %.2f x, the step %.2f x the plan's time; %d instead of %d worker(s), predicted"
            " %.2f instead of %.2f ms a batch",
            *(epoch, prepare, step, chosen, workers, 1e3 * after_s, 1e3 * before_s),
        )
        return chosen


def _ratio(now: float, before: float) -> float:
    return now / before if before > 0 else 1.0


def _direction(ratio: float) -> int:
    """1 if a stage has become slower, -1 if faster, 0 if neither."""
    return int(ratio > 1 + _DRIFT) - int(ratio < 1 / (1 + _DRIFT))
