#!/usr/bin/env python3
"""Measures the loss of accuracy by cache-biased sampling: trains real graphs with plans of several biases and shares of
cached vertices, fits the accuracies (`gnomon surrogate learn --runs`) and writes the results.

    bench/biased_accuracy.py [--gnomon build/release/bin/gnomon] [--data ../shared/data] [--seeds 2]
        [--work build/biased] [--output bench/results/biased_accuracy.json]

Existing runs are reused.
"""

import argparse
import json
import statistics
import subprocess
from pathlib import Path

GRAPHS = ["amazon_cs", "amazon_photo", "coauthor_cs"]
PLANS = [(1, 0.1), (2, 0.1), (8, 0.1), (32, 0.1), (8, 0.3), (32, 0.02)]
JOB = ["--model", "sage", "--fanouts", "5,5", "--batch-size", "512", "--hidden", "64", "--learning-rate", "0.01",
       "--epochs", "6"]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gnomon", type=Path, default=Path("build/release/bin/gnomon"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("build/biased"))
    parser.add_argument("--output", type=Path, default=Path("bench/results/biased_accuracy.json"))
    return parser.parse_args()


def write_plan(path, bias, share):
    plan = {"schema": "gnomon.plan/1", "name": "biased", "schedule": "claim_ahead", "route": "both"}
    if bias > 1:
        plan |= {"exact": False, "bias": bias, "cache": {"policy": "out_degree", "budget": share}}
    path.write_text(json.dumps(plan))


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)

    def run(*words):
        return subprocess.run([options.gnomon, *map(str, words)], check=True, capture_output=True, text=True).stdout

    rows, runs = [], []
    for graph in GRAPHS:
        store = options.work / graph
        if not store.exists():
            run("import", "npz", options.data / f"{graph}.npz", store, "--undirected", "--normalise-features", "l1")
        for bias, share in PLANS:
            plan = options.work / f"bias-{bias}-{share}.json"
            write_plan(plan, bias, share)
            row = {"graph": graph, "bias": bias, "share": share, "test_accuracy": []}
            for seed in range(options.seeds):
                directory = options.work / f"run-{graph}-{bias}-{share}-{seed}"
                if not (directory / "report.json").exists():
                    run("train", store, "--plan", plan, *JOB, "--seed", seed, "--run", directory, "--json")
                runs.append(directory)
                row["test_accuracy"].append(json.loads((directory / "report.json").read_text())["test_accuracy"])
            rows.append(row)
            print(graph, bias, share, f"{statistics.mean(row['test_accuracy']):.4f}", flush=True)
    learned = options.work / "surrogate.json"
    print(run("surrogate", "learn", "--runs", *runs, "-o", learned))
    model = json.loads(run("surrogate", "show", learned, "--json"))["accuracy"]
    inputs = [one["name"] for one in model["inputs"]]
    document = {
        "schema": "gnomon.biased_accuracy/1",
        "job": JOB,
        "rows": rows,
        "surrogate": {
            "runs": model["runs"],
            "held_out_r2": model["model"]["held_out_r2"],
            "known_error": model["known_error"],
            "unseen_error": model["unseen_error"],
            "importance": {name: share for name, share in zip(inputs, model["model"]["importance"]) if share > 0},
        },
    }
    options.output.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
