"""Copies to a device, with a double of one: its copies are made when they are waited for, as late as can be."""

from __future__ import annotations

import ctypes
import gc

import pytest
import torch
from torch import Tensor

from conftest import random_data
from gnomon import InvalidInput
from gnomon.pyg import LinkNeighborLoader, NeighborLoader, _batches, _device
from gnomon.pyg._device import Copies, mapped
from test_reproducible import summary


class LateCopies:
    """A device whose copies read the host's memory only at their end; it does not keep that memory alive."""

    def __init__(self):
        self.waiting = []
        self.events = []
        self.log = []

    def start(self, batch, then=None):
        parts = []

        def late(tensor: Tensor) -> Tensor:
            copied = torch.full_like(tensor, 0, memory_format=torch.contiguous_format)
            assert tensor.is_contiguous()
            parts.append((copied, tensor.data_ptr(), tensor.numel() * tensor.element_size()))
            return copied

        copied = mapped(batch, late)
        places = None if then is None else mapped(then.tensors, late)
        event = LateEvent(self, len(self.events), parts, lambda: then and then.function(copied, places))
        self.events.append(event)
        self.log.append(("start", event.number))
        return copied, event

    def hand_over(self, copied, done):
        self.log.append(("hand over", done.number))
        done.synchronize()


class LateEvent:
    def __init__(self, copier, number, parts, then):
        self.copier, self.number, self.parts, self.then = copier, number, parts, then

    def query(self):
        return not self.parts

    def synchronize(self):
        for copied, address, size in self.parts:
            ctypes.memmove(copied.data_ptr(), address, size)
        self.parts = []
        self.then()
        self.then = lambda: None


@pytest.fixture
def device(monkeypatch):
    double = LateCopies()
    monkeypatch.setattr(_batches, "copier_of", lambda device: double)
    return double


def make(data, **options):
    return NeighborLoader(data, [5, 4], **{"batch_size": 64, "shuffle": True, "seed": 11, "num_workers": 2, **options})


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_batches_on_a_device_are_those_of_the_host(data, device, workers):
    expected = make(data)
    loader = make(data, num_workers=workers, device="meta")  # which the double stands in for
    for _ in range(2):
        for theirs, ours in zip(expected, loader, strict=True):
            assert summary(theirs) == summary(ours)
            for key in ("x", "y", "edge_attr", "train_mask"):
                assert torch.equal(theirs[key], ours[key]), key
            assert ours.batch_size == theirs.batch_size and ours.num_sampled_nodes == theirs.num_sampled_nodes
    assert [event.number for event in device.events] == list(range(2 * len(loader)))


def test_host_memory_lives_until_it_was_copied(device):
    data = random_data(20000, 200000)
    data.x = torch.randn(20000, 200)
    copies, loader = Copies(device), make(data, batch_size=500, num_workers=1)
    batches = list(loader)
    expected = [batch.x.clone() for batch in batches[:10]]
    started = [copies.start(batch) for batch in batches[:10]]
    del batches
    gc.collect()
    spoilers = [batch.x.fill_(-1.0) for batch in loader]  # which would get freed memory
    for (copied, done), wanted in zip(started, expected):
        copies.hand_over(copied, done)
        assert torch.equal(copied.x, wanted)
    del spoilers


def test_ends_wait_for_copies(data, device):
    batches = iter(make(data, device="meta"))
    next(batches)
    del batches
    gc.collect()
    assert all(event.query() for event in device.events)


def test_the_next_copy_starts_before_the_caller_works(data, device):
    loader = make(data, device="meta", num_workers=2, prefetch_factor=4)
    batches = iter(loader)
    ahead = 0
    for number in range(10):
        next(batches)
        assert ("hand over", number) in device.log and len(device.events) <= number + 2
        ahead += len(device.events) == number + 2
        torch.ones(300, 300) @ torch.ones(300, 300)
    assert ahead > 0
    assert loader.state_dict()["batch"] == 10  # of batches that were given out
    other = make(data, device="meta", num_workers=0)
    other.load_state_dict(loader.state_dict())
    assert summary(next(batches)) == summary(next(iter(other)))


def test_transforms_that_fail_lose_no_batch(data, device):
    def fail_at_third(batch):
        if batch.input_id[0] == third:
            raise ZeroDivisionError
        return batch

    expected = [summary(batch) for batch in make(data)]
    third = expected[3][3][0]
    for workers in (0, 3):
        found = []
        with pytest.raises(ZeroDivisionError):
            for batch in make(data, device="meta", num_workers=workers, transform=fail_at_third):
                found.append(summary(batch))
        assert found == expected[:3]


def test_transforms_may_return_anything(data, device):
    loader = make(data, device="meta", transform=lambda batch: (batch.x, {"id": [batch.n_id], "what": "text"}))
    for batch in loader:
        x, rest = batch
        assert torch.equal(x, data.x[rest["id"][0]]) and rest["what"] == "text"


def test_links_too(data, device):
    options = {"batch_size": 3000, "neg_sampling": "binary", "seed": 3, "num_workers": 1}
    for theirs, ours in zip(
        LinkNeighborLoader(data, [4], **options), LinkNeighborLoader(data, [4], device="meta", **options), strict=True
    ):
        assert summary(theirs) == summary(ours) and torch.equal(theirs.edge_label_index, ours.edge_label_index)


def test_devices_without_streams_copy_at_once(data):
    batch = next(iter(make(data, device="meta")))
    assert batch.x.device.type == "meta" and batch.x.shape[1] == 16 and batch.edge_index.device.type == "meta"
    assert next(iter(make(data, device="cpu"))).x.device.type == "cpu"


def test_page_locks_are_those_of_the_cuda_runtime(monkeypatch, tmp_path):
    assert torch.cuda.is_available() or _device.page_lock() is None
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.version, "cuda", "999.1")
    assert _device.page_lock() is None


def test_wrong_devices(data):
    for value in ("no such", 3.5, True, [], "cuda:512", 512):
        with pytest.raises(InvalidInput, match="device"):
            make(data, device=value)
    with pytest.raises(InvalidInput, match="stored"):
        make(data, device="meta", stored=["x"])
