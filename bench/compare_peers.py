#!/usr/bin/env python3
"""Compares gnomon's mini-batch preparation with that of DGL, GraphBolt, pyg-lib and torch-sparse in one run: the same
graphs, the same seeds, batches of 1,024, medians and ranges. Writes bench/results/compare_peers.json.

    bench/compare_peers.py [--build build/release] [--peers build/peers] [--output FILE] [--graphs rmat20,…]
        [--names dgl,graphbolt,…] [--threads 1,2] [--rounds 5] [--seconds 0.6] [--sources DIR] [--merge] [--weighted]

Graphs: rmat20 and rmat24 (R-MAT 0.57, 0.19, 0.19; 2^20 or 2^24 vertices, 16 drawn edges per vertex, symmetrised), planted
(2^20 vertices), slashdot and twitter (of ../shared/data). All have 128 fp16 features per vertex.

The first run installs the peers into their own virtual environments. pyg-lib and parallel-hashmap have no packages: their
sources are taken from --sources, or cloned from GitHub. --merge keeps the rows of an existing record that this run does not
measure. --weighted measures weighted sampling instead (weights uniform in (0, 1)), beside DGL and GraphBolt, without a floor.

What is compared. One batch is the result of a peer's own functions for the same seeds and fanouts, with compacted ids; with
"sample_gather" also a new tensor of the feature rows (gnomon: written into a reused slot). gnomon, DGL and GraphBolt
expand all vertices seen so far in every hop; pyg-lib and torch-sparse expand each vertex once and yield fewer edges:
therefore rates are edges per second. With two threads a peer may use both for one call (OMP_NUM_THREADS) or for two
concurrent batches (two Python threads); the faster of the two counts in each round. Peers alternate within a second, so that other
load on the machine affects all of them equally. The floor is the time of random cache lines alone: the lines that gnomon's
batches touch (row pointers, neighbours, feature rows), read at the rate of random_lines_per_s in the same run.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import FILES, Peer, dgl_environment, origin, pyg_environment, pyg_lib, spread, torch_sparse, write_record  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
FANOUTS = [[15, 10, 5], [10, 10]]


def commands(options, graph):
    """How each peer's process is started for a graph."""
    dgl = dgl_environment(options.peers)
    pyg = pyg_environment(options.peers) if {"pyg_lib", "torch_sparse"} & set(options.names) else None
    script = ROOT / "bench/peers/peers.py"
    of = {
        "gnomon": [options.build / "bench/bench_peer", "serve", graph],
        "dgl": [dgl, script, "dgl", graph],
        "graphbolt": [dgl, script, "graphbolt", graph],
    }
    if "pyg_lib" in options.names:
        of["pyg_lib"] = [pyg, script, "pyg_lib", graph, pyg_lib(options.peers, options.sources, pyg)]
    if "torch_sparse" in options.names:
        of["torch_sparse"] = [pyg, script, "torch_sparse", graph, torch_sparse(options.peers, pyg)]
    return {name: command for name, command in of.items() if name in ["gnomon", *options.names]}


def make_graph(options, name):
    directory = options.peers / "graphs" / name
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        file = FILES.get(name)
        what = ["import", ROOT / "../shared/data" / file] if file else ["make", name]
        subprocess.run([options.build / "bench/bench_peer", *what, directory], check=True)
    if options.weighted and not (directory / "weights.npy").exists():
        subprocess.run([options.build / "bench/bench_peer", "weigh", directory], check=True)
    return directory


def rate(answer, over):
    return answer["edges"] / answer[over]


