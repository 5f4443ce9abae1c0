#!/usr/bin/env python3
"""Compares approximate presets with the exact plan on real graphs: test accuracy of several seeds, staleness, and the work that
reused embeddings save. Writes bench/results/approximate.json.

    bench/approximate.py [--build build/release] [--data ../shared/data] [--graphs amazon_cs,coauthor_cs]
        [--presets neutronorch,gas] [--seeds 5] [--epochs 20] [--work build/approximate] [--output FILE]

GraphSAGE, fanouts 10,10, mini-batches of 128, dropout 0.5. Accuracies are those of the epoch with the best validation accuracy. A
row's `staleness` (in updates) and `epsilon` are maxima over epochs and seeds; `vertices_not_sampled`, `edges_not_aggregated` and
`bytes_not_gathered` are means per epoch, and null if the plan reuses no hot embeddings; `predicted` contains the values that the
simulator predicts from a profile of the graph. Presets that the host cannot execute have `why_not` instead. Existing runs and stores
under WORK are reused.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import gnomon, origin, write_record  # noqa: E402

GRAPHS = ["amazon_cs", "amazon_photo", "coauthor_cs", "coauthor_phy"]
PRESETS = ["neutronorch", "gas", "a3gnn-sequential", "a3gnn-mode1", "a3gnn-mode2"]
JOB = ["--model", "sage", "--fanouts", "10,10", "--batch-size", "128", "--hidden", "64", "--dropout", "0.5", "--learning-rate", "0.005"]
SAVED = ["vertices_not_sampled", "edges_not_aggregated", "bytes_not_gathered"]


def make_store(options, graph):
    store = options.work / graph
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        gnomon(options, "import", "npz", options.data / f"{graph}.npz", store, "--undirected", "--normalise-features", "l1")
    return store


def train(options, store, plan, seed):
    """The run's directory, or the line in which gnomon refuses the plan."""
    run = options.work / "runs" / f"{store.name}-{plan}-{seed}-{options.epochs}"
    if not (run / "report.json").exists():
        command = [options.build / "bin/gnomon", "train", store, *JOB, "--plan", plan, "--seed", seed, "--epochs", options.epochs]
        done = subprocess.run([str(word) for word in [*command, "--run", run, "--overwrite", "--json"]], capture_output=True, text=True)
        if done.returncode == 2:
            return None, done.stderr.strip().splitlines()[-1]
        if done.returncode != 0:
            sys.exit(f"{store.name}, {plan}: {done.stderr}")
    return run, None


def accuracies(runs):
    return [json.loads((run / "report.json").read_text())["test_accuracy"] for run in runs]


def saved_work(runs):
    """What the runs' logs say of reused embeddings."""
    epochs = [json.loads(line) for run in runs for line in (run / "log.jsonl").read_text().splitlines()]
    reusing = [epoch for epoch in epochs if "super_batches" in epoch]
    parts = [part for epoch in reusing for part in epoch["super_batches"]]
    return {
        "staleness": max((part["staleness"] for part in parts), default=None),
        "epsilon": max((part["epsilon"] for part in parts), default=None),
        "refreshed": statistics.mean(sum(part["refreshed"] for part in epoch["super_batches"]) for epoch in reusing) if reusing else None,
    } | {name: statistics.mean(epoch[name] for epoch in reusing) if reusing else None for name in SAVED}


def predicted_work(options, store, preset):
    """What the simulator says of the work that an epoch saves."""
    profile = store.with_suffix(".profile.json")
    if not profile.exists():
        gnomon(options, "profile", "--all", store, *JOB, "--time-limit", 10, "-o", profile)
    row = json.loads(gnomon(options, "explore", profile, "--plan", preset, "--json"))["rows"][0]
    return {name: row[name] for name in SAVED}


def measure(options, graph):
    store = make_store(options, graph)
    seeds = range(1, options.seeds + 1)
    exact = accuracies([train(options, store, "device", seed)[0] for seed in seeds])
    rows = []
    for preset in options.presets:
        runs = [train(options, store, preset, seed) for seed in seeds]
        row = {"graph": graph, "preset": preset}
        if why_not := runs[0][1]:
            row["why_not"] = why_not
        else:
            directories = [run for run, _ in runs]
            row |= {"accuracy": accuracies(directories), "exact_accuracy": exact, **saved_work(directories)}
            row["predicted"] = predicted_work(options, store, preset) if row["refreshed"] is not None else None
        rows.append(row)
        print(json.dumps(row), file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=GRAPHS)
    parser.add_argument("--presets", type=lambda text: text.split(","), default=PRESETS)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--work", type=Path, default=ROOT / "build/approximate")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/approximate.json")
    options = parser.parse_args()
    rows = []
    for graph in options.graphs:
        rows += measure(options, graph)
        document = {"schema": "gnomon.approximate/1", **origin(), "notes": __doc__.strip(), "job": JOB, "epochs": options.epochs}
        write_record(options.output, document | {"rows": rows})


main()
