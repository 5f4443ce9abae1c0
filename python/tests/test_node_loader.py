"""gnomon.pyg.NeighborLoader against its definition and against PyG."""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections import Counter

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv
from torch_geometric.utils import trim_to_layer

import gnomon
from conftest import random_data
from gnomon.pyg import NeighborLoader, Sampler
from reference import check_batch, chi_square_p, in_edges, sample_once


@pytest.mark.parametrize("fanouts", [[10], [5, 3], [3, 2, 4], [-1, 2], [-1, -1]])
@pytest.mark.parametrize("threads", [1, 2])
def test_batches_hold_what_was_sampled(data, fanouts, threads):
    loader = NeighborLoader(
        data, fanouts, input_nodes=data.train_mask, batch_size=200, num_workers=2, threads_per_batch=threads
    )
    inputs = data.train_mask.nonzero().view(-1)
    assert len(loader) == math.ceil(len(inputs) / 200)
    batches = list(loader)
    assert len(batches) == len(loader)
    for batch in batches:
        check_batch(batch, data, fanouts)
        assert torch.equal(batch.n_id[: batch.batch_size], batch.input_id)  # of a mask, as PyG
    assert torch.equal(torch.cat([batch.input_id for batch in batches]), inputs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_threads_that_share_a_batch_gather_all_rows(dtype):
    data = random_data(3000, 30_000, seed=2)
    data.x = torch.arange(3000 * 300, dtype=dtype).view(3000, 300)  # more than threads would leave to one of them
    for batch in NeighborLoader(data, [4, 4], batch_size=500, num_workers=0, threads_per_batch=3):
        assert torch.equal(batch.x, data.x[batch.n_id])


def test_without_workers_torchs_threads_share_a_batch(data):
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        loader = NeighborLoader(data, [3], num_workers=0)
        assert loader.plan.threads_per_batch == 2
        loader.num_workers = 2
        assert (loader.plan.workers, loader.plan.threads_per_batch) == (2, 1)
        loader.num_workers = 0
        assert (loader.plan.workers, loader.plan.threads_per_batch) == (0, 2)
        given = NeighborLoader(data, [3], num_workers=0, threads_per_batch=1)
        given.num_workers = 3
        assert given.plan.threads_per_batch == 1
        torch.set_num_threads(40)
        assert NeighborLoader(data, [3], num_workers=0).plan.threads_per_batch == 16
    finally:
        torch.set_num_threads(threads)


def test_distribution_is_that_of_the_definition():
    small = random_data(12, 50, seed=3)
    lists = in_edges(small.edge_index, 12)
    draws = random.Random(1)  # a fixed seed: one in a thousand would be refused
    observed, expected = Counter(), Counter()
    loader = NeighborLoader(small, [2, 2], input_nodes=[0, 5], batch_size=2, num_workers=0, seed=7)
    for _ in range(6000):
        (batch,) = loader
        observed[tuple(sorted(batch.e_id.tolist()))] += 1
        _, edges, _, _ = sample_once(small.edge_index, lists, [0, 5], [2, 2], draws)
        expected[tuple(sorted(edges))] += 1
    assert len(expected) > 30
    assert chi_square_p(observed, expected) > 1e-3


def test_weighted_distribution():
    edge_index = torch.tensor([[1, 2, 3, 4], [0, 0, 0, 0]])
    weights = torch.tensor([1.0, 2.0, 4.0, 1.0])
    star = Data(edge_index=edge_index, edge_weight=weights, num_nodes=5)
    random.seed(5)  # a fixed seed: one in five hundred would be refused
    for replace in (False, True):
        loader = NeighborLoader(
            star, [2], input_nodes=[0], weight_attr="edge_weight", replace=replace, num_workers=0, seed=1
        )
        observed, expected = Counter(), Counter()
        for _ in range(6000):
            (batch,) = loader
            observed[tuple(sorted(batch.e_id.tolist()))] += 1
            first, second = random.choices(range(4), weights.tolist(), k=2)
            while second == first and not replace:  # each draw is proportional to the remaining weights
                second = random.choices(range(4), weights.tolist())[0]
            expected[tuple(sorted((first, second)))] += 1
        assert chi_square_p(observed, expected) > 1e-3


def test_hop_sizes_are_those_of_the_definition():
    large = random_data(5000, 60000, seed=8)
    lists = in_edges(large.edge_index, 5000)
    draws = random.Random(2)  # a fixed seed: one in some thousands would be refused
    loader = NeighborLoader(large, [8, 4], batch_size=100, shuffle=True, num_workers=2, seed=4)
    ours = torch.tensor([batch.num_sampled_nodes + batch.num_sampled_edges for batch in loader]).double()
    theirs = []
    for _ in range(50):
        _, _, nodes, edges = sample_once(large.edge_index, lists, draws.sample(range(5000), 100), [8, 4], draws)
        theirs.append(nodes + edges)
    theirs = torch.tensor(theirs).double()
    spread = (ours.var(0) / len(ours) + theirs.var(0) / len(theirs)).sqrt()
    assert bool(((ours.mean(0) - theirs.mean(0)).abs() <= 4 * spread + 1e-9).all())


def test_attributes_of_all_kinds(data):
    edited = copy.copy(data)
    n, e = data.num_nodes, data.num_edges
    edited.half = torch.randn(n, 3, 2).half()
    edited.flags = torch.rand(n, 4) < 0.5
    edited.strided = torch.randn(n, 10)[:, ::2]
    edited.edge_time = torch.randint(0, 9, (e,))
    edited.name = "graph"
    edited.matrix = torch.randn(3, 3)
    for batch in NeighborLoader(edited, [4, 4], batch_size=500, num_workers=1):
        for key in ("half", "flags", "strided"):
            assert torch.equal(batch[key], edited[key][batch.n_id])
        assert torch.equal(batch.edge_time, edited.edge_time[batch.e_id])
        assert batch.name == "graph" and batch.matrix is edited.matrix


def test_data_may_be_edited_between_epochs(data):
    # As PyG's examples/reddit.py does for layer-wise inference.
    loader = NeighborLoader(copy.copy(data), [-1], batch_size=512, num_workers=1)
    next(iter(loader))
    del loader.data.x, loader.data.y
    loader.data.num_nodes = data.num_nodes
    loader.data.n_id = torch.arange(data.num_nodes)
    seen = []
    for batch in loader:
        assert "x" not in batch and "y" not in batch
        assert batch.num_nodes == batch.n_id.numel()
        assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
        seen.append(batch.n_id[: batch.batch_size])
    assert torch.equal(torch.cat(seen), torch.arange(data.num_nodes))


def test_trim_to_layer_changes_nothing(data):
    torch.manual_seed(0)
    layers = [SAGEConv(16, 8), SAGEConv(8, 8), SAGEConv(8, 4)]
    for batch in NeighborLoader(data, [4, 3, 2], batch_size=100, num_workers=1):
        full = trimmed = batch.x
        edges = batch.edge_index
        for i, layer in enumerate(layers):
            full = layer(full, batch.edge_index)
            trimmed, edges, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, trimmed, edges, None)
            trimmed = layer(trimmed, edges)
        count = batch.batch_size
        assert torch.allclose(full[:count], trimmed[:count], atol=1e-5)


