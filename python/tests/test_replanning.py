"""Numbers of workers that change between epochs."""

from __future__ import annotations

import logging

import pytest

import gnomon
from conftest import random_data
from gnomon.pyg import NeighborLoader
from gnomon.replanning import Replanner
from gnomon.report import Costs, Times
from test_reproducible import summary


def epoch(prepare_s: float, step_s: float, batches: int = 20) -> Times:
    """Times of an epoch whose batches took so long."""
    return Times(batches=batches, sample_s=batches * prepare_s, step_s=batches * step_s, step_cpu_s=batches * step_s)


def planned(prepare_s: float = 2.0, step_s: float = 10.0) -> Replanner:
    """On eight cores: one worker is enough."""
    costs = Costs(prepare_s, 0.0, step_s)
    return Replanner(costs, costs, cores=8, max_workers=8)


def test_small_changes_change_nothing():
    replanner = planned()
    for number, factor in enumerate([1.0, 1.2, 0.85, 1.24, 1.2, 1.2], start=1):
        assert replanner.workers_of_next(number, epoch(2 * factor, 10 / factor), 1) == 1
    assert replanner.changes == []


def test_one_epoch_is_no_drift():
    replanner = planned()
    for number in range(1, 9):
        assert replanner.workers_of_next(number, epoch(30 if number % 2 else 2, 10), 1) == 1


def test_drift_of_preparing_adds_workers(caplog):
    replanner = planned()
    with caplog.at_level(logging.INFO, "gnomon"):
        assert replanner.workers_of_next(5, epoch(30, 10), 1) == 1
        assert replanner.workers_of_next(6, epoch(30, 10), 1) == 3  # three of 30 keep up with a step of 10
    (change,) = replanner.changes
    assert (change["epoch"], change["workers_before"], change["workers"]) == (6, 1, 3)
    assert change["prepare_drift"] == pytest.approx(15) and change["step_drift"] == pytest.approx(1)
    assert change["predicted_before_s"] == pytest.approx(30) and change["predicted_s"] == pytest.approx(10)
    assert "epoch 6" in caplog.text and "3 instead of 1 worker(s)" in caplog.text


def test_a_faster_step_needs_more_workers_and_a_slower_one_none_less():
    replanner = planned(prepare_s=2, step_s=10)
    workers = [replanner.workers_of_next(number, epoch(2, 0.5), 1) for number in (1, 2)]
    assert workers == [1, 4]
    # With too many workers nothing is lost, so nothing changes.
    replanner = planned(prepare_s=2, step_s=0.5)
    assert [replanner.workers_of_next(number, epoch(2, 10), 4) for number in (1, 2, 3)] == [4, 4, 4]


def test_after_a_change_the_next_epoch_is_the_measure():
    replanner = planned()
    assert [replanner.workers_of_next(number, epoch(30, 10), 1) for number in (1, 2)] == [1, 3]
    # Three workers that share caches take longer each; that is no drift.
    assert [replanner.workers_of_next(number, epoch(40, 10), 3) for number in (3, 4, 5)] == [3, 3, 3]
    assert [replanner.workers_of_next(number, epoch(2.7, 10), 3) for number in (6, 7, 8)] == [3, 3, 3]  # not slower
    assert [replanner.workers_of_next(number, epoch(40, 2), 3) for number in (9, 10)] == [3, 8]


def test_short_epochs_tell_nothing():
    replanner = planned()
    assert [replanner.workers_of_next(number, epoch(30, 10, batches=9), 1) for number in range(1, 6)] == [1] * 5
    assert [replanner.workers_of_next(number, Times(), 1) for number in range(1, 6)] == [1] * 5


def make(**options):
    return NeighborLoader(random_data(2000, 20000), [4, 4], batch_size=100, shuffle=True, seed=2, **options)


def test_a_loader_follows_and_its_batches_stay_the_same():
    expected, loader = make(num_workers=0), make(num_workers=1)
    # Whatever a batch takes here, it is more than that; on many cores all workers are then wanted.
    loader._follow(loader.plan, Replanner(Costs(1e-3, 0.0, 1e-6), Costs(1e-9, 0.0, 1e3), cores=64, max_workers=3))
    workers = []
    for _ in range(4):
        assert list(map(summary, loader)) == list(map(summary, expected))
        workers.append(loader.num_workers)
    assert workers == [1, 1, 3, 3]
    report = loader.report()
    assert [each["epoch"] for each in report.replanned] == [2]
    assert "from epoch 2 on 3 instead of 1 worker(s)" in str(report)


def test_autotune_asks_for_it_and_setting_workers_ends_it():
    loader = make(num_workers=0)
    gnomon.autotune(loader, lambda batch: None, batches=3, trials=1)
    assert loader._replanner is not None and loader._replanner.expected.prepare_s > 0
    loader.num_workers = 2
    assert loader._replanner is None
    gnomon.autotune(loader, lambda batch: None, batches=3, trials=1, replan=False)
    assert loader._replanner is None
