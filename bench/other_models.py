#!/usr/bin/env python3
"""Measures how well the training of another model follows from a profile: profiles jobs that differ in the model only, and compares
training steps that `gnomon explore --set workload.job.…` predicts from each with those that the others measured.

    bench/other_models.py [--gnomon build/release/bin/gnomon] [--data ../shared/data] [--time-limit 12]
        [--work build/other_models] [--output bench/results/other_models.json]

Rows hold seconds of an epoch: `kept_s` is that of the measured model, `measured_s` that from the wanted model's own profile.
Existing profiles are reused.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import origin, write_record  # noqa: E402

MODELS = [(model, hidden) for model in ("sage", "gcn", "gat") for hidden in (16, 64, 256)]
JOB = ["--fanouts", "10,10", "--batch-size", "512"]
PLANTED = ["--vertices", "60000", "--classes", "16", "--feature-columns", "128", "--average-degree", "15"]
REAL = ["amazon_cs", "coauthor_phy"]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gnomon", type=Path, default=Path("build/release/bin/gnomon"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--time-limit", type=float, default=12)
    parser.add_argument("--work", type=Path, default=Path("build/other_models"))
    parser.add_argument("--output", type=Path, default=Path("bench/results/other_models.json"))
    return parser.parse_args()


class Jobs:
    """The profiles of one graph, measured on first use."""

    def __init__(self, options, graph):
        self.options, self.graph = options, graph
        self.store = options.work / graph
        if not self.store.exists() and graph == "planted":
            self.run("generate", "sbm", self.store, *PLANTED)
        elif not self.store.exists():
            self.run("import", "npz", options.data / f"{graph}.npz", self.store, "--undirected")

    def run(self, *words):
        return subprocess.run([self.options.gnomon, *map(str, words)], check=True, capture_output=True, text=True).stdout

    def profile(self, model, hidden):
        path = self.options.work / f"{self.graph}-{model}-{hidden}.json"
        if not path.exists():
            self.run("profile", self.store, "-o", path, "--model", model, "--hidden", hidden, *JOB, "--machine",
                     self.options.work / "machine.json", "--time-limit", self.options.time_limit)
        return path

    def epoch(self, path, *settings):
        """The epoch by a plan of which each step waits for the one before, and its interval."""
        row = json.loads(self.run("explore", path, "--plan", "device", "--json", *settings))["rows"][0]
        return row["epoch_s"], row["interval_s"]

    def row(self, measured, wanted):
        model, hidden = wanted
        predicted, interval = self.epoch(self.profile(*measured), "--set", f"workload.job.model={model}",
                                         "--set", f"workload.job.hidden={hidden}")
        kept, _ = self.epoch(self.profile(*measured))
        found, _ = self.epoch(self.profile(*wanted))
        return {"graph": self.graph, "measured": list(measured), "wanted": list(wanted), "predicted_s": predicted,
                "interval_s": interval, "kept_s": kept, "measured_s": found}


def summary(rows):
    errors = [abs(row["predicted_s"] / row["measured_s"] - 1) for row in rows]
    within = [abs(row["predicted_s"] - row["measured_s"]) <= row["interval_s"] for row in rows]
    return f"median {statistics.median(errors):.3f}, max {max(errors):.3f}, within the interval {statistics.mean(within):.2f}"


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    machine = options.work / "machine.json"
    if not machine.exists():
        subprocess.run([options.gnomon, "machine", "-o", machine, "--time-limit", "20"], check=True, capture_output=True)
    rows = []
    for graph in ["planted", *REAL]:
        jobs = Jobs(options, graph)
        found = [jobs.row(*pair) for pair in itertools.permutations(MODELS, 2)]
        print(graph, summary(found), flush=True)
        rows += found
    write_record(options.output, {"schema": "gnomon.other_models/1", **origin(), "job": JOB, "rows": rows})


if __name__ == "__main__":
    main()
