"""Graph stores on disk."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import torch

import gnomon
from conftest import random_data
from gnomon import InvalidInput
from gnomon.pyg import LinkNeighborLoader, NeighborLoader

FEATURE_TYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def as_stored(x):
    """Return an array as it lies in a store: NumPy has bf16 as two bytes without meaning."""
    return x.view(torch.int16).numpy().view("V2") if x.dtype == torch.bfloat16 else x.numpy()


def write_sparse(directory, x, values):
    """Write the features in CSR form instead."""
    entries = x.nonzero()
    counts = torch.bincount(entries[:, 0], minlength=len(x))
    np.save(directory / "features_indptr.npy", torch.nn.functional.pad(counts.cumsum(0), (1, 0)).numpy())
    np.save(directory / "features_columns.npy", entries[:, 1].int().numpy())
    if values:
        np.save(directory / "features_values.npy", as_stored(x[entries[:, 0], entries[:, 1]]))
    (directory / "features.npy").unlink()
    meta = json.loads((directory / "meta.json").read_text())
    meta["sparse_features"] = {"entries": len(entries), "values": values}
    (directory / "meta.json").write_text(json.dumps(meta))


def write_store(directory, data, feature_type="fp32"):
    """Write a graph in the format of ``docs/files.md``. Return the ids of the edges in the order of the store."""
    directory.mkdir()
    order = data.edge_index[1].argsort(stable=True)
    counts = torch.bincount(data.edge_index[1], minlength=data.num_nodes)
    arrays = {
        "indptr": torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)]),
        "indices": data.edge_index[0][order],
        "edge_weights": data.edge_weight[order],
        "features": data.x.to(FEATURE_TYPES[feature_type]),
        "labels": data.y.int(),
        "train": data.train_mask.nonzero().view(-1),
        "valid": torch.empty(0, dtype=torch.int64),
        "test": (~data.train_mask).nonzero().view(-1),
    }
    for name, array in arrays.items():
        np.save(directory / f"{name}.npy", as_stored(array))
    meta = {
        "schema": "gnomon.graph/1",
        "name": "random",
        "num_vertices": data.num_nodes,
        "num_edges": data.num_edges,
        "num_classes": 5,
        "feature_columns": data.x.shape[1],
        "feature_type": feature_type,
        "edge_weights": True,
    }
    (directory / "meta.json").write_text(json.dumps(meta))
    return order


@pytest.mark.parametrize("weight", [None, "edge_weight"])
def test_batches_are_those_of_the_data(tmp_path, weight):
    data = random_data(500, 6000)
    order = write_store(tmp_path / "store", data)
    store = gnomon.open(tmp_path / "store")
    options = {"batch_size": 64, "shuffle": True, "seed": 5, "num_workers": 2, "weight_attr": weight}
    stored = list(NeighborLoader(store, [4, 3], input_nodes="train", **options))
    nodes = data.train_mask.nonzero().view(-1)
    for ours, theirs in zip(stored, NeighborLoader(data, [4, 3], input_nodes=nodes, **options), strict=True):
        for key in ("x", "y", "n_id", "edge_index", "input_id"):
            assert torch.equal(ours[key], theirs[key]), key
        assert torch.equal(order[ours.e_id], theirs.e_id)
        assert ours.num_sampled_nodes == theirs.num_sampled_nodes


def test_store_tells_what_it_holds(tmp_path):
    data = random_data(500, 6000)
    write_store(tmp_path / "store", data, "fp16")
    store = gnomon.open(tmp_path / "store")
    assert (store.num_nodes, store.num_edges, store.num_features, store.num_classes) == (500, 6000, 16, 5)
    assert store.features.dtype == np.float16 and not store.features.flags.writeable
    assert np.array_equal(store.labels, data.y.numpy())
    assert np.array_equal(store.split("train"), data.train_mask.nonzero().view(-1).numpy())
    batch = next(iter(NeighborLoader(pickle.loads(pickle.dumps(store)), [3], batch_size=10, num_workers=1)))
    assert torch.equal(batch.x, data.x[batch.n_id].half()) and batch.y.dtype == torch.int64
    links = data.edge_index[:, :20]
    batch = next(iter(LinkNeighborLoader(store, [3], edge_label_index=links, batch_size=20, num_workers=1)))
    assert torch.equal(batch.n_id[batch.edge_label_index], links)
    for wrong in (lambda: store.split("all"), lambda: LinkNeighborLoader(store, [3])):
        with pytest.raises(InvalidInput):
            wrong()
    with pytest.raises(InvalidInput, match="weight_attr"):
        NeighborLoader(store, [3], weight_attr="time")


def test_bf16_features_are_bits_for_numpy_and_numbers_for_torch(tmp_path):
    data = random_data(500, 6000)
    write_store(tmp_path / "store", data, "bf16")
    store = gnomon.open(tmp_path / "store")
    rounded = data.x.bfloat16()
    assert store.features.dtype == np.uint16
    assert torch.equal(torch.from_numpy(store.features.astype(np.int64)), rounded.view(torch.int16).long() & 0xFFFF)
    assert torch.equal(store.feature_tensor(), rounded) and torch.equal(store.to_data().x, rounded)
    for batch in NeighborLoader(store, [3], batch_size=50, num_workers=2):
        assert torch.equal(batch.x, rounded[batch.n_id])
    for batch in NeighborLoader(store, [3], batch_size=50, num_workers=2, stored=["x"]):
        assert torch.equal(batch.x.gather(), rounded[batch.n_id].float())


@pytest.mark.parametrize("feature_type", FEATURE_TYPES)
@pytest.mark.parametrize("values", [False, True])
def test_sparse_features_are_dense_in_batches(tmp_path, feature_type, values):
    data = random_data(300, 3000)
    kept = torch.rand(data.x.shape) < 0.2
    data.x = (
        torch.where(kept, data.x if values else torch.ones(()), torch.zeros(())).to(FEATURE_TYPES[feature_type]).float()
    )
    write_store(tmp_path / "store", data, feature_type)
    write_sparse(tmp_path / "store", data.x.to(FEATURE_TYPES[feature_type]), values)
    store = gnomon.open(tmp_path / "store")
    for batch in NeighborLoader(store, [4, 3], batch_size=50, num_workers=2):
        assert torch.equal(batch.x, data.x[batch.n_id].to(FEATURE_TYPES[feature_type]))
        assert torch.equal(batch.y, data.y[batch.n_id])
    with pytest.raises(InvalidInput, match="sparse"):
        _ = store.features
    columns = np.load(tmp_path / "store" / "features_columns.npy")
    columns[3] = 16
    np.save(tmp_path / "store" / "features_columns.npy", columns)
    with pytest.raises(InvalidInput, match="features_columns"):
        gnomon.open(tmp_path / "store")


@pytest.mark.parametrize("name, at, value", [("indices", 7, 500), ("indices", 0, -1), ("indptr", 3, 99999)])
def test_broken_structure_is_found(tmp_path, name, at, value):
    write_store(tmp_path / "store", random_data(500, 6000))
    array = np.load(tmp_path / "store" / f"{name}.npy")
    array[at] = value
    np.save(tmp_path / "store" / f"{name}.npy", array)
    with pytest.raises(InvalidInput, match=name):
        gnomon.open(tmp_path / "store")
