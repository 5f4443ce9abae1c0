"""One peer of compare_kernels.py as a process: reads the blocks, then reads one request a line and answers each with
one line of JSON.

    python kernels.py dgl|torch_sparse BLOCKS_DIRECTORY

Request: {"operation", "batch", "columns", "direction", "threads", "repeats"}; answer: {"seconds": [one a repetition]},
each over all blocks of the batch (fused_mean: the last one). "backward" finds the transposed block at hand,
"first_backward" a block that nothing was computed on but the forward pass.
"""

import glob
import json
import sys
import time

import numpy as np
import torch

HEADS = 4


def load(path):
    return torch.from_numpy(np.array(np.load(path)))


class Block:
    def __init__(self, folder, hop):
        self.indptr = load(f"{folder}/indptr{hop}.npy")
        self.indices = load(f"{folder}/indices{hop}.npy").long()
        self.sources = int(np.load(f"{folder}/sources{hop}.npy")[0])
        self.destinations, self.edges = len(self.indptr) - 1, len(self.indices)
        self.degrees = self.indptr.diff()


class Batch:
    def __init__(self, folder):
        hops = len(glob.glob(f"{folder}/indptr*.npy"))
        self.blocks = [Block(folder, hop) for hop in range(hops)]
        self.vertices = load(f"{folder}/vertices.npy")


def leaf(*sizes):
    return torch.rand(sizes, requires_grad=True)


