"""gnomon.pyg.LinkNeighborLoader."""

from __future__ import annotations

import math

import pytest
import torch
from torch_geometric.sampler import NegativeSampling

from gnomon.pyg import LinkNeighborLoader, Sampler
from test_node_loader import check_batch


@pytest.mark.parametrize("disjoint", [False, True])
def test_links_without_negatives(data, disjoint):
    links = data.edge_index[:, :500]
    labels = torch.arange(500)
    loader = LinkNeighborLoader(
        data, [3, 2], edge_label_index=links, edge_label=labels, batch_size=64, disjoint=disjoint, shuffle=True
    )
    seen = []
    for batch in loader:
        check_batch(batch, data, [3, 2], disjoint)
        assert torch.equal(batch.n_id[batch.edge_label_index], links[:, batch.input_id])
        assert torch.equal(batch.edge_label, batch.input_id)
        if disjoint:
            assert int(batch.batch.max()) < batch.input_id.numel()
            ends = batch.batch[batch.edge_label_index]
            assert torch.equal(ends[0], ends[1])
        seen.append(batch.input_id)
    assert torch.equal(torch.cat(seen).sort().values, labels)


@pytest.mark.parametrize("amount", [1, 2, 0.5])
@pytest.mark.parametrize("disjoint", [False, True])
def test_binary_negatives(data, amount, disjoint):
    loader = LinkNeighborLoader(
        data,
        [3],
        edge_label_index=data.edge_index[:, :900],
        batch_size=130,
        neg_sampling=NegativeSampling("binary", amount),
        disjoint=disjoint,
    )
    for batch in loader:
        count = batch.input_id.numel()
        negatives = math.ceil(count * amount)
        assert batch.edge_label.tolist() == [1.0] * count + [0.0] * negatives
        assert batch.edge_label_index.shape == (2, count + negatives)
        links = batch.n_id[batch.edge_label_index]
        assert torch.equal(links[:, :count], data.edge_index[:, batch.input_id])


def test_labels_leave_zero_to_negatives(data):
    labels = torch.tensor([0, 1, 2, 1])
    loader = LinkNeighborLoader(
        data, [2], data.edge_index[:, :4], edge_label=labels, batch_size=4, neg_sampling_ratio=1.0
    )
    (batch,) = loader
    assert batch.edge_label.tolist() == [1, 2, 3, 2, 0, 0, 0, 0]


@pytest.mark.parametrize("amount", [1, 3])
@pytest.mark.parametrize("disjoint", [False, True])
def test_triplets(data, amount, disjoint):
    loader = LinkNeighborLoader(
        data,
        [3, 2],
        edge_label_index=data.edge_index[:, :300],
        batch_size=70,
        neg_sampling=NegativeSampling("triplet", amount),
        disjoint=disjoint,
    )
    for batch in loader:
        links = data.edge_index[:, batch.input_id]
        assert torch.equal(batch.n_id[batch.src_index], links[0])
        assert torch.equal(batch.n_id[batch.dst_pos_index], links[1])
        assert batch.dst_neg_index.shape == ((len(batch.src_index),) if amount == 1 else (len(batch.src_index), amount))
        assert "edge_label_index" not in batch
        if disjoint and amount > 1:
            assert torch.equal(
                batch.batch[batch.dst_neg_index], batch.batch[batch.src_index].view(-1, 1).repeat(1, amount)
            )


def test_negatives_are_uniform(data):
    loader = LinkNeighborLoader(data, [1], batch_size=10000, neg_sampling="binary", num_workers=1, seed=2)
    counts = torch.zeros(data.num_nodes)
    for batch in loader:
        negatives = batch.n_id[batch.edge_label_index[:, batch.input_id.numel() :]]
        counts += torch.bincount(negatives.view(-1), minlength=data.num_nodes)
    mean = counts.sum() / data.num_nodes
    statistic = float(((counts - mean) ** 2 / mean).sum())
    # A chi-square variable of so many degrees of freedom is nearly normal.
    assert abs(statistic - (data.num_nodes - 1)) < 4 * math.sqrt(2 * data.num_nodes)


def test_our_sampler_in_pygs_loader(data):
    from torch_geometric.loader import LinkNeighborLoader as Theirs

    loader = Theirs(
        data,
        [3, 2],
        edge_label_index=data.edge_index[:, :200],
        neighbor_sampler=Sampler(data, [3, 2]),
        neg_sampling="triplet",
        batch_size=50,
    )
    for batch in loader:
        check_batch(batch, data, [3, 2])
        assert torch.equal(batch.n_id[batch.src_index], data.edge_index[0, batch.input_id])


def test_calls_sample_one_batch(data):
    links = data.edge_index[:, 100:200]
    loader = LinkNeighborLoader(data, [3, 2], edge_label_index=links, neg_sampling="binary", num_workers=1)
    batch = loader([5, 60])
    check_batch(batch, data, [3, 2])
    assert batch.input_id.tolist() == [5, 60] and batch.edge_label.tolist() == [1, 1, 0, 0]
    assert torch.equal(batch.n_id[batch.edge_label_index[:, :2]], links[:, [5, 60]])
