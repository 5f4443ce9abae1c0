#!/usr/bin/env python3
"""Predicts training on real graphs as a new user would, and compares predictions with measurements: each graph is imported and
profiled with default settings, and `gnomon validate` then runs plans and measures epoch times and the peak resident memory of a
process that trains with the plan. The machine need not be idle. Writes bench/results/first_contact.json.

    bench/first_contact.py [--build build/release] [--data ../shared/data] [--graphs cora,tolokers]
        [--plans device,gnomon,salient] [--repeats 3] [--output FILE]

Rows hold seconds and bytes. Nothing is fitted: a profile is measured on the same machine just before. Since a shared machine
is not equally fast from minute to minute, each graph is profiled and validated several times, and rows are the medians; the
summary also has the median error of the single repeats. Graphs without features or labels get random ones. Stores under
build/first_contact are reused.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import gnomon, origin, write_record  # noqa: E402

RANDOM = ["--relabel", "--random-features", "100", "--random-classes", "10"]
PLANETOID = ["--model", "gcn", "--fanouts", "10,10", "--hidden", "16"]
SAGE = ["--model", "sage", "--fanouts", "10,10", "--hidden", "64"]
WIDE = ["--model", "sage", "--fanouts", "5,5", "--hidden", "64"]
# The file, how it is imported beyond "--undirected", and the job.
GRAPHS = {
    "cora": ("cora.npz", [], PLANETOID),
    "citeseer": ("citeseer.npz", [], PLANETOID),
    "amazon_cs": ("amazon_cs.npz", [], ["--model", "gat", "--fanouts", "10,10", "--hidden", "64"]),
    "amazon_photo": ("amazon_photo.npz", [], SAGE),
    "coauthor_cs": ("coauthor_cs.npz", [], SAGE),
    "coauthor_phy": ("coauthor_phy.npz", [], WIDE),
    "tolokers": ("tolokers.npz", [], SAGE),
    "minesweeper": ("minesweeper.npz", [], SAGE),
    "slashdot": ("soc-Slashdot0902.txt.gz", RANDOM, SAGE),
    "twitter": ("ego-twitter.txt.gz", RANDOM, SAGE),
}


def make_store(options, name):
    store = ROOT / "build/first_contact" / name
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        file, how, _ = GRAPHS[name]
        kind = "npz" if file.endswith(".npz") else "edges"
        gnomon(options, "import", kind, options.data / file, store, "--undirected", *how)
    return store


def measure_once(options, name):
    store, job = make_store(options, name), GRAPHS[name][2]
    profile = store.with_suffix(".profile.json")
    gnomon(options, "profile", store, *job, "-o", profile)
    return json.loads(gnomon(options, "validate", store, profile, "--plans", options.plans, "--json"))["plans"]


def measure(options, name):
    """The rows of a graph: medians of its repeats."""
    repeats = [measure_once(options, name) for _ in range(options.repeats)]
    rows = []
    for plan in zip(*repeats):
        row = {"graph": name, "model": GRAPHS[name][2][1], "plan": plan[0]["plan"]["name"]}
        for key in ("predicted_s", "measured_s", "predicted_bytes", "measured_bytes"):
            row[key] = statistics.median(one[key] for one in plan)
        row["repeats"] = [{key: one[key] for key in ("predicted_s", "predicted_interval_s", "measured_s") if key in one}
                          | {"epochs": len(one["epochs_s"])} for one in plan]  # fmt: skip
        rows.append(row)
    return rows


def time_error(row):
    return abs(row["predicted_s"] / row["measured_s"] - 1)


def is_inside(one):
    return abs(one["measured_s"] - one["predicted_s"]) <= one["predicted_interval_s"]


def summary(rows):
    repeats = [one for row in rows for one in row["repeats"]]
    time = [time_error(row) for row in rows]
    memory = [row["predicted_bytes"] / row["measured_bytes"] for row in rows]
    return {
        "time_median_error": statistics.median(time),
        "time_max_error": max(time),
        "time_median_error_of_single_repeats": statistics.median(map(time_error, repeats)),
        # Of the single repeats, the share that the stated 95 % intervals hold.
        "within_interval": statistics.mean(is_inside(one) for one in repeats if "predicted_interval_s" in one),
        "memory_median_error": statistics.median(abs(ratio - 1) for ratio in memory),
        "memory_min_ratio": min(memory),
        "memory_max_ratio": max(memory),
    }


def parser_of(notes, record):
    """The command line of a bench on these graphs."""
    parser = argparse.ArgumentParser(description=notes, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=list(GRAPHS))
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results" / record)
    return parser


def main():
    parser = parser_of(__doc__, "first_contact.json")
    parser.add_argument("--plans", default="device,gnomon,salient")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for name in options.graphs:
        rows += measure(options, name)
        for row in rows[-len(options.plans.split(",")) :]:
            print(json.dumps(row), file=sys.stderr)
        document = {"schema": "gnomon.first_contact/1", **origin(), "notes": __doc__.strip(), **summary(rows), "rows": rows}
        write_record(options.output, document)


if __name__ == "__main__":
    main()
