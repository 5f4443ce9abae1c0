#!/usr/bin/env python3
"""Compares the test accuracy of plans that train from macro-batches with that of ns-mem, over several seeds. Prints one row of JSON a
graph and plan; bench/out_of_core.py records the same rows.

    bench/macro_accuracy.py [--build build/release] [--data ../shared/data] [--graphs amazon_cs,coauthor_cs,coauthor_phy,communities,planted]
        [--plans mariusgnn,hanoi,joestar-1,joestar-2] [--factors 1,2,4] [--seeds 5] [--epochs 20] [--work build/macro_accuracy]

`value` is what the mean accuracy of the plan is below that of ns-mem, in points; `of` is what the issue allows; `deviation` is the
standard error of the difference. GraphSAGE, fanouts 10,10, mini-batches of 128, dropout 0.5; the accuracies are those of the epoch with
the best validation. Graphs of ../shared/data have sparse features where a plan keeps them in memory. With --factors, joestar-1 is
trained with each of these values of macro.fanout_factor. "planted" is a planted partition graph of a million vertices, of which a
hundredth is trained; 70 % of its edges are between random vertices, which no division into parts can keep together. "communities" is
another, of 16 classes of 64 communities each, with 80 % of the edges within communities. Runs and stores under WORK are kept and used
again.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import gnomon  # noqa: E402

GRAPHS = ["amazon_cs", "coauthor_cs", "coauthor_phy", "communities", "planted"]
# Planted partition graphs: options of gnomon generate sbm.
PLANTED = {"planted": [], "communities": ["--classes", 16, "--communities", 1024, "--intra-share", 0.8, "--feature-noise", 1.5]}
ALLOWED_POINTS = {"mariusgnn": 1, "hanoi": 1, "joestar-1": 0.5, "joestar-2": 1}
METHODS = {"mariusgnn": "random", "hanoi": "gnn_aware"}
PARTS = 32
JOB = ["--model", "sage", "--fanouts", "10,10", "--batch-size", 128, "--hidden", 64, "--dropout", 0.5, "--learning-rate", 0.005]


def make_store(options, graph, form):
    """A store whose features have that form: disks are read by dense rows; in memory, sparse ones save most of the time."""
    store = options.work / (graph if form == "dense" or graph in PLANTED else f"{graph}-{form}")
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        if graph in PLANTED:
            gnomon(options, "generate", "sbm", store, "--vertices", 1_000_000, "--train-share", 0.01, "--valid-share", 0.01, *PLANTED[graph])
        else:
            gnomon(options, "import", "npz", options.data / f"{graph}.npz", store, "--undirected", "--normalise-features", "l1",
                   "--feature-form", form)
    return store


def make_parted_store(options, store, method):
    parted = options.work / f"{store.name}-{method}"
    if not parted.exists():
        gnomon(options, "partition", store, "--parts", PARTS, "--method", method, "--store", parted)
    return parted


def accuracy(options, store, name, seed, factor=None):
    """The test accuracy of a preset whose updates are in the order of the indices."""
    plan = json.loads((ROOT / "plan/presets" / f"{name}.json").read_text()) | {"order": "index"}
    label = name if factor is None else f"{name}-factor-{factor}"
    if factor is not None:
        plan["macro"]["fanout_factor"] = factor
    run = options.work / "runs" / f"{store.name}-{label}-{seed}-{options.epochs}"
    if not (run / "report.json").exists():
        file = options.work / f"{label}.json"
        file.write_text(json.dumps(plan))
        gnomon(options, "train", store, *JOB, "--plan", file, "--seed", seed, "--epochs", options.epochs, "--run", run, "--overwrite")
    return json.loads((run / "report.json").read_text())["test_accuracy"]


def row_of(graph, plan, allowed, accuracies, exact):
    lost = [100 * (reference - own) for own, reference in zip(accuracies, exact)]
    error = statistics.stdev(lost) / len(lost) ** 0.5 if len(lost) > 1 else None
    points = statistics.mean(lost)
    return {"what": "accuracy_points", "graph": graph, "plan": plan, "value": points, "of": allowed, "ratio": points / allowed,
            "deviation": error, "accuracy": statistics.mean(accuracies), "exact_accuracy": statistics.mean(exact)}


def accuracy_rows(options, graph):
    store = make_store(options, graph, "sparse")
    seeds = range(1, options.seeds + 1)
    exact = [accuracy(options, store, "ns-mem", seed) for seed in seeds]
    rows = []
    for name in options.plans:
        on = make_parted_store(options, make_store(options, graph, "dense"), METHODS[name]) if name in METHODS else store
        for factor in options.factors if name == "joestar-1" else [None]:
            label = name if factor is None else f"{name}, fanout_factor {factor}"
            found = [accuracy(options, on, name, seed, factor) for seed in seeds]
            rows.append(row_of(graph, label, ALLOWED_POINTS[name], found, exact))
            print(json.dumps(rows[-1]), file=sys.stderr)
    return rows


def main():
    def words(text):
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--graphs", type=words, default=GRAPHS)
    parser.add_argument("--plans", type=words, default=list(ALLOWED_POINTS))
    parser.add_argument("--factors", type=lambda text: [int(each) for each in text.split(",")], default=[None])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--work", type=Path, default=ROOT / "build/macro_accuracy")
    options = parser.parse_args()
    print(json.dumps([row for graph in options.graphs for row in accuracy_rows(options, graph)], indent=1))


if __name__ == "__main__":
    main()
