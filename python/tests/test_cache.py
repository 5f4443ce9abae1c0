"""Rows of x that a device keeps, with doubles of devices on the host."""

from __future__ import annotations

import pickle
import time

import pytest
import torch
from torch import Tensor

import gnomon
from gnomon import InvalidInput
from gnomon.loader_plan import LoaderPlan
from gnomon.pyg import LinkNeighborLoader, NeighborLoader, _base, _batches
from gnomon.pyg._cache import hotness_of
from gnomon.pyg._device import PlainCopier, mapped
from gnomon.pyg._options import default_threads
from test_device import LateCopies
from test_reproducible import summary
from test_store import write_store


def make(data, **options):
    return NeighborLoader(data, [5, 4], **{"batch_size": 64, "shuffle": True, "seed": 11, "num_workers": 2, **options})


def assert_same(expected, found):
    for theirs, ours in zip(expected, found, strict=True):
        assert summary(theirs) == summary(ours)
        for key in ("x", "y", "edge_attr", "train_mask"):
            assert torch.equal(theirs[key], ours[key]), key


@pytest.mark.parametrize("rows", [1, 50, 10**6])
@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize("late", [False, True])
def test_batches_are_those_without_a_cache(data, monkeypatch, rows, workers, late):
    if late:
        monkeypatch.setattr(_batches, "copier_of", lambda device: LateCopies())
    expected, loader = make(data), make(data, device="cpu", cached_rows=rows, num_workers=workers)
    for _ in range(2):
        assert_same(expected, loader)
    assert loader.plan == LoaderPlan(workers, default_threads(workers), cached_rows=rows)
    assert_same(make(data), pickle.loads(pickle.dumps(make(data, device="cpu", cached_rows=rows))))