class Dgl:
    """dgl.ops on a block made from our arrays (32-bit ids, which are the faster ones)."""

    def __init__(self):
        import dgl

        self.dgl, self.ops = dgl, dgl.ops

    def prepare(self, block):
        graph = self.dgl.create_block(
            ("csc", (block.indptr.int(), block.indices.int(), torch.tensor([], dtype=torch.int32))),
            num_src_nodes=block.sources,
            num_dst_nodes=block.destinations,
        )
        return graph

    def operation(self, name, block, columns, table, vertices):
        ops, S, D, E = self.ops, block.sources, block.destinations, block.edges
        if name in ("spmm_sum", "spmm_mean"):
            x = leaf(S, columns)
            act = ops.copy_u_sum if name == "spmm_sum" else ops.copy_u_mean
            return [x], lambda graph: act(graph, x)
        if name == "spmm_scaled":
            x, left, right = leaf(S, columns), torch.rand(D, 1), torch.rand(S, 1)
            return [x], lambda graph: ops.copy_u_sum(graph, x * right) * left
        if name == "spmm_weighted":
            x, weights = leaf(S, HEADS, columns // HEADS), leaf(E, HEADS, 1)
            return [x, weights], lambda graph: ops.u_mul_e_sum(graph, x, weights)
        if name == "sddmm_dot":
            left, right = torch.rand(D, HEADS, columns // HEADS), torch.rand(S, HEADS, columns // HEADS)
            return [], lambda graph: ops.u_dot_v(graph, right, left)
        if name == "sddmm_add":
            left, right = leaf(D, HEADS), leaf(S, HEADS)
            return [left, right], lambda graph: ops.u_add_v(graph, right, left)
        if name == "edge_softmax":
            logits = leaf(E, HEADS, 1)
            return [logits], lambda graph: ops.edge_softmax(graph, logits)
        assert name == "fused_mean"
        return [], lambda graph: ops.copy_u_mean(graph, table.index_select(0, vertices).float())


class TorchSparse:
    """torch.sparse on CSR matrices (rows are destinations); where it has no such operation, the plain tensor
    operations that stand for it (sddmm_add)."""

    def prepare(self, block):
        return torch.sparse_csr_tensor(
            block.indptr, block.indices, torch.ones(block.edges), (block.destinations, block.sources)
        )

    def with_values(self, block, values):
        return torch.sparse_csr_tensor(
            block.indptr, block.indices, values, (block.destinations, block.sources)
        )

    def operation(self, name, block, columns, table, vertices):
        S, D, E = block.sources, block.destinations, block.edges
        destination = torch.repeat_interleave(torch.arange(D), block.degrees)
        mean = self.with_values(block, 1.0 / block.degrees[destination])
        if name == "spmm_sum":
            x = leaf(S, columns)
            return [x], lambda csr: torch.sparse.mm(csr, x)
        if name == "spmm_mean":
            x = leaf(S, columns)
            return [x], lambda csr: torch.sparse.mm(mean, x)
        if name == "spmm_scaled":
            x = leaf(S, columns)
            scaled = self.with_values(block, torch.rand(D)[destination] * torch.rand(S)[block.indices])
            return [x], lambda csr: torch.sparse.mm(scaled, x)
        if name == "spmm_weighted":  # its gradient by x alone
            xs = [leaf(S, columns // HEADS) for _ in range(HEADS)]
            csrs = [self.with_values(block, torch.rand(E)) for _ in range(HEADS)]
            return xs, lambda csr: torch.cat([torch.sparse.mm(m, x) for m, x in zip(csrs, xs)], 1)
        if name == "sddmm_dot":
            left = [torch.rand(D, columns // HEADS) for _ in range(HEADS)]
            right = [torch.rand(S, columns // HEADS).t().contiguous() for _ in range(HEADS)]
            return [], lambda csr: [
                torch.sparse.sampled_addmm(csr, a, b, beta=0) for a, b in zip(left, right)
            ]
        if name == "sddmm_add":
            left, right = leaf(D, HEADS), leaf(S, HEADS)
            return [left, right], lambda csr: left[destination] + right[block.indices]
        if name == "edge_softmax":
            logits = leaf(E, HEADS)
            places = torch.stack([destination, block.indices])
            return [logits], lambda csr: torch.sparse.softmax(
                torch.sparse_coo_tensor(places, logits, (D, S, HEADS), is_coalesced=True), 1
            )
        assert name == "fused_mean"
        return [], lambda csr: torch.sparse.mm(mean, table.index_select(0, vertices).float())


class Server:
    def __init__(self, peer, directory):
        self.peer = peer
        self.batches = {name: Batch(f"{directory}/{name}") for name in ("3hops", "2hops")}
        self.tables = {}

    def answer(self, request):
        torch.set_num_threads(request["threads"])
        name, columns = request["operation"], request["columns"]
        batch = self.batches[request["batch"]]
        blocks = batch.blocks[-1:] if name == "fused_mean" else batch.blocks
        if name == "fused_mean" and columns not in self.tables:
            self.tables = {columns: torch.rand(1 << 20, columns).half()}
        operations = [
            self.peer.operation(name, block, columns, self.tables.get(columns), batch.vertices)
            for block in blocks
        ]
        prepared = [self.peer.prepare(block) for block in blocks]
        seconds = []
        for _ in range(request["repeats"]):
            if request["direction"] == "forward":
                with torch.no_grad():
                    begin = time.perf_counter()
                    for (_, act), one in zip(operations, prepared):
                        act(one)
                    seconds.append(time.perf_counter() - begin)
                continue
            if request["direction"] == "first_backward":
                prepared = [self.peer.prepare(block) for block in blocks]
            seconds.append(self.backward_s(operations, prepared))
        return {"seconds": seconds}

    @staticmethod
    def backward_s(operations, prepared):
        results = [act(one) for (_, act), one in zip(operations, prepared)]
        dense = [r.values() if r.layout == torch.sparse_coo and r.is_coalesced() else
                 r.coalesce().values() if r.layout == torch.sparse_coo else r for r in results]
        gradients = [torch.rand_like(one) for one in dense]
        begin = time.perf_counter()
        for (leaves, _), result, gradient in zip(operations, dense, gradients):
            torch.autograd.grad(result, leaves, gradient)
        return time.perf_counter() - begin


def main():
    peer = {"dgl": Dgl, "torch_sparse": TorchSparse}[sys.argv[1]]()
    server = Server(peer, sys.argv[2])
    for line in sys.stdin:
        try:
            answer = server.answer(json.loads(line))
        except Exception as problem:  # the operation is not there; the driver records it
            answer = {"error": f"{type(problem).__name__}: {problem}".splitlines()[0][:200]}
        print(json.dumps(answer), flush=True)


main()
