"""The same batches however they are prepared."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import subprocess
import sys

import pytest
import torch

from conftest import random_data
from gnomon import InvalidInput
from gnomon.pyg import LinkNeighborLoader, NeighborLoader


def summary(batch) -> list:
    """All that a batch holds."""
    return [batch.n_id.tolist(), batch.edge_index.tolist(), batch.e_id.tolist(), batch.input_id.tolist()]


def make(data, **options):
    return NeighborLoader(data, [5, 4], batch_size=64, shuffle=True, **{"seed": 11, "num_workers": 2, **options})


@pytest.mark.parametrize(
    "options",
    [{"num_workers": w} for w in (0, 1, 4)]
    + [{"num_workers": w, "threads_per_batch": t} for w, t in ((0, 1), (0, 3), (2, 3))]
    + [{"prefetch_factor": 9, "num_workers": 3}],
)
def test_workers_do_not_matter(data, options):
    expected, other = make(data), make(data, **options)
    for _ in range(2):
        assert list(map(summary, expected)) == list(map(summary, other))


@pytest.mark.parametrize("shuffle", [False, True])
def test_ranks_share_an_epoch(data, shuffle):
    nodes = list(range(101))
    options = {"input_nodes": nodes, "batch_size": 8, "shuffle": shuffle, "seed": 4, "num_workers": 1}
    loaders = [NeighborLoader(data, [3], rank=rank, world_size=3, **options) for rank in range(3)]
    assert {len(loader) for loader in loaders} == {5}
    parts = [torch.cat([batch.input_id for batch in loader]).tolist() for loader in loaders]
    assert {len(part) for part in parts} == {34}
    assert sorted(set().union(*parts)) == nodes
    whole = torch.cat([batch.input_id for batch in NeighborLoader(data, [3], **options)]).tolist()
    assert [part[0] for part in parts] == whole[:3]


def test_epochs_and_seeds_do(data):
    loader = make(data)
    first, second = list(map(summary, loader)), list(map(summary, loader))
    assert first != second
    loader.set_epoch(0)
    assert list(map(summary, loader)) == first
    assert list(map(summary, make(data, seed=12))) != first
    torch.manual_seed(11)
    assert list(map(summary, make(data, seed=None))) == first
    generator = torch.Generator().manual_seed(11)
    assert list(map(summary, make(data, seed=None, generator=generator))) == first


def test_state_continues_in_the_middle(data):
    loader = make(data)
    epochs = [list(map(summary, loader)) for _ in range(3)]
    loader = make(data)
    list(loader)
    iterator = iter(loader)
    for _ in range(7):
        next(iterator)
    state = pickle.loads(pickle.dumps(loader.state_dict()))
    other = make(data, num_workers=1)
    other.load_state_dict(state)
    assert other.state_dict() == state
    assert list(map(summary, other)) == epochs[1][7:]
    assert list(map(summary, other)) == epochs[2]
    assert other.state_dict()["epoch"] == 3
    # What was interrupted does not shorten the next epoch.
    del iterator
    assert list(map(summary, loader)) == epochs[2]


def test_states_of_others_are_refused(data):
    loader = make(data)
    iterator = iter(loader)
    next(iterator)
    state = loader.state_dict()
    for name, value in (
        ("seed", 2),
        ("batch_size", 32),
        ("shuffle", False),
        ("drop_last", True),
        ("expand", "every_hop"),
        ("replace", True),
        ("disjoint", True),
        ("subgraph_type", "bidirectional"),
        ("weight_attr", "edge_weight"),
        ("world_size", 2),
    ):
        other = NeighborLoader(data, [5, 4], **{"batch_size": 64, "shuffle": True, "seed": 11, name: value})
        with pytest.raises(InvalidInput, match=name):
            other.load_state_dict(state)
        assert other.state_dict()["batch"] == 0
    with pytest.raises(InvalidInput, match="num_neighbors"):
        NeighborLoader(data, [5, 3], batch_size=64, shuffle=True, seed=11).load_state_dict(state)
    with pytest.raises(InvalidInput, match="num_inputs"):
        make(data, input_nodes=[1, 2]).load_state_dict(state)
    with pytest.raises(InvalidInput, match="input_crc32"):
        make(data, input_nodes=torch.arange(data.num_nodes).flip(0)).load_state_dict(state)
    with pytest.raises(InvalidInput, match="num_edges"):
        make(random_data(3000, 39999)).load_state_dict(state)
    assert make(data, num_workers=0, prefetch_factor=3).load_state_dict(state) is None


def test_states_of_other_negatives_are_refused(data):
    def links(**options):
        return LinkNeighborLoader(data, [2], batch_size=100, seed=1, **options)

    state = links(neg_sampling="binary").state_dict()
    links(neg_sampling="binary").load_state_dict(state)
    for options in ({}, {"neg_sampling": "triplet"}, {"neg_sampling_ratio": 2.0}):
        with pytest.raises(InvalidInput, match="neg_sampling"):
            links(**options).load_state_dict(state)


@pytest.mark.parametrize(
    "name, value",
    [
        ("batch", 99),
        ("batch", -1),
        ("batch", 1.0),
        ("batch", "1"),
        ("batch", None),
        ("epoch", -1),
        ("epoch", 2**32),
        ("epoch", True),
        ("version", 3),
        ("version", None),
        ("more", 1),
    ],
)
def test_states_out_of_range_are_refused(data, name, value):
    loader = make(data)
    with pytest.raises(InvalidInput, match=name):
        loader.load_state_dict({**loader.state_dict(), name: value})
    for state in ({}, None, [1]):
        with pytest.raises(InvalidInput, match="state"):
            loader.load_state_dict(state)
    missing = loader.state_dict()
    del missing["batch_size"]
    with pytest.raises(InvalidInput, match="batch_size"):
        loader.load_state_dict(missing)


def test_batches_beyond_those_of_a_sampler_are_refused(data):
    def without_length():
        yield from ([1, 2], [3])

    class Sampler:
        def __iter__(self):
            return without_length()

    loader = NeighborLoader(data, [2], batch_sampler=Sampler(), seed=1)
    loader.load_state_dict({**loader.state_dict(), "batch": 3})
    with pytest.raises(InvalidInput, match="batch"):
        iter(loader)


def test_states_of_version_1_are_read(data):
    epoch = list(map(summary, make(data)))
    loader = make(data)
    loader.load_state_dict({"version": 1, "seed": 11, "epoch": 0, "batch": 7, "num_inputs": data.num_nodes})
    assert list(map(summary, loader)) == epoch[7:]
    with pytest.raises(InvalidInput, match="seed"):
        loader.load_state_dict({"version": 1, "seed": 12, "epoch": 0, "batch": 7, "num_inputs": data.num_nodes})


def test_states_are_documents(data):
    state = make(data).state_dict()
    assert json.loads(json.dumps(state)) == state
    make(data).load_state_dict(json.loads(json.dumps(state)))


_PROGRAM = """
import hashlib, json, sys
sys.path.insert(0, {tests!r})
from conftest import random_data
from test_reproducible import make, summary
print(hashlib.sha256(json.dumps([summary(b) for b in make(random_data(3000, 40000))]).encode()).hexdigest())
"""


@pytest.mark.slow  # each imports torch anew
def test_processes_do_not_matter():
    program = _PROGRAM.format(tests=__file__.rpartition("/")[0])
    hashes = {subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout for _ in "ab"}
    assert len(hashes) == 1 and len(hashes.pop()) == 65


def test_links_too(data):
    def batches(workers):
        loader = LinkNeighborLoader(
            data, [4, 3], batch_size=3000, neg_sampling="binary", shuffle=True, num_workers=workers, seed=3
        )
        return [(summary(batch), batch.edge_label_index.tolist()) for batch in loader]

    assert batches(0) == batches(1) == batches(3)


def test_pickled_loaders_are_the_same(data):
    small = make(random_data(200, 2000))
    other = pickle.loads(pickle.dumps(small))
    assert list(map(summary, other)) == list(map(summary, small))


def summaries(loader) -> list:
    return list(map(summary, loader))


@pytest.mark.slow  # each imports torch anew
def test_spawned_processes_get_the_loader():
    loader = make(random_data(200, 2000))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(summaries, (loader,))
    assert found == summaries(loader)
