"""gnomon.autotune and loader.report."""

from __future__ import annotations

import time

import pytest
import torch

import gnomon
from conftest import random_data
from gnomon import InvalidInput
from gnomon.pyg import NeighborLoader
from gnomon.report import Costs, seconds_per_batch
from test_reproducible import summary


def sleep(seconds):
    """A step that keeps no core busy, as one on a GPU."""
    return lambda batch: time.sleep(seconds)


@pytest.fixture(scope="module")
def large():
    """Of which a batch takes some milliseconds to prepare."""
    data = random_data(50000, 1000000)
    data.x = torch.randn(50000, 200)
    return data


def make(data, **options):
    return NeighborLoader(data, [10, 10], shuffle=True, **{"batch_size": 500, "seed": 1, "num_workers": 0, **options})


@pytest.mark.parametrize(
    "costs, workers, cores, expected",
    [
        (Costs(4, 1, 2), 0, 2, 7),  # one after another
        (Costs(4, 1, 2), 1, 2, 4),  # the worker
        (Costs(4, 1, 2), 2, 4, 3),  # the caller
        (Costs(4, 1, 2), 8, 2, 3.5),  # all cores
        (Costs(4, 1, 2, step_cores=2), 2, 2, 4.5),
        (Costs(1, 0, 10, step_cores=0), 1, 1, 10),  # a step on a GPU
    ],
)
def test_predictions_by_hand(costs, workers, cores, expected):
    assert seconds_per_batch(costs, workers, cores) == pytest.approx(expected)


def test_autotune_prepares_beside_a_step_that_waits(large):
    loader = make(large)
    steps = []

    def step(batch):
        steps.append(batch.batch_size)
        time.sleep(0.05)

    tuning = gnomon.autotune(loader, step, batches=6, trials=2)
    assert tuning.workers >= 1 and loader.num_workers == tuning.workers
    assert 0.05 <= tuning.costs.step_s < 0.2
    assert tuning.costs.prepare_s > 0 and tuning.costs.step_cores < 0.8
    assert tuning.measured_s >= 0.05
    assert sum(plan["measured_s"] is not None for plan in tuning.plans) == 2
    assert len(steps) >= 6 * 3 and "worker(s): predicted" in str(tuning)
    measured = [plan["measured_s"] for plan in tuning.plans if plan["measured_s"] is not None]
    assert tuning.measured_s <= 1.03 * min(measured)


def test_autotune_leaves_the_batches_as_they_are(large):
    expected, loader = make(large), make(large)
    next(iter(loader))
    state = loader.state_dict()
    gnomon.autotune(loader, sleep(0), batches=3, trials=1)
    assert loader.state_dict() == state
    loader.set_epoch(0)
    assert [summary(batch) for _, batch in zip(range(3), loader)] == [
        summary(batch) for _, batch in zip(range(3), expected)
    ]


def test_autotune_of_few_batches_goes_round(data):
    loader = NeighborLoader(data, [2], input_nodes=[1, 2, 3], batch_size=2, num_workers=0)
    assert gnomon.autotune(loader, sleep(0.001), batches=5).measured_s > 0


def test_report_says_what_bounds(large, data):
    loader = make(large)
    for _, _ in zip(range(8), loader):
        pass
    report = loader.report()
    assert report.bound_by == "preparation" and report.waiting_share > 0.5
    assert report.costs.prepare_s > 0 and report.batches == 8
    loader = make(data, num_workers=1, batch_size=100)
    for _ in loader:
        time.sleep(0.1)
    report = loader.report()
    assert report.bound_by == "step", report
    assert 0.09 <= report.costs.step_s < 0.3  # the first batch has no step before it
    assert {"workers": 1, "cores": report.cores} in [
        {key: each[key] for key in ("workers", "cores")} for each in report.what_if
    ]
    assert report.as_dict()["bound_by"] == "step" and "waiting" in str(report)


def test_wrong_input(data):
    loader = NeighborLoader(data, [2], num_workers=0)
    for arguments in ({"batches": 1}, {"trials": 0}, {"step": 3}):
        with pytest.raises(InvalidInput, match=next(iter(arguments))):
            gnomon.autotune(loader, **{"step": print, **arguments})
    with pytest.raises(InvalidInput, match="loader"):
        gnomon.autotune(NeighborLoader(data, [2], input_nodes=[]), print)
    with pytest.raises(InvalidInput, match="num_workers"):
        loader.num_workers = -1
