#!/usr/bin/env python3
"""Compares gnomon's loaders for Python with PyTorch Geometric's (with pyg-lib), in one Python process on the same data.
Writes bench/results/compare_python.json.

    bench/compare_python.py [--build build/release] [--peers build/peers] [--sources DIR] [--output FILE]
        [--graphs rmat20,slashdot,…] [--what node,link,epoch_loader,epoch_nn] [--rounds 5]
        [--seconds 2]

Prints each round's figures. Rows: node and link are batches per second of NeighborLoader and of LinkNeighborLoader with binary
negatives, each with the fastest of several numbers of workers in each round; `ratio` is gnomon's rate over PyG's; `overhead_ms` is
Python's overhead per batch of gnomon's loader without workers. epoch_loader trains PyG's GraphSAGE on matrices in CSR form, with all
vertices in each layer and with trimmed hops ("trims"), PyG's fastest form: `share_of_limit` is the time of training alone over that
with gnomon's loader, at most 1 for any loader. epoch_nn trains the same model with gnomon.nn's layers and gnomon's loader, which does
not gather x; `ratio` is the time of PyG's fastest epoch over gnomon's. Both train in a process whose idle OpenMP threads spin (GNU
OpenMP's default) and in one whose idle threads sleep, and the faster counts. Figures are [median, min, max] of the rounds, in which
the peers alternate.

Graphs: rmat20 (2^20 vertices, as gnomon generate makes it), and those of ../shared/data; fp32 features of 128 columns, or
the data's. The first run installs the peers as compare_peers.py does.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import FILES, Peer, origin, pyg_environment, pyg_lib, spread, write_record  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
GRAPHS = ["rmat20", "slashdot", "twitter", "tolokers", "coauthor_cs", "amazon_cs"]
FANOUTS = [[15, 10, 5], [10, 10]]
HIDDEN = {2: 64, 3: 256}  # by layers
TRAINED = {2: 20, 3: 6}  # batches, by layers
PYG_WORKERS = [0, 1, 2]
OUR_WORKERS = [0, 1, 2]


def make_graph(options, name):
    directory = options.peers / "python_graphs" / name
    if not directory.exists():
        directory.parent.mkdir(parents=True, exist_ok=True)
        file = ROOT / "../shared/data" / FILES.get(name, f"{name}.npz")
        dense = [] if name in FILES else ["--feature-form", "dense"]
        what = ["generate", "rmat", "--scale", "20"] if name == "rmat20" else ["import", "auto", *dense, file]
        subprocess.run([options.build / "bin/gnomon", *what, directory], check=True, stdout=subprocess.DEVNULL)
    return directory


def per_second(answer):
    return answer["batches"] / answer["seconds"]


def best_rate(peers, request, workers):
    """The highest rate over the processes and the numbers of workers, and that number."""
    return max((per_second(peer.ask({**request, "workers": each})), each) for peer in peers for each in workers)


def tell(text):
    print(text, file=sys.stderr, flush=True)


def compare_loading(peers, options, what, fanouts):
    rates = {"pyg": [], "gnomon": []}
    chosen = {}
    for number in range(options.rounds):
        for name, workers in (("pyg", PYG_WORKERS), ("gnomon", OUR_WORKERS)):
            request = {"what": what, "peer": name, "fanouts": fanouts, "seconds": options.seconds}
            rate, chosen[name] = best_rate(peers[:1], request, workers)
            rates[name].append(rate)
            tell(f"{what} {fanouts} round {number + 1}: {name} {rate:.1f} batches/s")
    pyg, gnomon = spread(rates["pyg"]), spread(rates["gnomon"])
    row = {"pyg": pyg, "gnomon": gnomon, "workers": chosen, "ratio": gnomon[0] / pyg[0]}
    if what == "node":
        request = {"what": "overhead", "fanouts": fanouts}
        row["overhead_ms"] = spread([peers[0].ask(request)["milliseconds"] for _ in range(options.rounds)])
    return row


def compare_training(peers, options, fanouts, trims):
    """Seconds a batch: PyG as it is, with our loader, with our layers too, and training without a loader. Yields a row for
    each of what is asked for; that of our layers beside PyG's fastest form alone."""
    layers = len(fanouts)
    ours = {"epoch_loader": "gnomon", "epoch_nn": "gnomon.nn"} if trims else {"epoch_loader": "gnomon"}
    asked = [what for what in ours if what in options.what]
    times = {name: [] for name in ("pyg", *(ours[what] for what in asked), "none")}
    for number in range(options.rounds):
        for name in times:
            request = {"what": "train", "peer": name, "trims": trims, "fanouts": fanouts, "hidden": HIDDEN[layers],
                       "batches": TRAINED[layers]}
            tried = [0] if name == "none" else [0, 1]
            times[name].append(1 / best_rate(peers, request, tried)[0])
            tell(f"training {fanouts}{', trimmed' if trims else ''}, round {number + 1}: {name} {1e3 * times[name][-1]:.1f} ms a batch")
    spreads = {name: spread(each) for name, each in times.items()}
    for what in asked:
        gnomon = spreads[ours[what]]
        yield {"what": what, "trims": trims, "pyg": spreads["pyg"], "gnomon": gnomon, "training_alone": spreads["none"],
               "unit": "s_per_batch", "ratio": spreads["pyg"][0] / gnomon[0], "share_of_limit": spreads["none"][0] / gnomon[0]}


def rows_of(peers, options, graph):
    for fanouts in FANOUTS:
        rows = [{"what": what, **compare_loading(peers, options, what, fanouts)} for what in ("node", "link") if what in options.what]
        if graph == "rmat20" and {"epoch_loader", "epoch_nn"} & set(options.what):
            for trims in (False, True):
                rows += compare_training(peers, options, fanouts, trims)
        for row in rows:
            row = {"what": row.pop("what"), "graph": graph, "fanouts": fanouts, **row}
            tell(json.dumps(row))
            yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), default=ROOT / "build/release")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_python.json")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=GRAPHS)
    parser.add_argument("--what", type=lambda text: text.split(","), default=["node", "link", "epoch_loader", "epoch_nn"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    options.peers.mkdir(parents=True, exist_ok=True)
    python = pyg_environment(options.peers)
    library = pyg_lib(options.peers, options.sources, python)
    variables = {"PYTHONPATH": str(ROOT / "python"), "GNOMON_LIBRARY": str(options.build / "python/libgnomon.so")}
    record = {**origin(), "pyg": "torch 2.11.0, torch-geometric 2.8.1, pyg-lib 764e3a4", "rows": []}
    for graph in options.graphs:
        script = [python, ROOT / "bench/peers/python_loaders.py", make_graph(options, graph), library]
        tell(f"loading {graph}")
        policies = [{}, {"OMP_WAIT_POLICY": "passive"}] if graph == "rmat20" else [{}]  # the second is for training
        peers = [Peer(script, os.cpu_count(), **variables, **policy) for policy in policies]
        for row in rows_of(peers, options, graph):
            record["rows"].append(row)
            write_record(options.output, record)
        for peer in peers:
            peer.close()


if __name__ == "__main__":
    main()