def test_induced_holds_all_edges_between_the_nodes(data):
    for argument in ({"subgraph_type": "induced"}, {"directed": False}):
        for batch in NeighborLoader(data, [3, 2], input_nodes=range(300), batch_size=50, **argument):
            inside = torch.isin(data.edge_index, batch.n_id).all(0)
            assert torch.equal(batch.e_id.sort().values, inside.nonzero().view(-1))
            assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
            assert "num_sampled_edges" not in batch


def test_bidirectional_has_both_directions(data):
    for batch in NeighborLoader(data, [3, 2], input_nodes=range(300), batch_size=50, subgraph_type="bidirectional"):
        pairs = set(map(tuple, batch.edge_index.t().tolist()))
        assert pairs == {(b, a) for a, b in pairs}
        assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])


def test_disjoint_gives_each_seed_a_subgraph(data):
    for batch in NeighborLoader(data, [4, 3], input_nodes=range(200), batch_size=50, disjoint=True, num_workers=1):
        check_batch(batch, data, [4, 3], disjoint=True)
        assert torch.equal(batch.batch[:50], torch.arange(50))
        assert torch.equal(batch.batch[batch.edge_index[0]], batch.batch[batch.edge_index[1]])
        both = torch.stack([batch.batch, batch.n_id])
        assert both.unique(dim=1).shape == both.shape


def test_trees_draw_independently():
    star = Data(edge_index=torch.tensor([[1, 2, 3, 4], [0, 0, 0, 0]]), num_nodes=5)
    loader = NeighborLoader(star, [1], batch_sampler=[[0] * 400], disjoint=True, num_workers=0)
    (batch,) = loader
    counts = torch.bincount(batch.n_id[400:], minlength=5)[1:]
    assert int(counts.sum()) == 400
    assert bool((counts > 60).all())


def test_replacement_draws_as_many_as_asked(data):
    degrees = torch.bincount(data.edge_index[1], minlength=data.num_nodes)
    for batch in NeighborLoader(data, [30, 2], input_nodes=range(200), batch_size=100, replace=True):
        first = batch.edge_index[1, : batch.num_sampled_edges[0]]
        expected = torch.where(degrees[batch.n_id[:100]] > 0, 30, 0)
        assert torch.equal(torch.bincount(first, minlength=100), expected)


def test_every_hop_expands_all_nodes_again(data):
    degrees = torch.bincount(data.edge_index[1], minlength=data.num_nodes)
    for batch in NeighborLoader(data, [3, 3], batch_size=100, input_nodes=range(300), expand="every_hop"):
        before = sum(batch.num_sampled_nodes[:2])
        second = batch.edge_index[1, batch.num_sampled_edges[0] :]
        assert torch.equal(torch.bincount(second, minlength=before), degrees[batch.n_id[:before]].clamp(max=3))


