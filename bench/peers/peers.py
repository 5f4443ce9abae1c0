"""One peer of compare_peers.py as a process: loads the graph, then reads one request a line and answers each with
one line of JSON.

    python peers.py NAME GRAPH_DIRECTORY [LIBRARY]

Request: {"fanouts": [...], "gather": bool, "by_weight": bool, "threads": n, "seconds": s}; answer: {"batches", "vertices",
"edges", "seconds", "cpu_s"}. Draws by weight are by the graph's weights.npy, where the peer has them. With threads > 1 that
many Python threads take whole batches in turn (the peers release the lock).
"""

import json
import sys
import threading
import time

import numpy as np
import torch

BATCH_SIZE = 1024


def load(directory, name):
    """An array of the store in memory of its own: nothing is read through the file. Ids have 64 bits."""
    stored = np.load(f"{directory}/{name}.npy")
    return torch.from_numpy(np.array(stored, dtype=np.int64 if stored.dtype == np.uint32 else stored.dtype))


class Dgl:
    def __init__(self, directory, _library):
        import dgl

        self.dgl = dgl
        indptr, indices = load(directory, "indptr"), load(directory, "indices")
        self.graph = dgl.graph(("csc", (indptr, indices, [])), num_nodes=len(indptr) - 1)

    def weigh(self, directory):
        self.graph.edata["weight"] = load(directory, "weights")

    def sample(self, seeds, fanouts, by_weight):
        """All that was seen is expanded again in each hop, as in ours."""
        edges, frontier = 0, seeds
        for fanout in fanouts:
            drawn = self.dgl.sampling.sample_neighbors(self.graph, frontier, fanout, prob="weight" if by_weight else None)
            block = self.dgl.to_block(drawn, frontier)
            edges += block.num_edges()
            frontier = block.srcdata[self.dgl.NID]
        return frontier, edges


class GraphBolt:
    def __init__(self, directory, _library):
        import dgl.graphbolt as graphbolt

        self.graphbolt = graphbolt
        self.graph = graphbolt.fused_csc_sampling_graph(load(directory, "indptr"), load(directory, "indices"))
        self.features = graphbolt.TorchBasedFeature(load(directory, "features"))

    def weigh(self, directory):
        self.graph.edge_attributes = {"weight": load(directory, "weights")}

    def sample(self, seeds, fanouts, by_weight):
        edges, frontier = 0, seeds
        for fanout in fanouts:
            drawn = self.graph.sample_neighbors(
                frontier, torch.tensor([fanout]), probs_name="weight" if by_weight else None
            ).sampled_csc
            frontier, compacted = self.graphbolt.unique_and_compact_csc_formats(drawn, frontier)
            edges += len(compacted.indices)
        return frontier, edges


class PygLib:
    def __init__(self, directory, library):
        torch.ops.load_library(library)
        self.indptr, self.indices = load(directory, "indptr"), load(directory, "indices")

    def sample(self, seeds, fanouts, _by_weight):
        """Each vertex is expanded once, in the hop after the one in which it first appears: fewer edges."""
        rows, _, vertices, *_ = torch.ops.pyg.neighbor_sample(
            self.indptr, self.indices, seeds, fanouts, None, None, None, None, True, False, True, False, "uniform", False
        )
        return vertices, len(rows)


class TorchSparse:
    def __init__(self, directory, library):
        torch.ops.load_library(library)
        self.indptr, self.indices = load(directory, "indptr"), load(directory, "indices")

    def sample(self, seeds, fanouts, _by_weight):
        """Each vertex is expanded once."""
        vertices, rows, *_ = torch.ops.torch_sparse.neighbor_sample(self.indptr, self.indices, seeds, fanouts, False, True)
        return vertices, len(rows)


PEERS = {"dgl": Dgl, "graphbolt": GraphBolt, "pyg_lib": PygLib, "torch_sparse": TorchSparse}


class Server:
    def __init__(self, name, directory, library):
        self.peer, self.directory, self.is_weighed = PEERS[name](directory, library), directory, False
        self.features = load(directory, "features")
        self.seeds = load(directory, "seeds").split(BATCH_SIZE)[:-1]
        self.lock = threading.Lock()

    def take(self):
        with self.lock:
            self.next += 1
            return self.seeds[self.next % len(self.seeds)]

    def batch(self, seeds, request):
        vertices, edges = self.peer.sample(seeds, request["fanouts"], request["by_weight"])
        if request["gather"]:
            torch.index_select(self.features, 0, vertices)
        return len(vertices), edges

    def work(self, request, end, totals):
        while time.perf_counter() < end:
            vertices, edges = self.batch(self.take(), request)
            totals.append((vertices, edges))

    def measure(self, request):
        if request["by_weight"] and not self.is_weighed:
            self.peer.weigh(self.directory)
            self.is_weighed = True
        self.next = 0
        for _ in range(3):
            self.batch(self.take(), request)
        totals = [[] for _ in range(request["threads"])]
        start, cpu_start = time.perf_counter(), time.process_time()
        team = [threading.Thread(target=self.work, args=(request, start + request["seconds"], t)) for t in totals]
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()
        seconds, cpu_s = time.perf_counter() - start, time.process_time() - cpu_start
        done = [pair for t in totals for pair in t]
        return {
            "batches": len(done),
            "vertices": sum(pair[0] for pair in done),
            "edges": sum(pair[1] for pair in done),
            "seconds": seconds,
            "cpu_s": cpu_s,
        }


def main():
    name, directory, *library = sys.argv[1:]
    answers, sys.stdout = sys.stdout, sys.stderr  # some peers print when they are loaded
    server = Server(name, directory, library[0] if library else None)
    for line in sys.stdin:
        print(json.dumps(server.measure(json.loads(line))), file=answers, flush=True)


main()
