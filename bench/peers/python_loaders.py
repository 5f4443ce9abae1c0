"""The Python process of compare_python.py: PyG's loaders and ours on the same data.

    python python_loaders.py GRAPH_DIRECTORY LIBRARY

Reads one request a line and answers each with one line of JSON:
{"what": "node" | "link", "peer": "pyg" | "gnomon", "fanouts": […], "workers": n, "seconds": s}  → {"batches", "seconds"}
{"what": "overhead", "fanouts": […]}  → {"milliseconds"}: of a batch of ours that are not sampling and gathering in C++
{"what": "train", "peer": "pyg" | "gnomon" | "gnomon.nn" | "none", "trims", "fanouts", "workers", "batches", "hidden"} → {"batches",
"seconds", "loss"}; "none": on batches that are there already; "trims": PyG's layers compute only the vertices that later ones need."""

import gc
import json
import os
import statistics
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from pyg_sampler import use_pyg_lib

BATCH_SIZE = 1024
WARM_UP = 3  # batches before the clock starts


class Loaders:
    def __init__(self, directory):
        from torch_geometric.data import Data

        def load(name):
            stored = np.load(f"{directory}/{name}.npy")
            return torch.from_numpy(np.array(stored, dtype=np.int64 if stored.dtype == np.uint32 else stored.dtype))

        meta = json.load(open(f"{directory}/meta.json"))
        self.classes = meta["num_classes"] or 16
        indptr, indices = load("indptr"), load("indices")
        nodes = len(indptr) - 1
        columns = torch.repeat_interleave(torch.arange(nodes), indptr.diff())
        random = torch.Generator().manual_seed(0)
        has_features = os.path.exists(f"{directory}/features.npy")
        x = load("features").float() if has_features else torch.randn(nodes, 128, generator=random)
        has_labels = os.path.exists(f"{directory}/labels.npy")
        y = load("labels").long() if has_labels else torch.randint(0, self.classes, (nodes,), generator=random)
        self.data = Data(x=x, y=y.clamp(min=0), edge_index=torch.stack([indices, columns]))
        train = load("train")
        self.train = train if len(train) else torch.arange(nodes)
        self.links = self.data.edge_index[:, torch.randperm(len(indices), generator=random)[: 1 << 19]].contiguous()

    def loader(self, what, peer, fanouts, workers, **others):
        if peer == "pyg":
            from torch_geometric.loader import LinkNeighborLoader, NeighborLoader

            options = {"is_sorted": True, "persistent_workers": workers > 0}
        else:
            from gnomon.pyg import LinkNeighborLoader, NeighborLoader

            options = others
        options |= {"batch_size": BATCH_SIZE, "shuffle": True, "num_workers": workers}
        if what == "link":
            return LinkNeighborLoader(self.data, fanouts, edge_label_index=self.links, neg_sampling="binary", **options)
        return NeighborLoader(self.data, fanouts, input_nodes=self.train, **options)


def endless(loader):
    while True:
        yield from loader


def load_batches(loaders, request):
    batches = endless(loaders.loader(request["what"], request["peer"], request["fanouts"], request["workers"]))
    for _ in range(WARM_UP + 2 * request["workers"]):  # what was prepared ahead before the clock started
        next(batches)
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < request["seconds"]:
        next(batches)
        count += 1
    return {"batches": count, "seconds": time.perf_counter() - begin}


def overhead(loaders, request):
    """What Python adds to a batch that the caller's thread prepares: the median of some."""
    from gnomon.loader_plan import LoaderPlan

    given_out = loaders.loader("node", "gnomon", request["fanouts"], 0).trial(LoaderPlan(0), 30)
    found, begin = [], time.perf_counter()
    for _ in given_out:
        taken_s = time.perf_counter() - begin
        found.append(1e3 * (taken_s - given_out.last.sample_s - given_out.last.gather_s))
        begin = time.perf_counter()
    return {"milliseconds": statistics.median(found[WARM_UP:])}


class Sage(torch.nn.Module):
    """GraphSAGE by PyG's layers on matrices in CSR form, the fastest on CPUs; with trimmed hops, or with all vertices in each layer."""

    def __init__(self, columns, hidden, classes, layers, trims):
        super().__init__()
        from torch_geometric.nn import SAGEConv

        self.trims = trims
        widths = [columns, *[hidden] * (layers - 1), classes]
        self.layers = torch.nn.ModuleList(SAGEConv(*pair) for pair in zip(widths, widths[1:]))

    def forward(self, batch):
        from torch_geometric.utils import trim_to_layer

        x, edges = batch.x, batch.edge_index
        for i, layer in enumerate(self.layers):
            if self.trims:
                x, edges, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
            # Rows are destinations; edges are sorted by them.
            counts = torch.bincount(edges[1], minlength=len(x))
            starts = F.pad(counts.cumsum(0), (1, 0))
            adjacency = torch.sparse_csr_tensor(starts, edges[0], torch.ones(len(edges[0])), (len(x), len(x)))
            x = layer(x, adjacency)
            x = F.relu(x) if i + 1 < len(self.layers) else x
        return x[: batch.batch_size]


class OurSage(torch.nn.Module):
    """The same by our layers, on blocks."""

    def __init__(self, columns, hidden, classes, layers):
        super().__init__()
        from gnomon.nn import SAGEConv

        widths = [columns, *[hidden] * (layers - 1), classes]
        activations = ["relu"] * (layers - 1) + [None]
        self.layers = torch.nn.ModuleList(
            SAGEConv(*pair, activation=each) for pair, each in zip(zip(widths, widths[1:]), activations)
        )

    def forward(self, batch):
        from gnomon.nn import blocks_of

        x = batch.x
        for layer, block in zip(self.layers, blocks_of(batch)):
            x = layer(x, block)
        return x


def train(loaders, request):
    torch.manual_seed(1)
    fanouts, count = request["fanouts"], request["batches"]
    is_ours = request["peer"].endswith("nn")
    sizes = loaders.data.x.shape[1], request["hidden"], loaders.classes, len(fanouts)
    network = OurSage(*sizes) if is_ours else Sage(*sizes, request["trims"])
    optimiser = torch.optim.Adam(network.parameters(), lr=0.003)
    peer = "pyg" if request["peer"] == "pyg" else "gnomon"
    stored = {"stored": ["x"]} if is_ours else {}  # our first layer reads the rows where they are
    batches = endless(loaders.loader("node", peer, fanouts, request["workers"], **stored))
    if request["peer"].startswith("none"):
        batches = iter([next(batches) for _ in range(count + WARM_UP)])
    total, begin = 0.0, 0.0
    for i in range(count + WARM_UP):
        if i == WARM_UP:
            begin = time.perf_counter()
        batch = next(batches)
        loss = F.cross_entropy(network(batch), batch.y[: batch.batch_size])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        total += loss.item()
    return {"batches": count, "seconds": time.perf_counter() - begin, "loss": total / (count + WARM_UP)}


def main():
    directory, library = sys.argv[1:3]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the libraries print is no answer
    use_pyg_lib(library)
    loaders = Loaders(directory)
    for line in sys.stdin:
        request = json.loads(line)
        gc.collect()  # processes of the loader before
        answer = {"train": train, "overhead": overhead}.get(request["what"], load_batches)(loaders, request)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
