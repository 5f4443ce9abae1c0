"""One peer of compare_training.py as a process: loads a graph store, then reads one request a line and answers each
with one line of JSON.

    python training.py pyg|pyg_mapped|dgl GRAPH_DIRECTORY [LIBRARY]

"pyg_mapped" maps the feature matrix and the adjacency lists, as indices_i8.npy with 64-bit ids, instead of loading them.

Request: {"fanouts": [...], "hidden": n, "setting": workers of the loader, "threads": n}; answer: {"batches", "seconds", "loss"} of one epoch
of GraphSAGE (mean aggregator, dropout 0.5 before and ReLU between the layers, Adam).
"""

import json
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

BATCH_SIZE = 1024


def load(directory, name):
    """An array of the store in memory of its own: nothing is read through the file. Ids have 64 bits."""
    stored = np.load(f"{directory}/{name}.npy")
    return torch.from_numpy(np.array(stored, dtype=np.int64 if stored.dtype == np.uint32 else stored.dtype))


class Network(torch.nn.Module):
    """`layers` of any library: dropout before each, ReLU between them."""

    def __init__(self, make_layer, columns, hidden, classes, count):
        super().__init__()
        widths = [columns] + [hidden] * (count - 1) + [classes]
        self.layers = torch.nn.ModuleList(make_layer(*pair) for pair in zip(widths, widths[1:]))

    def before(self, x, i):
        return F.dropout(x if i == 0 else F.relu(x), 0.5, self.training)


class Pyg:
    """NeighborLoader and SAGEConv with trim_to_layer."""

    def __init__(self, directory, library):
        from pyg_sampler import use_pyg_lib

        use_pyg_lib(library)
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader
        from torch_geometric.nn import SAGEConv
        from torch_geometric.utils import trim_to_layer

        self.loader, self.conv, self.trim = NeighborLoader, SAGEConv, trim_to_layer
        indptr, indices = load(directory, "indptr"), load(directory, "indices")
        columns = torch.repeat_interleave(torch.arange(len(indptr) - 1), indptr.diff())
        self.data = Data(x=load(directory, "features").float(), y=load(directory, "labels").long(),
                         edge_index=torch.stack([indices, columns]))
        self.train = load(directory, "train")

    def network(self, *sizes):
        return Network(self.conv, *sizes)

    def batches(self, fanouts, workers):
        if (fanouts, workers) != getattr(self, "made_for", None):
            self.made_for = (fanouts, workers)
            self.made = self.loader(self.data, num_neighbors=fanouts, batch_size=BATCH_SIZE, input_nodes=self.train,
                                    shuffle=True, is_sorted=True, num_workers=workers, persistent_workers=workers > 0)
        return self.made

    def scores(self, network, batch):
        x, edges = batch.x, batch.edge_index
        for i, layer in enumerate(network.layers):
            x, edges, _ = self.trim(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
            x = layer(network.before(x, i), edges)
        return x[: batch.batch_size], batch.y[: batch.batch_size]


def mapped(directory, name):
    """An array of the store that is read through the page cache when it is used."""
    return torch.from_numpy(np.load(f"{directory}/{name}.npy", mmap_mode="c"))


class MappedPyg(Pyg):
    """The same on mapped files: NeighborLoader copies the rows of a mini-batch from the feature matrix, and pyg-lib's
    sampler reads the lists in place."""

    def __init__(self, directory, library):
        from pyg_sampler import use_pyg_lib

        use_pyg_lib(library)
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader
        from torch_geometric.nn import SAGEConv
        from torch_geometric.sampler import NeighborSampler
        from torch_geometric.utils import trim_to_layer

        self.loader, self.sampler, self.conv, self.trim = NeighborLoader, NeighborSampler, SAGEConv, trim_to_layer
        self.data = Data(x=mapped(directory, "features"), y=load(directory, "labels").long(),
                         edge_index=torch.empty(2, 0, dtype=torch.long))
        self.indptr, self.indices = load(directory, "indptr"), mapped(directory, "indices_i8")
        self.train = load(directory, "train")

    def batches(self, fanouts, workers):
        sampler = self.sampler(self.data, num_neighbors=fanouts)
        sampler.colptr, sampler.row, sampler.perm = self.indptr, self.indices, None
        return self.loader(self.data, num_neighbors=fanouts, batch_size=BATCH_SIZE, input_nodes=self.train, shuffle=True,
                           neighbor_sampler=sampler, num_workers=workers)

    def scores(self, network, batch):
        batch.x = batch.x.float()
        return super().scores(network, batch)


class Dgl:
    """Its neighbour sampler, its DataLoader and SAGEConv on blocks."""

    def __init__(self, directory, _library):
        import dgl

        self.dgl = dgl
        indptr, indices = load(directory, "indptr"), load(directory, "indices")
        self.graph = dgl.graph(("csc", (indptr, indices, [])), num_nodes=len(indptr) - 1)
        self.graph.ndata["x"] = load(directory, "features").float()
        self.graph.ndata["y"] = load(directory, "labels").long()
        self.train = load(directory, "train")

    def network(self, *sizes):
        return Network(lambda i, o: self.dgl.nn.SAGEConv(i, o, "mean"), *sizes)

    def batches(self, fanouts, workers):
        # DGL counts fanouts from the first layer on.
        sampler = self.dgl.dataloading.NeighborSampler(fanouts[::-1], prefetch_node_feats=["x"],
                                                       prefetch_labels=["y"])
        return self.dgl.dataloading.DataLoader(self.graph, self.train, sampler, batch_size=BATCH_SIZE, shuffle=True,
                                               num_workers=workers)

    def scores(self, network, batch):
        _, _, blocks = batch
        x = blocks[0].srcdata["x"]
        for i, (layer, block) in enumerate(zip(network.layers, blocks)):
            x = layer(block, network.before(x, i))
        return x, blocks[-1].dstdata["y"]


def epoch(peer, request, classes, columns):
    torch.set_num_threads(request["threads"])
    torch.manual_seed(1)
    fanouts = request["fanouts"]
    network = peer.network(columns, request["hidden"], classes, len(fanouts))
    optimiser = torch.optim.Adam(network.parameters(), lr=0.003)
    loader = peer.batches(fanouts, request["setting"])
    begin = time.perf_counter()
    batches, total = 0, 0.0
    for batch in loader:
        scores, labels = peer.scores(network, batch)
        loss = F.cross_entropy(scores, labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        batches, total = batches + 1, total + loss.item()
    return {"batches": batches, "seconds": time.perf_counter() - begin, "loss": total / batches}


def main():
    name, directory = sys.argv[1:3]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the libraries print is no answer
    peer = {"pyg": Pyg, "pyg_mapped": MappedPyg, "dgl": Dgl}[name](directory, sys.argv[3] if len(sys.argv) > 3 else None)
    meta = json.load(open(f"{directory}/meta.json"))
    for line in sys.stdin:
        answer = epoch(peer, json.loads(line), meta["num_classes"], meta["feature_columns"])
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
