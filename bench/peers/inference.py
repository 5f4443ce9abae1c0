"""One peer of scale.py: the layer-wise inference of GraphSAGE over all vertices of a graph store, as the library offers it.

    python inference.py pyg|pyg-full|dgl GRAPH_DIRECTORY --hidden N --layers N --threads N [--pyg-lib LIBRARY]

Prints {"seconds", "peak_bytes"}: of the second of two inferences, and of the whole process. `pyg` is BasicGNN.inference with a
NeighborLoader of all neighbours, `pyg-full` the model on the whole graph as one sparse matrix, `dgl` SAGEConv on blocks of
MultiLayerFullNeighborSampler, layer by layer. Features are fp32.
"""

import argparse
import json
import os
import resource
import sys
import time

import torch
import torch.nn.functional as F
from training import load

BATCH_SIZE = 4096


class Pyg:
    """GraphSAGE.inference, which computes a layer for all vertices after the other."""

    def __init__(self, options, sizes):
        from pyg_sampler import use_pyg_lib

        use_pyg_lib(options.pyg_lib)
        from torch_geometric.data import Data
        from torch_geometric.loader import NeighborLoader
        from torch_geometric.nn import GraphSAGE

        indptr, indices = load(options.graph, "indptr"), load(options.graph, "indices")
        columns = torch.repeat_interleave(torch.arange(len(indptr) - 1), indptr.diff())
        data = Data(x=load(options.graph, "features").float(), edge_index=torch.stack([indices, columns]))
        self.loader = NeighborLoader(data, num_neighbors=[-1], batch_size=BATCH_SIZE, is_sorted=True)
        self.model = GraphSAGE(sizes[0], sizes[1], options.layers, sizes[2]).eval()

    def infer(self):
        return self.model.inference(self.loader)


class PygFull:
    """The model on the transposed adjacency matrix in CSR form."""

    def __init__(self, options, sizes):
        from torch_geometric.nn import GraphSAGE

        indptr, indices = load(options.graph, "indptr"), load(options.graph, "indices")
        vertices = len(indptr) - 1
        ones = torch.ones(len(indices))
        self.adjacency = torch.sparse_csr_tensor(indptr, indices, ones, size=(vertices, vertices))
        self.x = load(options.graph, "features").float()
        self.model = GraphSAGE(sizes[0], sizes[1], options.layers, sizes[2]).eval()

    def infer(self):
        return self.model(self.x, self.adjacency)


class Dgl:
    """The loop of DGL's example of GraphSAGE."""

    def __init__(self, options, sizes):
        import dgl

        indptr, indices = load(options.graph, "indptr"), load(options.graph, "indices")
        self.dgl, self.graph = dgl, dgl.graph(("csc", (indptr, indices, [])), num_nodes=len(indptr) - 1)
        self.x = load(options.graph, "features").float()
        widths = [sizes[0]] + [sizes[1]] * (options.layers - 1) + [sizes[2]]
        self.layers = torch.nn.ModuleList(dgl.nn.SAGEConv(*pair, "mean") for pair in zip(widths, widths[1:]))
        self.outputs = widths[1:]

    def infer(self):
        x = self.x
        sampler = self.dgl.dataloading.MultiLayerFullNeighborSampler(1)
        vertices = torch.arange(self.graph.num_nodes())
        for i, layer in enumerate(self.layers):
            y = torch.empty(self.graph.num_nodes(), self.outputs[i])
            loader = self.dgl.dataloading.DataLoader(self.graph, vertices, sampler, batch_size=BATCH_SIZE)
            for inputs, outputs, blocks in loader:
                rows = layer(blocks[0], x[inputs])
                y[outputs[0]:outputs[-1] + 1] = F.relu(rows) if i + 1 < len(self.layers) else rows
            x = y
        return x


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=["pyg", "pyg-full", "dgl"])
    parser.add_argument("graph")
    parser.add_argument("--hidden", type=int, required=True)
    parser.add_argument("--layers", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--pyg-lib")
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the libraries print is no answer
    torch.set_num_threads(options.threads)
    meta = json.load(open(f"{options.graph}/meta.json"))
    sizes = meta["feature_columns"], options.hidden, meta["num_classes"]
    peer = {"pyg": Pyg, "pyg-full": PygFull, "dgl": Dgl}[options.peer](options, sizes)
    with torch.no_grad():
        peer.infer()
        begin = time.perf_counter()
        logits = peer.infer()
        seconds = time.perf_counter() - begin
    if list(logits.shape) != [meta["num_vertices"], meta["num_classes"]] or not logits.isfinite().all():
        sys.exit(f"{options.peer}: logits of shape {list(logits.shape)}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "peak_bytes": peak}), file=answers, flush=True)


if __name__ == "__main__":
    main()
