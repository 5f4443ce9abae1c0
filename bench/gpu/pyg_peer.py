#!/usr/bin/env python3
"""Trains GraphSAGE on a store by PyTorch Geometric, whose NeighborLoader feeds the GPU, by the same with gnomon's loader in its
place, and by gnomon's best preset; adds their epochs to bench/results/gpu.json.

    bench/gpu/pyg_peer.py --gnomon build/gpu/bin/gnomon --store STORE --output gpu.json [--device gpu] [--workers 4,8,12]
        [--batches 60]

The Python package is found as GNOMON_LIBRARY and PYTHONPATH say. Each loader feeds --batches mini-batches after ten that do not count, with each number of workers; its epoch is as many
times the mean as an epoch has mini-batches. Same fanouts, batch size, widths and features; each with its own sampler.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from measure import Rows, epoch_s
from pyg_sampler import use_pyg_lib

if (sampler := Path(__file__).parent / "pyg_lib.so").exists():
    use_pyg_lib(sampler)  # PyTorch Geometric looks for it when it is imported

from gnomon.pyg import NeighborLoader as OurLoader  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.loader import NeighborLoader  # noqa: E402
from torch_geometric.nn import SAGEConv  # noqa: E402

FANOUTS, HIDDEN, BATCH = [15, 10, 5], 256, 1024


class Sage(torch.nn.Module):
    def __init__(self, columns, classes):
        super().__init__()
        widths = [columns, HIDDEN, HIDDEN, classes]
        self.layers = torch.nn.ModuleList([SAGEConv(i, o) for i, o in zip(widths, widths[1:])])

    def forward(self, x, edge_index):
        for i, layer in enumerate(self.layers):
            x = layer(x, edge_index)
            if i + 1 < len(self.layers):
                x = F.dropout(F.relu(x), 0.5, self.training)
        return x


def data_of(store):
    """The store's graph as PyTorch Geometric has it: edges from source to destination."""
    def array(name):
        return torch.from_numpy(np.load(store / f"{name}.npy"))
    indptr = array("indptr")
    destinations = torch.repeat_interleave(torch.arange(len(indptr) - 1), indptr.diff())
    return Data(x=array("features").float(), y=array("labels").long(), edge_index=torch.stack([array("indices").long(), destinations]),
                train_ids=array("train"))


LOADERS = {"PyTorch Geometric": NeighborLoader, "gnomon.pyg": OurLoader}


def loader_of(peer, data, workers, device):
    return LOADERS[peer](data, FANOUTS, input_nodes=data.train_ids, batch_size=BATCH, shuffle=True, num_workers=workers,
                         pin_memory=device.type == "cuda", persistent_workers=workers > 0)


def seconds_per_batch(loader, data, batches, device):
    model = Sage(data.x.shape[1], int(data.y.max()) + 1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    begin = None
    for number, batch in enumerate(loader):
        if number == max(0, min(10, len(loader) - 2)):
            torch.cuda.synchronize() if device.type == "cuda" else None
            begin, first = time.monotonic(), number
        batch = batch.to(device, non_blocking=True)
        loss = F.cross_entropy(model(batch.x, batch.edge_index)[:batch.batch_size], batch.y[:batch.batch_size])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if begin and number - first == batches:
            break
    torch.cuda.synchronize() if device.type == "cuda" else None
    return (time.monotonic() - begin) / (number - first + 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gnomon", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--workers", default="4,8,12")
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    rows = Rows(options.output)
    known = [row for row in rows.document["rows"] if row["what"] == "preset_epoch" and row["memory"] == 1.0]
    plan = min(known, key=lambda row: row["value"])["plan"] if known else "dgl-uva"
    options.epoch_seconds = 100
    options.work = options.output.parent / "work"
    options.work.mkdir(parents=True, exist_ok=True)
    ours = epoch_s(options, ["--device", options.device], plan)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = data_of(options.store)
    batches = -(-len(data.train_ids) // BATCH)
    for workers in map(int, options.workers.split(",")):
        for peer in LOADERS:
            each = seconds_per_batch(loader_of(peer, data, workers, device), data, options.batches, device)
            rows.add("peer_epoch", each * batches, ours, peer=peer, workers=workers, plan=plan)
            print(json.dumps(rows.document["rows"][-1]), flush=True)


if __name__ == "__main__":
    main()
