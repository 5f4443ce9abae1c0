#!/usr/bin/env python3
"""Compares training epochs on the CPU with those of PyG and DGL in one run: GraphSAGE with three layers of 256 on an R-MAT
graph of 2^20 vertices, batches of 1,024, fanouts 15, 10 and 5. Writes bench/results/compare_training.json.

    bench/compare_training.py [--build build/release] [--peers build/peers] [--output FILE] [--threads 1,2] [--rounds 3]
        [--sources DIR]

The peers are installed as by compare_peers.py. Each uses its best setting: gnomon's plan, the peers' number of loader
workers. All use as many threads as there are usable cores. One epoch is 20 batches, without evaluation. PyG
expands each vertex once (fewer edges) and trims its layers; DGL trains on blocks. All store features as fp32.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import dgl_environment, origin, pyg_environment, pyg_lib, spread, start, write_record  # noqa: E402

JOB = {"fanouts": [15, 10, 5], "hidden": 256}
SETTINGS = {"gnomon": ["device", "gnomon", "salient"], "pyg": [0, 1, 2], "dgl": [0, 1, 2]}


def make_graph(options):
    directory = options.peers / "graphs/rmat20_training"
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        make = [options.build / "bin/gnomon", "generate", "rmat", directory, "--scale", "20"]
        subprocess.run([*make, "--train-share", "0.0195", "--valid-share", "0.001"], check=True)
    return directory


def commands(options, graph):
    dgl, pyg = dgl_environment(options.peers), pyg_environment(options.peers)
    script = ROOT / "bench/peers/training.py"
    return {
        "gnomon": [options.build / "bench/bench_training_peer", graph],
        "dgl": [dgl, script, "dgl", graph],
        "pyg": [pyg, script, "pyg", graph, pyg_lib(options.peers, options.sources, pyg)],
    }


def epoch(command, name, threads, setting):
    """Measures the second epoch of a new process: the first one includes the page faults of its memory, and a process per
    epoch leaves no threads behind that would disturb the next peer."""
    peer = start(name, command, threads)
    request = JOB | {"threads": threads, "setting": setting}
    peer.ask(request)
    answer = peer.ask(request)
    peer.close()
    return answer


def measure(peers, threads, rounds):
    """Finds each peer's best setting in a warm-up round that does not count."""
    train = lambda name, setting: epoch(peers[name], name, threads, setting)
    best = {name: min(SETTINGS[name], key=lambda s: train(name, s)["seconds"]) for name in peers}
    answers = {name: [] for name in peers}
    for _ in range(rounds):
        for name in peers:
            answers[name].append(train(name, best[name]))
    seconds = {name: spread([a["seconds"] for a in all]) for name, all in answers.items()}
    fastest = min((name for name in peers if name != "gnomon"), key=lambda name: seconds[name][0])
    return {
        "graph": "rmat20",
        **JOB,
        "threads": threads,
        "batches": answers["gnomon"][0]["batches"],
        "best_setting": best,
        "seconds": seconds,
        "last_loss": {name: all[-1]["loss"] for name, all in answers.items()},
        "times_the_fastest_peer": [fastest, seconds[fastest][0] / seconds["gnomon"][0]],
        "share_of_dense_products": spread([a["product_share"] for a in answers["gnomon"]])[0],
    }


def write(output, row):
    """Replaces the row of as many threads, and keeps the others."""
    before = json.loads(output.read_text())["rows"] if output.exists() else []
    rows = sorted([r for r in before if r["threads"] != row["threads"]] + [row], key=lambda r: r["threads"])
    document = {"schema": "gnomon.compare_training/1", **origin(), "notes": __doc__.strip(), "rows": rows}
    write_record(output, document)
    print(json.dumps(row), file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_training.json")
    parser.add_argument("--threads", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    graph = make_graph(options)
    for threads in options.threads:
        write(options.output, measure(commands(options, graph), threads, options.rounds))


main()
