"""Stores from files, data sets of PyG and of GraphBolt."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData, InMemoryDataset

import gnomon
from conftest import random_data
from gnomon import InvalidInput
from gnomon._program import run

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
    (tmp_path / "bolt" / "metadata.yaml").write_text("graph: {nodes: [{num: 1, type: a}], edges: [{path: b}]}\n")
    with pytest.raises(InvalidInput, match="heterogeneous graphs"):
        gnomon.import_graph(tmp_path / "bolt", tmp_path / "other")


def test_generated_graphs(tmp_path):
    store = gnomon.generate("sbm", tmp_path / "store", vertices=500, classes=4, seed=3)
    assert store.num_nodes == 500 and store.num_classes == 4 and store.to_data().train_mask.any()


def test_wrong_input(tmp_path):
    for source, named in (
        (tmp_path / "nothing", "nothing"),
        (HeteroData(), "source"),
        (Data(x=torch.zeros(2, 2)), "source"),
        ([random_data(5, 5), random_data(5, 5)], "source"),
        (Data(edge_index=torch.zeros(2, 1).long(), y=torch.zeros(3, 2), num_nodes=3), "source"),
    ):
        with pytest.raises(InvalidInput, match=named):
            gnomon.import_graph(source, tmp_path / "store")
    with pytest.raises(InvalidInput, match="no-such"):
        gnomon.import_graph(labelled_data(), tmp_path / "store", no_such=1)
    with pytest.raises(InvalidInput, match="format"):
        gnomon.import_graph(labelled_data(), tmp_path / "store", "npz")
    assert not (tmp_path / "store").exists()