def test_only_other_rows_are_gathered_and_copied(data, monkeypatch):
    copied = []

    class Counting(PlainCopier):
        def start(self, batch, then=None):
            at, cached_at, slots = then.tensors
            assert len(batch.x) == len(at) and len(cached_at) == len(slots) > 0
            assert sorted(at.tolist() + cached_at.tolist()) == list(range(len(batch.n_id)))
            assert torch.equal(batch.x, data.x[batch.n_id[at]])
            copied.append(len(batch.x) / len(batch.n_id))
            return super().start(batch, then)

    monkeypatch.setattr(_batches, "copier_of", Counting)
    loader = make(data, device="cpu", cached_rows=data.num_nodes // 2)
    total = sum(len(batch.n_id) for batch in loader)
    assert total > 0 and all(0 < share < 0.55 for share in copied), copied


def test_links_too(data):
    options = {"batch_size": 3000, "neg_sampling": "binary", "seed": 3, "num_workers": 1}
    cached = LinkNeighborLoader(data, [4], device="cpu", cached_rows=100, **options)
    for theirs, ours in zip(LinkNeighborLoader(data, [4], **options), cached, strict=True):
        assert summary(theirs) == summary(ours) and torch.equal(theirs.x, ours.x)


def test_stores_too(tmp_path, data):
    write_store(tmp_path / "store", data)
    store = gnomon.open(tmp_path / "store")
    for theirs, ours in zip(make(store), make(store, device="cpu", cached_rows=100), strict=True):
        assert torch.equal(theirs.x, ours.x) and torch.equal(theirs.y, ours.y)


def test_changed_features_are_seen_in_the_next_epoch(data):
    loader = make(data, device="cpu", cached_rows=100)
    list(loader)
    original = data.x
    try:
        data.x = original + 1
        assert all(torch.equal(batch.x, data.x[batch.n_id]) for batch in loader)
        data.x.mul_(2)
        assert all(torch.equal(batch.x, data.x[batch.n_id]) for batch in loader)
    finally:
        data.x = original


def test_hits_are_those_of_other_batches():
    torch.manual_seed(5)
    weights = 1 / torch.arange(1, 2001, dtype=torch.float64)  # Zipf's law
    nodes = torch.randperm(2000)

    def batches(count):
        return [nodes[torch.multinomial(weights, 300)] for _ in range(count)]

    hotness = hotness_of(batches(40), 2000)
    assert sorted(hotness.order.tolist()) == list(range(2000))
    assert hotness.hits[0] == 0 and hotness.hits[-1] == 1 and bool((hotness.hits.diff() >= 0).all())
    for rows in (50, 200, 1000):
        kept = torch.zeros(2000, dtype=torch.bool)
        kept[hotness.order[:rows]] = True
        measured = torch.stack([kept[batch].double().mean() for batch in batches(100)]).mean()
        assert float(hotness.hits[rows]) == pytest.approx(float(measured), abs=0.03), rows


class SlowLink(PlainCopier):
    """Copies at 20 MB/s, beside what the caller does."""

    def start(self, batch, then=None):
        sizes: list[int] = []

        def count(tensor: Tensor) -> Tensor:
            sizes.append(tensor.numel() * tensor.element_size())
            return tensor

        mapped(batch, count)
        copied, _ = super().start(batch, then)
        return copied, Arrival(time.perf_counter() + sum(sizes) / 20e6)

    def hand_over(self, copied, done):
        done.synchronize()


class Arrival:
    def __init__(self, date):
        self.date = date

    def query(self):
        return time.perf_counter() >= self.date

    def synchronize(self):
        time.sleep(max(0.0, self.date - time.perf_counter()))


def wide(data):
    data = data.clone()
    data.x = torch.randn(data.num_nodes, 500)
    return data


def test_autotune_caches_behind_a_slow_link(data, monkeypatch):
    data = wide(data)
    monkeypatch.setattr(_batches, "copier_of", SlowLink)
    loader = make(data, device="cpu", num_workers=0)
    tuning = gnomon.autotune(loader, lambda batch: None, batches=6, trials=3, cache_bytes=2000 * data.num_nodes)
    sizes = {plan["cached_rows"] for plan in tuning.plans}
    assert sizes == {0, data.num_nodes // 4, data.num_nodes // 2, data.num_nodes}
    assert tuning.plan.cached_rows == data.num_nodes and loader.plan == tuning.plan  # nothing else is near
    best_without = min(plan["predicted_s"] for plan in tuning.plans if plan["cached_rows"] == 0)
    assert tuning.predicted_s < 0.5 * best_without and tuning.measured_s < 0.5 * best_without
    assert "rows on the device" in str(tuning)
    loader.set_epoch(0)
    assert_same(make(data), loader)


def test_autotune_takes_half_of_the_free_memory(data, monkeypatch):
    row_bytes = data.x[0].numel() * data.x.element_size()
    monkeypatch.setattr(_base, "free_bytes", lambda device: 2 * 40 * row_bytes)
    tuning = gnomon.autotune(make(data, device="cpu"), lambda batch: None, batches=3, trials=1)
    assert {plan["cached_rows"] for plan in tuning.plans} == {0, 10, 20, 40}
    for options in ({}, {"device": "cpu", "transform": lambda batch: batch}):
        tuning = gnomon.autotune(make(data, **options), lambda batch: None, batches=3, trials=1)
        assert {plan["cached_rows"] for plan in tuning.plans} == {0}


def test_wrong_input(data):
    for options, wrong in (
        ({"cached_rows": -1, "device": "cpu"}, "cached_rows: must be an integer"),
        ({"cached_rows": 5}, "cached_rows: needs a device"),
        ({"cached_rows": 5, "device": "cpu", "transform": lambda batch: batch}, "cached_rows: cannot be combined"),
        ({"cached_rows": 5, "device": "cpu", "subgraph_type": "bidirectional"}, "cached_rows: cannot be combined"),
    ):
        with pytest.raises(InvalidInput, match=wrong):
            make(data, **options)
    without = data.clone()
    without.x = None
    with pytest.raises(InvalidInput, match="cached_rows: needs contiguous rows of x"):
        make(without, device="cpu", cached_rows=5)
