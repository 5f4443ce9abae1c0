"""Models of gnomon train; skipped where the program was not built, or without LibTorch."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch
import torch_geometric.nn as theirs
from torch_geometric.utils import degree

import gnomon
from gnomon import InvalidInput
from gnomon.nn import blocks_of
from gnomon.pyg import NeighborLoader

PROGRAM = os.environ.get("GNOMON_PROGRAM")
if PROGRAM is None and "GNOMON_LIBRARY" in os.environ:
    PROGRAM = str(Path(os.environ["GNOMON_LIBRARY"]).resolve().parents[1] / "bin" / "gnomon")
if PROGRAM is None or not Path(PROGRAM).exists():
    pytest.skip("the program gnomon was not built", allow_module_level=True)

JOBS = [
    {"model": "sage"},
    {"model": "gcn"},
    {"model": "gat", "heads": 2},
    {"model": "gcn", "fanouts": "4"},
    {"model": "sage", "norm": "batch", "skip": True},
    {"model": "gcn", "norm": "layer", "skip": True},
    {"model": "gat", "norm": "batch", "skip": True, "heads": 4},
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A graph with a self-loop at some nodes, and vertices without edges."""
    folder = tmp_path_factory.mktemp("graph")
    data = gnomon.generate("sbm", folder / "plain", vertices=300, classes=3, feature_columns=10).to_data()
    loops = torch.arange(0, 300, 7).repeat(2, 1)
    data.edge_index = torch.cat([data.edge_index[:, data.edge_index[1] > 5], loops], dim=1)
    return gnomon.import_graph(data, folder / "store")


def trained(store, folder, **job):
    """Train a model. Return its run and the logits of all vertices."""
    options = {"fanouts": "4,4", "hidden": 8, "epochs": 2, "batch_size": 64, **job}
    flags = [f"--{name.replace('_', '-')}={str(value).lower()}" for name, value in options.items()]
    command = [PROGRAM, "train", store.directory, "--run", folder / "run", *flags]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if "LibTorch" in done.stderr:
        pytest.skip("a build without LibTorch")
    assert done.returncode == 0, done.stderr
    command = [PROGRAM, "predict", folder / "run", "--logits", folder / "logits.npy"]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "run", torch.from_numpy(np.load(folder / "logits.npy"))


def check_close(left, right):
    torch.testing.assert_close(left, right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("job", JOBS, ids=str)
def test_logits_are_those_of_predict(job, store, tmp_path):
    directory, expected = trained(store, tmp_path, **job)
    model, data = gnomon.load_model(directory), store.to_data()
    assert not model.training
    data.in_degrees = degree(data.edge_index[1], data.num_nodes)
    options = {"num_neighbors": [-1] * len(model.convs), "batch_size": 64, "num_workers": 1}
    with torch.no_grad():
        check_close(model(data.x, data.edge_index), expected)
        check_close(model(data.x.half(), data.edge_index), model(data.x.half().float(), data.edge_index))
        for batch in NeighborLoader(data, **options):
            check_close(model(batch.x, blocks_of(batch), batch.in_degrees), expected[batch.input_id])
        for batch in NeighborLoader(store, stored=["x"], **options):
            in_degrees = data.in_degrees[batch.n_id]
            check_close(model(batch.x, blocks_of(batch), in_degrees), expected[batch.input_id])


@pytest.mark.parametrize("norm", ["none", "batch", "layer"])
@pytest.mark.parametrize("job", [{"model": "sage"}, {"model": "gcn"}, {"model": "gat", "heads": 1}], ids=str)
def test_weights_are_those_of_pygs_models(job, norm, store, tmp_path):
    directory, expected = trained(store, tmp_path, norm=norm, **job)
    norms = {"none": None, "batch": "batch_norm", "layer": "layer_norm"}
    options = {"norm": norms[norm], "norm_kwargs": {"mode": "node"} if norm == "layer" else None}
    kind = {"sage": theirs.GraphSAGE, "gcn": theirs.GCN, "gat": theirs.GAT}[job["model"]]
    same = kind(10, 8, 2, 3, act="elu" if job["model"] == "gat" else "relu", **options).eval()
    model, data = gnomon.load_model(directory), store.to_data()
    same.load_state_dict(model.state_dict())
    with torch.no_grad():
        if job["model"] == "gcn":  # PyG's adds no loop to nodes that have one
            edges = data.edge_index[:, data.edge_index[0] != data.edge_index[1]]
            check_close(same(data.x, edges), model(data.x, edges))
        else:
            check_close(same(data.x, data.edge_index), expected)


def test_training_goes_on(store, tmp_path):
    directory, _ = trained(store, tmp_path, **JOBS[-2])
    model, data = gnomon.load_model(directory).train(), store.to_data()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(30):
        loss = torch.nn.functional.cross_entropy(model(data.x, data.edge_index), data.y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    assert losses[-1] < 0.7 * losses[0]


def test_wrong_input(store, tmp_path):
    directory, _ = trained(store, tmp_path, model="gcn")
    model, data = gnomon.load_model(directory), store.to_data()
    batch = next(iter(NeighborLoader(data, [3, 3], batch_size=10, num_workers=1)))
    with pytest.raises(InvalidInput, match="in_degrees"):
        model(batch.x, blocks_of(batch))
    with pytest.raises(InvalidInput, match="edge_index"):
        model(batch.x, blocks_of(batch)[:1], torch.ones(batch.num_nodes))
    with pytest.raises(InvalidInput, match="x: has 4 columns"):
        model(data.x[:, :4], data.edge_index)
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(InvalidInput, match="job.json"):
            gnomon.load_model(path)
    weights, job = directory / "weights.safetensors", directory / "job.json"
    content, document = weights.read_bytes(), json.loads(job.read_text())
    for field, value in (("hidden", 16), ("model", "sage"), ("norm", "batch"), ("fanouts", [1])):
        job.write_text(json.dumps({**document, field: value}))
        with pytest.raises(InvalidInput, match="weights.safetensors"):
            gnomon.load_model(directory)
    for field, value in (("model", "mlp"), ("norm", 3), ("hidden", None), ("fanouts", []), ("schema", "gnomon.plan/1")):
        job.write_text(json.dumps({**document, field: value}))
        with pytest.raises(InvalidInput, match=f"job.json.*{field}"):
            gnomon.load_model(directory)
    job.write_text(json.dumps(document))
    for broken in (b"", content[:5], content[:100], content[:-10], b"\xff" * 100):
        weights.write_bytes(broken)
        with pytest.raises(InvalidInput, match="weights.safetensors"):
            gnomon.load_model(directory)
    weights.unlink()
    with pytest.raises(InvalidInput, match="not finished"):
        gnomon.load_model(directory)
