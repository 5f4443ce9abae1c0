#!/usr/bin/env python3
"""Partitions graphs with every method and compares macro-batches with the simulator's estimates. Writes
bench/results/partition.json.

    bench/partition.py [--build build/release] [--scales 18,20,22,24] [--metis-up-to 18] [--planted 1000000] [--parts 32]
        [--resident 8] [--output FILE]

Methods are random, metis, gnn_aware (GAP), and gnn_aware with a maximum load of 1.1. Graphs are R-MAT graphs of several sizes, and a
planted partition of --planted vertices, whose classes are its communities. Each row is one process: `seconds` is its processor time,
which other processes affect little, without that of the report on the finished parts (`report_seconds`); `peak_bytes` is its peak
resident memory. `read_over_simulated` has the minimum and the maximum over macro-batches of read bytes over simulated bytes.

`growth` fits linear functions to the seconds (of the edges) and the peak (of the vertices) of gnn_aware, and extrapolates both to 111
million vertices and 3.2 billion edges.
"""

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench/peers")]
from harness import origin, write_record  # noqa: E402
from limited import run  # noqa: E402

METHODS = {"random": ["--method", "random"], "gnn_aware": ["--method", "gnn_aware"],
           "gnn_aware, load 1.1": ["--method", "gnn_aware", "--max-load", 1.1], "metis": ["--method", "metis"]}
TARGET = {"vertices": 111_059_956, "edges": 3_228_124_712}


def describe(options, store, parts):
    facts, printed = run([options.gnomon, "partition", store, "--from", parts, "--resident", options.resident, "--json"])
    return facts["cpu_s"], json.loads(printed)


def row_of(options, name, store, method):
    parts = store.parent / "parts"
    facts, _ = run([options.gnomon, "partition", store, "--parts", options.parts, *METHODS[method], "--resident", options.resident,
                    "-o", parts, "--json"])
    report_seconds, report = describe(options, store, parts)
    shutil.rmtree(parts)
    quality, sets = report["quality"], report["macro_batches"]
    ratios = sorted(each["bytes"] / simulated["bytes"] for each, simulated in zip(sets, report["simulated"]))
    row = {"graph": name, "vertices": sum(each["vertices"] for each in sets), "edges": sum(each["edges"] for each in sets),
           "method": method, "seconds": facts["cpu_s"] - report_seconds, "report_seconds": report_seconds,
           "peak_bytes": facts["peak_bytes"], "cut_share": quality["cut_share"], "label_imbalance": quality["label_imbalance"],
           "train_max_over_mean": quality["train"]["max"] * options.parts / max(1, sum(each["train"] for each in sets)),
           "edges_within": sum(each["edges_within"] for each in sets) / sum(each["edges"] for each in sets),
           "read_over_simulated": [ratios[0], ratios[-1]]}
    print(f"{name} {method}: {row['seconds']:.1f} s, {row['peak_bytes'] / 1e6:.0f} MB, cut {row['cut_share']:.3f}", file=sys.stderr)
    return row


def rows_of(options, name, generate, methods):
    work = options.work / name.replace(" ", "_").replace("^", "")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    store = work / "store"
    run([options.gnomon, "generate", *generate[:1], store, *generate[1:]])
    time.sleep(2)  # files that have just been written are not marked as checked, and each process would check them anew
    run([options.gnomon, "info", store, "--check"])
    rows = [row_of(options, name, store, method) for method in methods]
    shutil.rmtree(work)
    return rows


def line(points):
    """Slope and intercept by least squares."""
    xs, ys = zip(*points)
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x in xs)
    return slope, mean_y - slope * mean_x


def growth(rows):
    ours = [row for row in rows if row["method"] == "gnn_aware" and row["graph"].startswith("R-MAT")]
    if len(ours) < 2:
        return None
    per_edge, start_s = line([(row["edges"], row["seconds"]) for row in ours])
    per_vertex, start_bytes = line([(row["vertices"], row["peak_bytes"]) for row in ours])
    return TARGET | {"seconds_per_edge": per_edge, "bytes_per_vertex": per_vertex, "seconds": start_s + per_edge * TARGET["edges"],
                     "peak_bytes": start_bytes + per_vertex * TARGET["vertices"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--scales", type=lambda text: [int(scale) for scale in text.split(",")], default=[18, 20, 22, 24])
    parser.add_argument("--metis-up-to", type=int, default=18)
    parser.add_argument("--planted", type=int, default=1_000_000)
    parser.add_argument("--parts", type=int, default=32)
    parser.add_argument("--resident", type=int, default=8)
    parser.add_argument("--work", type=Path, default=ROOT / "build/partition")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/partition.json")
    options = parser.parse_args()
    options.gnomon = options.build.resolve() / "bin/gnomon"
    rows = []
    for scale in options.scales:
        methods = [method for method in METHODS if method != "metis" or scale <= options.metis_up_to]
        rows += rows_of(options, f"R-MAT 2^{scale}", ["rmat", "--scale", scale, "--feature-columns", 16], methods)
    rows += rows_of(options, "planted", ["sbm", "--vertices", options.planted, "--average-degree", 20, "--classes", 32,
                                         "--feature-columns", 32], METHODS)
    write_record(options.output, {"schema": "gnomon.partition_record/1", **origin(), "notes": __doc__.strip(),
                                  "load_average": os.getloadavg()[0], "parts": options.parts, "resident": options.resident, "rows": rows, "growth": growth(rows)})


main()
