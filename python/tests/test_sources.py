"""Graphs that are not a Data object with ``edge_index``: ``adj_t``, and PyG's feature stores and graph stores."""

from __future__ import annotations

import copy

import pytest
import torch
from torch_geometric.data import Data, FeatureStore, GraphStore, HeteroData
from torch_geometric.testing import MyFeatureStore, MyGraphStore

from conftest import random_data
from gnomon import InvalidInput
from gnomon.pyg import LinkNeighborLoader, NeighborLoader
from reference import check_batch

OPTIONS = {"batch_size": 64, "shuffle": True, "seed": 5, "num_workers": 2}


class Matrix:
    """What we use of torch_sparse's SparseTensor."""

    def __init__(self, row, col, value=None, sparse_sizes=None, is_sorted=False):
        order = (row * sparse_sizes[1] + col).argsort(stable=True)
        self.row, self.col, self.sizes = row[order], col[order], sparse_sizes
        self.value = None if value is None else value[order]

    def csr(self):
        counts = torch.bincount(self.row, minlength=self.sizes[0])
        return torch.nn.functional.pad(counts.cumsum(0), (1, 0)), self.col, self.value

    def size(self, dim):
        return self.sizes[dim]


def sorted_data():
    """A graph whose edges are in the order of its adjacency matrix, without repeated ones."""
    data = random_data(400, 5000)
    keys = (data.edge_index[1] * 400 + data.edge_index[0]).unique()
    data.edge_index = torch.stack([keys % 400, keys // 400])
    data.edge_weight = torch.rand(data.num_edges) + 0.1
    del data.edge_attr
    return data


def with_matrix(data, kind):
    found = copy.copy(data)
    del found.edge_index, found.edge_weight
    if kind is Matrix:
        found.adj_t = Matrix(data.edge_index[1], data.edge_index[0], data.edge_weight, (400, 400))
        return found
    coo = torch.sparse_coo_tensor(data.edge_index.flip(0), data.edge_weight, (400, 400)).coalesce()
    found.adj_t = coo.to_sparse_csr() if kind == "csr" else coo
    return found


@pytest.mark.parametrize("kind", ["csr", "coo", Matrix])
def test_adjacency_matrices(kind):
    data = sorted_data()
    expected = NeighborLoader(data, [4, 3], input_nodes=data.train_mask, **OPTIONS)
    for theirs, ours in zip(
        expected, NeighborLoader(with_matrix(data, kind), [4, 3], input_nodes=data.train_mask, **OPTIONS), strict=True
    ):
        for key in ("x", "y", "n_id", "e_id", "input_id"):
            assert torch.equal(ours[key], theirs[key]), key
        assert "edge_index" not in ours
        matrix = ours.adj_t
        if kind is Matrix:
            rows, columns, values = matrix.row, matrix.col, matrix.value
        else:
            assert matrix.layout == torch.sparse_csr and matrix.shape == (ours.num_nodes, ours.num_nodes)
            rows = torch.repeat_interleave(torch.arange(ours.num_nodes), matrix.crow_indices().diff())
            columns, values = matrix.col_indices(), matrix.values()
        found = torch.sparse_coo_tensor(torch.stack([columns, rows]), values, [ours.num_nodes] * 2)
        wanted = torch.sparse_coo_tensor(theirs.edge_index, theirs.edge_weight, [ours.num_nodes] * 2)
        torch.testing.assert_close(found.to_dense(), wanted.to_dense())


def test_links_of_an_adjacency_matrix():
    data = sorted_data()
    ours = next(iter(LinkNeighborLoader(with_matrix(data, "csr"), [3], batch_size=50, seed=1, num_workers=1)))
    theirs = next(iter(LinkNeighborLoader(data, [3], batch_size=50, seed=1, num_workers=1)))
    assert torch.equal(ours.edge_label_index, theirs.edge_label_index) and torch.equal(ours.n_id, theirs.n_id)


def test_matrices_that_cannot_be_used():
    data = with_matrix(sorted_data(), "csr")
    with pytest.raises(InvalidInput, match="subgraph_type"):
        NeighborLoader(data, [2], subgraph_type="bidirectional")
    with pytest.raises(InvalidInput, match="transform_sampler_output"):
        NeighborLoader(data, [2], transform_sampler_output=lambda out: out)
    with pytest.raises(InvalidInput, match="adj_t"):
        NeighborLoader(Data(adj_t=torch.eye(3), num_nodes=3), [2])


def stores_of(data, layout):
    features, graph = MyFeatureStore(), MyGraphStore()
    for name in ("x", "y", "train_mask"):
        features.put_tensor(data[name], group_name=None, attr_name=name, index=None)
    edges = (data.edge_index[0], data.edge_index[1])
    if layout == "csc":
        counts = torch.bincount(edges[1], minlength=data.num_nodes)
        edges = (edges[0], torch.nn.functional.pad(counts.cumsum(0), (1, 0)))
    size = (data.num_nodes, data.num_nodes)
    graph.put_edge_index(edges, edge_type=None, layout=layout, size=size, is_sorted=layout == "csc")
    return features, graph


@pytest.mark.parametrize("layout", ["coo", "csc"])
@pytest.mark.parametrize("subgraph_type", ["directional", "bidirectional", "induced"])
def test_feature_and_graph_stores(layout, subgraph_type):
    data = sorted_data()
    nodes = data.train_mask.nonzero().view(-1)
    options = {"input_nodes": nodes, "subgraph_type": subgraph_type, **OPTIONS}
    expected = NeighborLoader(data, [4, 3], **options)
    for theirs, ours in zip(expected, NeighborLoader(stores_of(data, layout), [4, 3], **options), strict=True):
        for key in ("x", "y", "train_mask", "n_id", "edge_index", "input_id"):
            assert torch.equal(ours[key], theirs[key]), key
        assert ours.num_nodes == theirs.num_nodes


def test_links_of_stores():
    data = sorted_data()
    pair = stores_of(data, "coo")
    batch = next(iter(LinkNeighborLoader(pair, [3], neg_sampling="binary", batch_size=50, num_workers=1)))
    assert torch.equal(batch.n_id[batch.edge_label_index[:, :50]], data.edge_index[:, :50])
    assert torch.equal(batch.x, data.x[batch.n_id])


def test_graph_stores_must_tell_their_size():
    data = random_data(200, 1500)
    assert isinstance(data, FeatureStore) and isinstance(data, GraphStore)
    with pytest.raises(InvalidInput, match="size"):
        NeighborLoader((data, data), [3])


def test_typed_stores_are_refused():
    data = HeteroData()
    data["a"].x, data["b"].x = torch.zeros(2, 1), torch.zeros(2, 1)
    data["a", "to", "b"].edge_index = torch.zeros(2, 1).long()
    for wrong in ((data, data), (MyFeatureStore(), MyGraphStore()), (data,), data):
        with pytest.raises(InvalidInput, match="data"):
            NeighborLoader(wrong, [2])
    with pytest.raises(InvalidInput, match="weight_attr"):
        NeighborLoader(stores_of(sorted_data(), "coo"), [2], weight_attr="edge_weight")


@pytest.mark.parametrize("fanouts", [[0], [4, 0], [4, 0, 3], [0, 5], [-1, 0]])
@pytest.mark.parametrize("disjoint", [False, True])
def test_fanouts_of_zero(data, fanouts, disjoint):
    kept = fanouts[: fanouts.index(0)]
    options = {"disjoint": disjoint, "batch_size": 100, "input_nodes": range(300), "seed": 3, "num_workers": 1}
    for batch in NeighborLoader(data, fanouts, **options):
        check_batch(batch, data, fanouts, disjoint)
        assert len(batch.num_sampled_nodes) == len(fanouts) + 1
        if not kept:
            assert batch.n_id.tolist() == batch.n_id[:100].tolist() and batch.num_edges == 0
    if kept:
        for left, right in zip(NeighborLoader(data, fanouts, **options), NeighborLoader(data, kept, **options)):
            assert torch.equal(left.n_id, right.n_id) and torch.equal(left.e_id, right.e_id)


def test_fanouts_of_zero_when_every_hop_expands_all(data):
    batch = next(iter(NeighborLoader(data, [4, 0], expand="every_hop", batch_size=50, num_workers=1)))
    assert batch.num_sampled_edges[1] == 0
    with pytest.raises(InvalidInput, match="num_neighbors"):
        NeighborLoader(data, [4, 0, 3], expand="every_hop")


def test_arguments_by_position(data):
    """As PyG's order has them."""
    theirs = NeighborLoader(data, [3], range(10), None, True, "induced", False, "uniform", None, "edge_weight", seed=1)
    ours = NeighborLoader(
        data, [3], range(10), replace=True, subgraph_type="induced", weight_attr="edge_weight", seed=1
    )
    assert torch.equal(next(iter(theirs)).e_id, next(iter(ours)).e_id)
    links = LinkNeighborLoader(data, [3], None, None, None, False, "directional", False, "uniform", "binary", seed=1)
    assert links.neg_sampling.is_binary()
    with pytest.raises(TypeError, match="replace"):
        NeighborLoader(data, [3], None, None, True, replace=True)
    with pytest.raises(TypeError, match="positional"):
        NeighborLoader(data, [3], *[None] * 30)
