#!/usr/bin/env python3
"""Measures how well throughput and memory of plans are predicted for unseen graphs: profiles real graphs and random ones of
many sizes on this machine, each with a random job, learns a surrogate from them (`gnomon surrogate learn`, which measures R2
by five-fold cross-validation over the graphs) and writes the results.

    bench/surrogates.py [--gnomon build/release/bin/gnomon] [--data ../shared/data] [--graphs 24]
        [--seconds 2] [--work build/surrogates] [--output bench/results/surrogates.json]

Existing profiles are reused.
"""

import argparse
import json
import platform
import random
import subprocess
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gnomon", type=Path, default=Path("build/release/bin/gnomon"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--graphs", type=int, default=24, help="number of random graphs, in addition to the real ones")
    parser.add_argument("--seconds", type=float, default=2, help="seconds per profile")
    parser.add_argument("--samples", type=int, default=100, help="plans per profile")
    parser.add_argument("--work", type=Path, default=Path("build/surrogates"))
    parser.add_argument("--output", type=Path, default=Path("bench/results/surrogates.json"))
    return parser.parse_args()


def between(draw, least, most):
    return int(least * (most / least) ** draw.random())


def make_random(run, number, store):
    """Every other one with hubs."""
    draw = random.Random(number)
    columns = str(between(draw, 16, 512))
    if number % 2 == 0:
        run("generate", "sbm", store, "--vertices", str(between(draw, 5000, 200000)), "--average-degree",
            str(between(draw, 4, 40)), "--feature-columns", columns, "--seed", str(number))
    else:
        run("generate", "rmat", store, "--scale", str(draw.randint(12, 17)), "--edge-factor", str(between(draw, 4, 24)),
            "--feature-columns", columns, "--seed", str(number))


def import_real(run, file, store):
    if file.suffix == ".npz":
        run("import", "npz", file, store, "--undirected")
    else:
        run("import", "edges", file, store, "--undirected", "--random-features", "64", "--random-classes", "8")


def job_flags(name):
    draw = random.Random(name)
    return ["--model", draw.choice(["sage", "gcn", "gat"]), "--fanouts", draw.choice(["10,10", "15,10,5", "5,5", "25,10"]),
            "--batch-size", str(draw.choice([128, 256, 512, 1024])), "--hidden", str(draw.choice([32, 64, 128]))]


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)

    def run(*words):
        return subprocess.run([options.gnomon, *map(str, words)], check=True, capture_output=True, text=True).stdout

    makers = {f"random-{n}": (make_random, n) for n in range(options.graphs)}
    for file in sorted(options.data.glob("*.npz")) + sorted(options.data.glob("*.txt.gz")):
        makers[file.name.split(".")[0]] = (import_real, file)
    profiles = []
    for name, (make, source) in makers.items():
        store, profile = options.work / name, options.work / f"{name}.profile.json"
        if not store.exists():
            make(run, source, store)
        if not profile.exists():
            run("profile", "--all", store, "-o", profile, "--time-limit", options.seconds, *job_flags(name))
        profiles.append(profile)
    surrogate = options.work / "surrogate.json"
    print(run("surrogate", "learn", *profiles, "-o", surrogate, "--samples", options.samples), end="")
    shown = json.loads(run("surrogate", "show", surrogate, "--json"))
    order = sorted(range(len(shown["inputs"])), key=lambda i: -shown["throughput"]["importance"][i])
    document = {"schema": "gnomon.surrogates/1",
                "machine": {"processor": platform.processor() or platform.machine(), "cores": json.loads(
                    run("info", "--json"))["machine"]["cores"]},
                "command": "bench/surrogates.py",
                "graphs": len(profiles), "real_graphs": len(profiles) - options.graphs, "samples": shown["samples"],
                "held_out_r2": {"throughput": shown["throughput"]["held_out_r2"], "memory": shown["memory"]["held_out_r2"]},
                "importance_for_throughput": {shown["inputs"][i]["name"]: shown["throughput"]["importance"][i]
                                              for i in order[:12]}}
    options.output.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
