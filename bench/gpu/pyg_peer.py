#!/usr/bin/env python3
"""Trains GraphSAGE on a store by PyTorch Geometric, whose NeighborLoader feeds the GPU, by the same with gnomon's loader in its
place, and by gnomon's best preset; adds their epochs to bench/results/gpu.json.

    bench/gpu/pyg_peer.py --gnomon bin/gnomon --store STORE --output gpu.json [--device gpu] [--workers 4,8,12] [--batches 60]

The Python package is found as GNOMON_LIBRARY and PYTHONPATH say. PyTorch Geometric's loader needs the sampler of pyg-lib or of
torch-sparse: of the environment, or pyg_lib.so or torch_sparse.so beside this program; without one its rows tell so. Each loader
feeds --batches mini-batches after ten that do not count, with each number of workers; its epoch is as many times the mean as an
epoch has mini-batches. Same fanouts, batch size, widths and features; each with its own sampler. What fails gives a row that tells
why, and the others go on.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

import epochs
from rows import Rows

HERE = Path(__file__).resolve().parent
FANOUTS, HIDDEN = [15, 10, 5], 256


def load_sampler():
    """The name of the sampler that PyTorch Geometric is given, before it is imported. Throws what says why there is none."""
    from pyg_sampler import use_pyg_lib, use_torch_sparse
    for name, use in (("pyg-lib", use_pyg_lib), ("torch-sparse", use_torch_sparse)):
        library = HERE / f"{name.replace('-', '_')}.so"
        if library.exists():
            use(library)
            return name
    import torch_geometric.typing as there
    for name, is_there in (("pyg-lib", there.WITH_PYG_LIB), ("torch-sparse", there.WITH_TORCH_SPARSE)):
        if is_there:
            return name
    raise ImportError("torch-geometric has no sampler: neither pyg-lib nor torch-sparse is in the kit or installed")


def pyg_loader(device):
    sampler = load_sampler()
    return importlib.import_module("torch_geometric.loader").NeighborLoader, sampler, {"is_sorted": True, **pinned_for(device)}


def our_loader(device):
    return importlib.import_module("gnomon.pyg").NeighborLoader, "gnomon", pinned_for(device)


def our_loader_to_device(device):
    """Copies each mini-batch while the one before is trained."""
    return importlib.import_module("gnomon.pyg").NeighborLoader, "gnomon", {"device": device}


def pinned_for(device):
    return {"pin_memory": device == "cuda"}


LOADERS = {"PyTorch Geometric": pyg_loader, "gnomon.pyg": our_loader, "gnomon.pyg with device": our_loader_to_device}


def loaders(device):
    """Each peer's loader, its sampler and its options for a device, or why it has none. Precondition: torch_geometric is not imported, which looks for a
    sampler then."""
    found = {}
    for peer, load in LOADERS.items():
        try:
            found[peer] = load(device)
        except Exception as error:  # whatever it is, the other peer is wanted
            found[peer] = error
    return found


def data_of(store):
    """The store's graph as PyTorch Geometric has it: edges from source to destination, sorted by destination."""
    import numpy as np
    import torch
    from torch_geometric.data import Data

    def array(name):
        return torch.from_numpy(np.load(store / f"{name}.npy"))
    indptr = array("indptr").long()
    destinations = torch.repeat_interleave(torch.arange(len(indptr) - 1), indptr.diff())
    return Data(x=array("features").float(), y=array("labels").long(), edge_index=torch.stack([array("indices").long(), destinations]),
                train_ids=array("train").long())


def make_model(columns, classes):
    import torch
    from torch_geometric.nn import SAGEConv
    widths = [columns, HIDDEN, HIDDEN, classes]
    layers = torch.nn.ModuleList([SAGEConv(i, o) for i, o in zip(widths, widths[1:])])

    def forward(x, edge_index):
        for layer in layers[:-1]:
            x = torch.nn.functional.dropout(torch.relu(layer(x, edge_index)), 0.5)
        return layers[-1](x, edge_index)
    return layers, forward


def seconds_per_batch(loader, data, batches, device):
    import torch
    layers, forward = make_model(data.x.shape[1], int(data.y.max()) + 1)
    layers.to(device)
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.003)
    begin = None
    for number, batch in enumerate(loader):
        if number == max(0, min(10, len(loader) - 2)):
            torch.cuda.synchronize() if device.type == "cuda" else None
            begin, first = time.monotonic(), number
        batch = batch.to(device, non_blocking=True)
        loss = torch.nn.functional.cross_entropy(forward(batch.x, batch.edge_index)[:batch.batch_size], batch.y[:batch.batch_size])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if begin and number - first + 1 == batches:
            break
    torch.cuda.synchronize() if device.type == "cuda" else None
    return (time.monotonic() - begin) / (number - first + 1)


def our_epoch(options, rows):
    """The epoch of gnomon's best preset that is known, and its name; the same is measured if none is."""
    known = epochs.measured(rows, 1.0)
    if known:
        plan = min(known, key=known.get)
        return known[plan], plan
    try:
        return epochs.train(options, "dgl-uva", 1.0)[0], "dgl-uva"
    except epochs.Refused as why:
        print(f"no epoch of ours: {why}", file=sys.stderr)
        return None, None


def add_peers(options, rows):
    import torch
    device = torch.device("cuda" if options.device == "gpu" else "cpu")
    known = loaders(device.type)
    ours, plan = our_epoch(options, rows)
    data = data_of(options.store)
    batches = -(-len(data.train_ids) // epochs.BATCH_SIZE)
    for workers in map(int, options.workers.split(",")):
        for peer, found in known.items():
            case = {"peer": peer, "workers": workers}
            try:
                if isinstance(found, Exception):
                    raise found
                loader_class, sampler, own_options = found
                if options.left() <= 0:
                    raise epochs.OutOfTime("the phase was over")
                loader = loader_class(data, FANOUTS, input_nodes=data.train_ids, batch_size=epochs.BATCH_SIZE, shuffle=True,
                                      num_workers=workers, persistent_workers=workers > 0, **own_options)
                rows.add("peer_epoch", seconds_per_batch(loader, data, options.batches, device) * batches, ours, best=plan, sampler=sampler, **case)
            except Exception as error:
                rows.add("peer_epoch", None, ours, why_not=f"{type(error).__name__}: {error}".splitlines()[0], **case)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gnomon", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--workers", default="4,8,12")
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=200, help="after which no further row is begun")
    parser.add_argument("--epoch-seconds", type=float, default=40, help="after which a training by gnomon is given up")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--copy", type=Path, action="append", default=[], help="written as --output is")
    options = parser.parse_args()
    epochs.limit_time(options)
    options.work = options.output.parent / "work"
    options.work.mkdir(parents=True, exist_ok=True)
    rows = Rows(options.output, *options.copy)
    try:
        add_peers(options, rows)
    except Exception as error:
        rows.add("peer_epoch", None, peer="all", why_not=f"{type(error).__name__}: {error}".splitlines()[0])
        raise


if __name__ == "__main__":
    main()
