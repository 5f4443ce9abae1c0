"""gnomon.autotune and loader.report."""

from __future__ import annotations

import os
import time

import pytest
import torch

import gnomon
from conftest import random_data
from gnomon import InvalidInput
from gnomon._library import library
from gnomon.loader_plan import LoaderPlan
from gnomon.pyg import NeighborLoader
from gnomon.pyg._base import BaseLoader
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
        (Costs(4, 0, 1, prepare_cores=2), 2, 2, 4.5),  # two threads a batch
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
    tried = [plan for plan in tuning.plans if plan["measured_s"] is not None]
    several_cores = library.gnomon_usable_cores() > 1
    assert len(tried) == 2 + 1 + several_cores  # two of predicted plans, one of buffers, one of pinned threads
    assert any(plan["pinned"] for plan in tried) == several_cores
    assert {plan["prefetch_factor"] for plan in tuning.plans} == {2, 4}
    assert len(steps) >= 6 * 4 and "worker(s): predicted" in str(tuning)
    assert loader.plan == tuning.plan and tuning.plan.workers == tuning.workers
    measured = [plan["measured_s"] for plan in tried]
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


def machine(cores, nodes=1):
    """A library that tells of another machine."""
    facts = {"gnomon_usable_cores": staticmethod(lambda: cores), "gnomon_memory_nodes": staticmethod(lambda: nodes)}
    return type("Machine", (), facts)


def pinned_cores():
    """The cores of all threads of this process that stay on one."""
    found = set()
    for thread in os.listdir("/proc/self/task"):
        try:
            cores = os.sched_getaffinity(int(thread))
        except ProcessLookupError:  # ended since
            continue
        found |= cores if len(cores) == 1 else set()
    return found


def test_pinned_threads_stay_on_cores_of_their_own(large):
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2:
        pytest.skip("needs two cores")
    expected = [summary(batch) for _, batch in zip(range(6), make(large))]
    loader = make(large)
    loader._follow(LoaderPlan(2, pinned=True), None)
    assert loader.plan.pinned and not pinned_cores()
    batches = iter(loader)
    found = [summary(next(batches))]
    assert len(pinned_cores()) == 2 and pinned_cores() <= allowed
    assert found + [summary(next(batches)) for _ in range(5)] == expected
    assert os.sched_getaffinity(0) == allowed
    loader._follow(LoaderPlan(1, threads_per_batch=2, pinned=True), None)
    loader.set_epoch(0)
    del batches
    assert [summary(batch) for _, batch in zip(range(6), loader)] == expected


def test_memory_that_is_spread_has_the_same_bytes(large):
    data = random_data(20000, 100000)
    expected = [summary(batch) for _, batch in zip(range(4), make(data))]
    before = data.x.clone()
    loader = make(data)
    loader._follow(LoaderPlan(1, spread=True), None)
    assert loader.plan.spread
    assert [summary(batch) for _, batch in zip(range(4), loader)] == expected
    assert torch.equal(data.x, before)


def test_placement_is_explored_where_there_are_nodes(large, monkeypatch):
    for nodes in (1, 2):
        monkeypatch.setattr(gnomon.tuning, "library", machine(2, nodes))
        tuning = gnomon.autotune(make(large), sleep(0.02), batches=3, trials=1, max_workers=2)
        assert any(plan["spread"] for plan in tuning.plans) == (nodes > 1)


def test_placement_that_the_system_refuses_is_left_out(large, monkeypatch):
    def refuse(loader, plan):
        if plan.pinned:
            raise gnomon.GnomonError("affinity: not permitted")
        return original(loader, plan)

    original = BaseLoader._loader_for
    monkeypatch.setattr(BaseLoader, "_loader_for", refuse)
    tuning = gnomon.autotune(make(large), sleep(0.02), batches=3, trials=1)
    assert not any(plan["pinned"] for plan in tuning.plans) and tuning.measured_s > 0


def test_threads_of_a_batch_are_explored(large, monkeypatch):
    monkeypatch.setattr(gnomon.tuning, "library", machine(4))
    loader = make(large)
    tuning = gnomon.autotune(loader, sleep(0), batches=3, trials=1, max_workers=1)
    assert {plan["threads_per_batch"] for plan in tuning.plans} == {1, 2, 4}
    assert loader.plan.threads_per_batch == tuning.threads_per_batch
    # Also when another number is set, and while batches of the old one are in flight.
    expected = [summary(batch) for _, batch in zip(range(4), make(large))]
    loader.set_epoch(0)
    batches = iter(loader)
    found = [summary(next(batches))]
    loader._follow(LoaderPlan(1, 3, 4), None)
    assert loader.plan == LoaderPlan(1, 3, 4)
    assert found + [summary(next(batches)) for _ in range(3)] == expected
    loader.set_epoch(0)
    assert [summary(batch) for _, batch in zip(range(4), loader)] == expected


def test_autotune_of_few_batches_goes_round(data):
    loader = NeighborLoader(data, [2], input_nodes=[1, 2, 3], batch_size=2, num_workers=0)
    assert gnomon.autotune(loader, sleep(0.001), batches=5).measured_s > 0


def test_python_adds_little_to_a_batch(data):
    """Less than 0.3 ms at batch size 1,024: the least of many batches, as other processes may run."""
    for _ in range(10):
        given_out = make(data, batch_size=1024).trial(LoaderPlan(0), 50)
        overheads, begin = [], time.perf_counter()
        for _ in given_out:
            taken_s = time.perf_counter() - begin
            overheads.append(taken_s - given_out.last.sample_s - given_out.last.gather_s)
            begin = time.perf_counter()
        if min(overheads) < 0.3e-3:
            break
    assert 0 < min(overheads) < 0.3e-3


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
    for arguments in ({"batches": 1}, {"trials": 0}, {"step": 3}, {"cache_bytes": -1}):
        with pytest.raises(InvalidInput, match=next(iter(arguments))):
            gnomon.autotune(loader, **{"step": print, **arguments})
    with pytest.raises(InvalidInput, match="loader"):
        gnomon.autotune(NeighborLoader(data, [2], input_nodes=[]), print)
    with pytest.raises(InvalidInput, match="num_workers"):
        loader.num_workers = -1