@pytest.mark.parametrize("expand", ["once", "every_hop"])
def test_repeated_seeds_have_the_same_edges(data, expand):
    seeds = [5, 7, 5, 9, 7, 5]
    (batch,) = NeighborLoader(data, [4, 3], input_nodes=seeds, batch_size=6, num_workers=0, expand=expand)
    assert batch.n_id[:6].tolist() == seeds
    assert torch.equal(data.edge_index[:, batch.e_id], batch.n_id[batch.edge_index])
    first = batch.num_sampled_edges[0]

    def edges_of(seed):
        return batch.e_id[:first][batch.edge_index[1, :first] == seed].tolist()

    assert edges_of(0) == edges_of(2) == edges_of(5) and edges_of(1) == edges_of(4)
    assert batch.n_id[6:].unique().numel() == batch.n_id[6:].numel()


def test_shuffle_drop_last_and_samplers(data):
    loader = NeighborLoader(data, [2], batch_size=64, shuffle=True, drop_last=True, num_workers=1)
    assert len(loader) == data.num_nodes // 64
    first, second = ([batch.input_id for batch in loader] for _ in range(2))
    assert all(len(each) == 64 for each in first)
    assert torch.cat(first).unique().numel() == 64 * len(loader)
    assert not torch.equal(torch.cat(first), torch.cat(second))
    weighted = torch.utils.data.WeightedRandomSampler([1.0] * data.num_nodes, 500)
    loader = NeighborLoader(data, [2], batch_size=100, sampler=weighted, num_workers=1)
    assert len(loader) == 5 and sum(batch.batch_size for batch in loader) == 500
    loader = NeighborLoader(data, [2], batch_sampler=[[3, 1], [2], []], num_workers=1)
    assert [batch.n_id[: batch.batch_size].tolist() for batch in loader] == [[3, 1], [2], []]


def test_transforms_are_applied(data):
    def keep_first_hop(out):
        count = out.num_sampled_edges[0]
        out.row, out.col, out.edge = out.row[:count], out.col[:count], out.edge[:count]
        return out

    loader = NeighborLoader(
        data, [3, 3], batch_size=300, transform=lambda batch: (batch, 1), transform_sampler_output=keep_first_hop
    )
    for batch, one in loader:
        assert one == 1
        assert batch.num_edges == batch.num_sampled_edges[0]
        assert torch.equal(batch.edge_attr, data.edge_attr[batch.e_id])


def test_our_sampler_in_pygs_loader(data):
    from torch_geometric.loader import NeighborLoader as Theirs

    sampler = Sampler(data, [5, 3])
    for batch in Theirs(data, [5, 3], neighbor_sampler=sampler, input_nodes=range(300), batch_size=100):
        check_batch(batch, data, [5, 3])
    for batch in NeighborLoader(data, None, neighbor_sampler=sampler, batch_size=500, num_workers=1):
        check_batch(batch, data, [5, 3])


def test_calls_sample_one_batch(data):
    def make():
        return NeighborLoader(data, [5, 3], input_nodes=data.train_mask, batch_size=64, shuffle=True, seed=2)

    inputs = data.train_mask.nonzero().view(-1)
    loader, other = make(), make()
    expected = [batch.n_id for batch in make()]
    iterator = iter(loader)
    epoch = [next(iterator).n_id]
    drawn = []
    for index in (torch.tensor([4, 0, 9]), np.array([4, 0, 9]), [4, 0, 9]):
        batch = loader(index)
        check_batch(batch, data, [5, 3])
        assert batch.batch_size == 3 and torch.equal(batch.n_id[:3], inputs[[4, 0, 9]])
        assert torch.equal(batch.input_id, batch.n_id[:3])
        assert torch.equal(batch.n_id, other(index).n_id)
        drawn.append(batch.n_id.tolist())
    assert drawn[0] != drawn[1] and loader.state_dict()["batch"] == 1
    epoch += [batch.n_id for batch in iterator]
    assert all(map(torch.equal, epoch, expected))
    mask = torch.zeros(len(inputs), dtype=torch.bool)
    mask[[3, 5]] = True
    assert torch.equal(loader(mask).n_id[:2], inputs[[3, 5]])
    assert loader([]).batch_size == 0
    for wrong in ([len(inputs)], [-1], [0.5], "train", torch.ones(3, dtype=torch.bool)):
        with pytest.raises(gnomon.InvalidInput, match="index"):
            loader(wrong)


def test_calls_transform_and_copy(data):
    loader = NeighborLoader(data, [3], transform=lambda batch: (batch, 1), device="cpu", num_workers=2)
    batch, one = pickle.loads(pickle.dumps(NeighborLoader(data, [3], device="cpu")))([7]), loader([7])[1]
    assert batch.n_id[0] == 7 and one == 1


def test_loaders_of_one_data_share_the_graph(data):
    first, second = NeighborLoader(data, [2]), NeighborLoader(data, [3, 3], shuffle=True)
    assert first._graph is second._graph
    changed = copy.copy(data)
    changed.edge_index = data.edge_index.flip(0)
    assert NeighborLoader(changed, [2])._graph is not first._graph


def test_version():
    assert gnomon.__version__
