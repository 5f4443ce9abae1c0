"""Stores from files, data sets of PyG and of GraphBolt."""

from __future__ import annotations

import gzip
import warnings

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData, InMemoryDataset
from torch_geometric.utils import to_undirected

import gnomon
from conftest import random_data
from gnomon import InvalidInput
from gnomon._program import run
from gnomon.pyg import NeighborLoader

try:
    run("catalog")
except gnomon.GnomonError as error:
    pytest.skip(str(error), allow_module_level=True)


def labelled_data():
    """A graph without repeated edges and self-loops, which imports drop by default, with a split."""
    data = random_data(200, 1500)
    edges = data.edge_index[:, data.edge_index[0] != data.edge_index[1]]
    keys = (edges[1] * 200 + edges[0]).unique()
    data.edge_index = torch.stack([keys % 200, keys // 200])
    data.edge_weight = torch.rand(data.num_edges) + 0.1
    del data.edge_attr
    data.val_mask = ~data.train_mask & (torch.arange(200) % 2 == 0)
    data.test_mask = ~data.train_mask & ~data.val_mask
    return data


class OneGraph(InMemoryDataset):
    name = "one"

    def __init__(self, data):
        super().__init__()
        self.data, self.slices = self.collate([data])


def check_store(store, data):
    assert (store.num_nodes, store.num_edges) == (data.num_nodes, data.num_edges)
    found = store.to_data()
    assert torch.equal(found.edge_index, data.edge_index)  # sorted by destination, then source
    for key in ("x", "y", "train_mask", "val_mask", "test_mask"):
        assert torch.equal(found[key], data[key]), key


@pytest.mark.parametrize("wrapped", [False, True])
def test_data_of_pyg(tmp_path, wrapped):
    data = labelled_data()
    source = OneGraph(data) if wrapped else data
    store = gnomon.import_graph(source, tmp_path / "folder" / "store", edge_weights="given", split="given")
    check_store(store, data)
    assert np.allclose(store.edge_weights, data.edge_weight)
    assert store.name == ("one" if wrapped else "graph")
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["store"]


@pytest.mark.parametrize("undirected", [False, True])
def test_options_are_flags(tmp_path, undirected):
    data = labelled_data()
    found = gnomon.import_graph(data, tmp_path / "store", undirected=undirected).to_data()
    expected = to_undirected(data.edge_index, num_nodes=200) if undirected else data.edge_index
    assert found.num_edges == expected.shape[1]


def test_sparse_features_come_back_dense(tmp_path):
    data = labelled_data()
    data.x = (data.x > 1.3).float()
    store = gnomon.import_graph(data, tmp_path / "store", feature_form="sparse")
    indptr, columns, values = store.sparse_features
    assert len(indptr) == 201 and len(columns) == int(data.x.sum()) and values is None
    check_store(store, data)


def test_files(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,a\n")
    store = gnomon.import_graph(tmp_path / "edges.csv", tmp_path / "store", "edges", random_features=3)
    assert (store.num_nodes, store.num_edges, store.num_features) == (3, 3, 3)
    assert store.names == ["a", "b", "c"] and store.original_ids is None
    assert np.array_equal(np.diff(store.indptr), [1, 1, 1]) and len(store.indices) == 3


def test_open_graph_benchmark(tmp_path):
    data = labelled_data()
    raw, split = tmp_path / "products" / "raw", tmp_path / "products" / "split" / "sales"
    raw.mkdir(parents=True)
    split.mkdir(parents=True)
    np.savez(raw / "data.npz", edge_index=data.edge_index, node_feat=data.x, num_nodes_list=np.array([200]))
    np.savez(raw / "node-label.npz", node_label=data.y.view(-1, 1).float())
    for name, mask in (("train", data.train_mask), ("valid", data.val_mask), ("test", data.test_mask)):
        with gzip.open(split / f"{name}.csv.gz", "wt") as file:
            file.writelines(f"{each}\n" for each in mask.nonzero().view(-1).tolist())
    check_store(gnomon.import_graph(tmp_path / "products", tmp_path / "store"), data)


def write_graphbolt(directory, data, edges_format):
    directory.mkdir()
    arrays = {"x": data.x, "all_edges": data.edge_index}
    for name in ("train", "val", "test"):
        arrays[f"{name}_seeds"] = data[f"{name}_mask"].nonzero().view(-1)
        arrays[f"{name}_labels"] = data.y[data[f"{name}_mask"]]
    for name, array in arrays.items():
        np.save(directory / f"{name}.npy", array.numpy())
    np.savetxt(directory / "edges.csv", data.edge_index.t().numpy(), delimiter=",", fmt="%d")
    edges = "{format: csv, path: edges.csv}" if edges_format == "csv" else "{format: numpy, path: all_edges.npy}"

    def part(name):
        parts = [f"{{name: {kind}, format: numpy, path: {name}_{kind}.npy}}" for kind in ("seeds", "labels")]
        return f"[{{data: [{', '.join(parts)}]}}]"

    (directory / "metadata.yaml").write_text(
        f"dataset_name: small\ngraph:\n  nodes:\n    - num: {data.num_nodes}\n  edges:\n    - {edges}\n"
        "feature_data:\n  - {domain: node, name: feat, format: numpy, path: x.npy}\n"
        "tasks:\n  - name: node_classification\n    num_classes: 5\n"
        f"    train_set: {part('train')}\n    validation_set: {part('val')}\n    test_set: {part('test')}\n"
    )


@pytest.mark.parametrize("edges_format", ["csv", "numpy"])
def test_graphbolt(tmp_path, edges_format):
    pytest.importorskip("yaml")
    data = labelled_data()
    write_graphbolt(tmp_path / "bolt", data, edges_format)
    store = gnomon.import_graph(tmp_path / "bolt", tmp_path / "store")
    check_store(store, data)
    assert store.name == "small"
    np.save(tmp_path / "bolt" / "val_labels.npy", data.y[data.val_mask].numpy() + 0.5)
    with pytest.raises(InvalidInput, match="validation_set: labels: .* is not a class"):
        gnomon.import_graph(tmp_path / "bolt", tmp_path / "other")
    (tmp_path / "bolt" / "metadata.yaml").write_text("graph: {nodes: [{num: 1, type: a}], edges: [{path: b}]}\n")
    with pytest.raises(InvalidInput, match="heterogeneous graphs"):
        gnomon.import_graph(tmp_path / "bolt", tmp_path / "other")


def test_graphbolt_with_several_classes_per_node(tmp_path):
    pytest.importorskip("yaml")
    data = labelled_data()
    data.y = (torch.rand(200, 4, generator=torch.Generator().manual_seed(2)) < 0.5).float()
    write_graphbolt(tmp_path / "bolt", data, "numpy")
    store = gnomon.import_graph(tmp_path / "bolt", tmp_path / "store")
    seeds = data.train_mask | data.val_mask | data.test_mask
    assert store.is_multilabel and torch.equal(store.to_data().y[seeds], data.y[seeds])
    np.save(tmp_path / "bolt" / "val_labels.npy", data.y[data.val_mask, :3].numpy())
    with pytest.raises(InvalidInput, match="validation_set: labels: must have as many columns"):
        gnomon.import_graph(tmp_path / "bolt", tmp_path / "other")


def without_split(data):
    for split in ("train", "val", "test"):
        del data[f"{split}_mask"]
    return data


@pytest.mark.parametrize("valid", ["val_idx", "valid_idx"])
@pytest.mark.parametrize("as_array", [False, True])
def test_splits_given_as_ids(tmp_path, valid, as_array):
    data = labelled_data()
    masks = {name: data[f"{name}_mask"] for name in ("train", "val", "test")}
    without_split(data)
    for name, key in (("train", "train_idx"), ("val", valid), ("test", "test_idx")):
        ids = masks[name].nonzero().view(-1)
        data[key] = ids.numpy() if as_array else ids
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = gnomon.import_graph(data, tmp_path / "store").to_data()
    assert not [each for each in caught if "split" in str(each.message) or "_idx" in str(each.message)]
    for name, mask in masks.items():
        assert torch.equal(found[f"{name}_mask"], mask)


def test_splits_of_data_sets(tmp_path):
    data = labelled_data()

    class WithSplit(OneGraph):
        def get_idx_split(self):
            return {"train": torch.arange(0, 50), "test": np.arange(50, 200)}

    found = gnomon.import_graph(WithSplit(without_split(data)), tmp_path / "store").to_data()
    assert found.train_mask.nonzero().view(-1).tolist() == list(range(50))
    assert int(found.test_mask.sum()) == 150 and not found.val_mask.any()


def test_splits_without_some_set(tmp_path):
    data = labelled_data()
    del data.val_mask
    found = gnomon.import_graph(data, tmp_path / "store").to_data()
    assert torch.equal(found.train_mask, data.train_mask) and not found.val_mask.any()
    del data.train_mask
    with pytest.raises(InvalidInput, match="test_mask, but no train_mask"):
        gnomon.import_graph(data, tmp_path / "other")


@pytest.mark.parametrize("ids", [[200], [-1], [0.5], [[1], [2]]])
def test_wrong_splits(tmp_path, ids):
    data = without_split(labelled_data())
    data.train_idx, data.test_idx = torch.arange(10), torch.tensor(ids)
    with pytest.raises(InvalidInput, match="source.test_idx"):
        gnomon.import_graph(data, tmp_path / "store")


def test_drawn_splits_are_reported(tmp_path):
    data = without_split(labelled_data())
    with pytest.warns(UserWarning, match="at random.*60 %.*20 %.*seed 0"):
        gnomon.import_graph(data, tmp_path / "store")


def test_ignored_attributes_are_reported(tmp_path):
    data = labelled_data()
    data.edge_attr = torch.rand(data.num_edges, 3)
    data.year = torch.arange(200)
    data.matrix = torch.rand(3, 3)
    with pytest.warns(UserWarning, match=r'^not imported: edge_attr, edge_weight, year \(edge_weights="given"'):
        gnomon.import_graph(data, tmp_path / "store")
    with pytest.warns(UserWarning, match=r"^not imported: edge_attr, year$"):
        gnomon.import_graph(data, tmp_path / "weighted", edge_weights="given")
    del data.edge_weight
    with pytest.raises(InvalidInput, match="edge_weight"):
        gnomon.import_graph(data, tmp_path / "other", edge_weights="given")


@pytest.mark.parametrize(
    "labels, message",
    [
        (torch.rand(200) * 9.9 + 0.01, "of node 0 is not a class"),
        (torch.arange(200) - 2, "-2 of node 0"),
        (torch.arange(200.0).index_fill(0, torch.tensor([7]), float("inf")), "inf of node 7"),
        (torch.arange(200) * 1_000_000, "2000000 of node 2"),
        (torch.full((200, 3), 2), "2.0 of node 0 for class 0"),
        (torch.zeros(200, 3).index_fill(1, torch.tensor([1]), float("nan")), "nan of node 0 for class 1"),
        (torch.zeros(100, 2), "200 nodes"),
        (torch.zeros(200, dtype=torch.complex64), "complex64"),
    ],
)
def test_labels_that_are_no_classes(tmp_path, labels, message):
    data = labelled_data()
    data.y = labels
    with pytest.raises(InvalidInput, match=f"^source.y: .*{message}"):
        gnomon.import_graph(data, tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("unknown", [-1, float("nan")])
@pytest.mark.parametrize("shape", [(200,), (200, 1)])
def test_unknown_labels(tmp_path, unknown, shape):
    data = labelled_data()
    classes = data.y.clone()
    classes[3] = -1
    data.y = data.y.float().index_fill(0, torch.tensor([3]), unknown).view(shape)
    data.train_mask[3], data.val_mask[3], data.test_mask[3] = False, False, False
    assert torch.equal(gnomon.import_graph(data, tmp_path / "store").to_data().y, classes)


@pytest.mark.parametrize("unknown", [-1, float("nan")])
def test_several_classes_per_node(tmp_path, unknown):
    data = labelled_data()
    data.y = (torch.rand(200, 5, generator=torch.Generator().manual_seed(3)) < 0.3).float()
    data.y[3] = unknown
    data.train_mask[3], data.val_mask[3], data.test_mask[3] = False, False, False
    store = gnomon.import_graph(data, tmp_path / "store")
    assert store.is_multilabel and store.num_classes == 5
    expected = data.y.clone()
    expected[3] = float("nan")
    assert torch.equal(store.to_data().y.nan_to_num(-1), expected.nan_to_num(-1))
    assert len(store.label_sets) == len(data.y[torch.arange(200) != 3].unique(dim=0))
    for batch in NeighborLoader(store, [4], batch_size=30, num_workers=1):
        assert batch.y.dtype == torch.float32
        assert torch.equal(batch.y.nan_to_num(-1), expected[batch.n_id].nan_to_num(-1))


def test_generated_graphs(tmp_path):
    store = gnomon.generate("sbm", tmp_path / "store", vertices=np.int64(500), classes=4, seed=3)
    assert store.num_nodes == 500 and store.num_classes == 4 and store.to_data().train_mask.any()


def test_wrong_input(tmp_path):
    for source, named in (
        (tmp_path / "nothing", "nothing"),
        (HeteroData(), "source"),
        (Data(x=torch.zeros(2, 2)), "source"),
        ([random_data(5, 5), random_data(5, 5)], "source"),
        (Data(edge_index=torch.zeros(2, 1).long(), y=torch.zeros(2, 2), num_nodes=3), "source"),
    ):
        with pytest.raises(InvalidInput, match=named):
            gnomon.import_graph(source, tmp_path / "store")
    with pytest.raises(InvalidInput, match="no_such"):
        gnomon.import_graph(labelled_data(), tmp_path / "store", no_such=1)
    with pytest.raises(InvalidInput, match="format"):
        gnomon.import_graph(labelled_data(), tmp_path / "store", "npz")
    assert not (tmp_path / "store").exists()