class Row:
    """The measurements of one setting."""

    def __init__(self):
        self.rates, self.cpu_rates, self.batches, self.lines = {}, {}, {}, []

    def add(self, name, answers):
        best = max(answers, key=lambda a: rate(a, "seconds"))
        self.rates.setdefault(name, []).append(rate(best, "seconds"))
        self.cpu_rates.setdefault(name, []).append(max(rate(a, "cpu_s") for a in answers))
        counts = self.batches.setdefault(name, [0, 0, 0])
        for i, field in enumerate(("batches", "vertices", "edges")):
            counts[i] += best[field]

    def floor_json(self, lines_a_batch):
        batches, _, edges = self.batches["gnomon"]
        floor = spread(self.lines)[0] * (edges / batches) / lines_a_batch
        return {
            "lines_a_batch": round(lines_a_batch),
            "random_lines_per_s": spread(self.lines),
            "floor_edges_per_s": floor,
            "share_of_floor": spread(self.rates["gnomon"])[0] / floor,
        }

    def as_json(self):
        ours = spread(self.rates["gnomon"])[0]
        ours_cpu = spread(self.cpu_rates["gnomon"])[0]
        others = [name for name in self.rates if name != "gnomon"]
        fastest = max(others, key=lambda name: spread(self.rates[name])[0])
        fastest_cpu = max(others, key=lambda name: spread(self.cpu_rates[name])[0])
        return {
            "edges_per_s": {name: spread(values) for name, values in self.rates.items()},
            "edges_per_cpu_s": {name: spread(values) for name, values in self.cpu_rates.items()},
            "batches_per_s": {
                name: spread(self.rates[name])[0] * counts[0] / counts[2] for name, counts in self.batches.items()
            },
            "a_batch": {
                name: {"vertices": round(v / n), "edges": round(e / n)} for name, (n, v, e) in self.batches.items()
            },
            "times_the_fastest_peer": [fastest, ours / spread(self.rates[fastest])[0]],
            "times_the_fastest_peer_by_cpu_time": [fastest_cpu, ours_cpu / spread(self.cpu_rates[fastest_cpu])[0]],
        }


def modes_of(name, threads, peers):
    """(process, threads of the request): the ways in which a peer may use the threads."""
    if name == "gnomon" or threads == 1:
        return [(peers[name, 1], threads)]
    return [(peers[name, 1], threads), (peers[name, threads], 1)]


def stages_of(options):
    """(name, what is asked for): every stage for every fanouts."""
    if options.weighted:
        return [("sample_by_weight", {"gather": False, "by_weight": True})]
    return [("sample", {"gather": False, "by_weight": False}), ("sample_gather", {"gather": True, "by_weight": False})]


def measure_row(options, peers, setting, ask):
    row = Row()
    lines = None if options.weighted else peers["gnomon", 1].ask({"lines": ask["fanouts"], "gather": ask["gather"]})["lines"]
    for _ in range(options.rounds):
        if lines:
            row.lines.append(peers["gnomon", 1].ask({"floor": setting["threads"]})["lines_per_s"])
        for name in dict.fromkeys(name for name, _ in peers):
            row.add(name, [p.ask(ask | {"threads": n}) for p, n in modes_of(name, setting["threads"], peers)])
    result = setting | (row.floor_json(lines) if lines else {}) | row.as_json()
    told = [*setting, "batches_per_s", "share_of_floor", "times_the_fastest_peer", "times_the_fastest_peer_by_cpu_time"]
    print(json.dumps({k: result[k] for k in told if k in result}), file=sys.stderr)
    return result


def measure_threads(options, graph, threads):
    starts = commands(options, make_graph(options, graph))
    peers = {(name, n): Peer(command, n) for name, command in starts.items() for n in {1, threads} if n == 1 or name != "gnomon"}
    rows = [
        measure_row(
            options,
            peers,
            {"graph": graph, "fanouts": fanouts, "threads": threads, "stage": stage},
            asked | {"fanouts": fanouts, "seconds": options.seconds},
        )
        for fanouts in FANOUTS
        for stage, asked in stages_of(options)
    ]
    for peer in peers.values():
        peer.close()
    return rows


def key(row):
    return json.dumps([row[k] for k in ("graph", "fanouts", "threads", "stage")])


def write(options, rows):
    if options.merge and options.output.exists():
        measured = {key(row) for row in rows}
        rows = [row for row in json.loads(options.output.read_text())["rows"] if key(row) not in measured] + rows
    document = {"schema": "gnomon.compare_peers/1", **origin(), "notes": __doc__.split("What is compared. ")[1].strip(), "rows": rows}
    write_record(options.output, document)


def main():
    def split(kind):
        return lambda text: [kind(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_peers.json")
    parser.add_argument("--graphs", type=split(str), default=["rmat20", "planted", "slashdot", "twitter"])
    parser.add_argument("--names", type=split(str), default=["dgl", "graphbolt", "pyg_lib", "torch_sparse"])
    parser.add_argument("--threads", type=split(int), default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--merge", action="store_true")
    parser.add_argument("--weighted", action="store_true")
    options = parser.parse_args()
    if options.weighted:
        options.names = [name for name in options.names if name in ("dgl", "graphbolt")]
    rows = []
    for graph in options.graphs:
        for threads in options.threads:
            rows += measure_threads(options, graph, threads)
    write(options, rows)


main()
