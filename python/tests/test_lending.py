"""Batches in memory of torch: here pageable memory, which stands in for page-locked memory."""

from __future__ import annotations

import gc

import pytest
import torch

from conftest import random_data
from gnomon._lending import MIN_BYTES
from gnomon.pyg import LinkNeighborLoader, NeighborLoader, _base
from test_reproducible import summary

BATCHES = 40


class Allocator:
    """Knows where its blocks are; it does not keep them alive."""

    def __init__(self):
        self.sizes = {}

    def __call__(self, size):
        block = torch.empty(size, dtype=torch.uint8)
        self.sizes[block.data_ptr()] = size
        return block

    def made(self, tensor):
        return tensor.untyped_storage().nbytes() == self.sizes.get(tensor.data_ptr())


@pytest.fixture
def allocator(monkeypatch):
    double = Allocator()
    monkeypatch.setattr(_base, "pinned_allocator", lambda: double)
    return double


@pytest.fixture
def data():
    data = random_data(20000, 200000)
    data.x = torch.randn(20000, 60)
    return data


def make(data, kind=NeighborLoader, **options):
    return kind(
        data, [5, 4], **{"batch_size": 20000 // BATCHES, "shuffle": True, "seed": 7, "num_workers": 2, **options}
    )


def large_tensors(batch):
    return [each for each in batch.to_dict().values() if torch.is_tensor(each) and each.nbytes >= MIN_BYTES]


def counted(batches, allocator):
    """The large tensors of the batches, and how many of them are in blocks of the allocator."""
    tensors = [each for batch in batches for each in large_tensors(batch)]
    return len(tensors), sum(allocator.made(each) for each in tensors)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_large_tensors_are_in_lent_memory(data, allocator, workers):
    expected = [summary(batch) for batch in make(data, num_workers=workers)]
    assert not allocator.sizes
    loader = make(data, num_workers=workers, pin_memory=True)
    batches = list(loader)
    assert [summary(batch) for batch in batches] == expected
    tensors, lent = counted(batches, allocator)
    assert tensors >= 3 * BATCHES
    in_flight = max(workers * loader.plan.prefetch_factor, 1) + 1
    assert tensors - lent <= in_flight * -(-tensors // BATCHES)
    tensors, lent = counted(loader, allocator)
    if workers == 0:
        assert lent == tensors


def test_rows_are_right_while_batches_are_kept(data, allocator):
    loader = make(data, pin_memory=True)
    batches = [batch for _ in range(3) for batch in loader]
    for batch in batches:
        assert torch.equal(batch.x, data.x[batch.n_id])


def test_links_and_halves(data, allocator):
    data.x = data.x.half()
    options = {"kind": LinkNeighborLoader, "neg_sampling": "binary", "edge_label_index": data.edge_index[:, :20000]}
    expected, loader = make(data, **options), make(data, pin_memory=True, **options)
    for theirs, ours in zip(expected, loader, strict=True):
        assert torch.equal(theirs.x, ours.x) and ours.x.dtype == torch.float16
        assert torch.equal(theirs.edge_label_index, ours.edge_label_index)
    tensors, lent = counted(loader, allocator)
    assert lent > tensors / 2


def test_unused_batches_return_their_memory(data, allocator):
    loader = make(data, pin_memory=True, prefetch_factor=4)
    list(loader)
    blocks = len(loader._loader.take.__self__._lent)
    for _ in range(30):
        next(iter(loader))
        gc.collect()
    in_flight = (2 * 4 + 1) * 5
    assert len(loader._loader.take.__self__._lent) <= max(blocks, in_flight)
    tensors, lent = counted(loader, allocator)
    assert lent > tensors / 2


def test_memory_outlives_the_loader(data, allocator):
    batches = iter(make(data, pin_memory=True, num_workers=3))
    kept = [next(batches) for _ in range(5)]
    del batches
    gc.collect()
    spoilers = [allocator(1 << 20).fill_(255) for _ in range(20)]
    for batch in kept:
        assert torch.equal(batch.x, data.x[batch.n_id])
    del spoilers
