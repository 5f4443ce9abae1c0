#!/usr/bin/env python3
"""Runs every preset on every kind of device: threads of the host's cores, an emulated device, and a GPU where there is one.
Each is trained on a planted graph by `gnomon compare`. Writes bench/results/every_plan.json.

    bench/every_plan.py [--build build/release] [--emulated "emulated:aws-g5.2xlarge"] [--epochs 3] [--rounds 3] [--output FILE]

One row for each preset and kind of device; `why_not` is the reason why a preset does not run there. Exact presets with the same
update order end with the same `weights_hash` on all devices that compute on the host's cores. Times are seconds per epoch; accuracy
is the test accuracy after --epochs epochs. Presets that read macro-batches from the disk train on a copy of the graph whose vertices
are ordered by part; they are compared on the host only. The emulated device has the memory and the link of a catalog machine, and
computes on this machine's cores.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import origin, write_record  # noqa: E402

GRAPH = ["sbm", "--vertices", "20000", "--average-degree", "20", "--classes", "8", "--seed", "1"]
JOB = ["--fanouts", "10,10", "--batch-size", "512", "--hidden", "64", "--seed", "1"]
COLUMNS = ["preset", "runs", "why_not", "exact", "weights_hash", "predicted_s", "measured_s"]


def make_store(options):
    store = ROOT / "build/every_plan/planted"
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        generate, *rest = GRAPH
        subprocess.run([options.build / "bin/gnomon", "generate", generate, store, *rest], check=True, stdout=subprocess.DEVNULL)
    return store


def compare(options, store, device, presets=()):
    """The presets' rows, or none and why there is no such device."""
    command = [options.build / "bin/gnomon", "compare", store, *JOB, "--device", device, "--epochs", str(options.epochs),
               "--rounds", str(options.rounds), "--json", *(["--plans", ",".join(presets)] if presets else [])]
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 2:
        return None, done.stderr.strip().removeprefix("gnomon compare: ")
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return json.loads(done.stdout)["presets"], None


def by_parts(options, store):
    """Rows of the presets that read macro-batches from the disk, each on a store that is ordered by its parts."""
    rows = []
    for path in sorted((ROOT / "plan/presets").glob("*.json")):
        plan = json.loads(path.read_text())
        if plan["schedule"] == "macro_batch" and plan.get("features") == "disk":
            macro = plan["macro"]
            method = macro.get("partitioner", "random")
            parted = store.with_name(f"{store.name}-{method}-{macro['partitions']}")
            if not parted.exists():
                subprocess.run([options.build / "bin/gnomon", "partition", store, "--parts", str(macro["partitions"]), "--method",
                                method, "--store", parted], check=True, stdout=subprocess.DEVNULL)
            rows += compare(options, parted, "cpu", [path.stem])[0]
    return rows


def rows_of(kind, presets, why_not):
    """One row for each preset, sorted by name."""
    if presets is None:
        names = sorted(path.stem for path in (ROOT / "plan/presets").glob("*.json"))
        presets = [{"preset": name, "runs": False, "why_not": why_not} for name in names]
    rows = [{"device": kind, **{column: row.get(column) for column in COLUMNS}, "accuracy": row.get("test_accuracy")}
            for row in presets]
    return sorted(rows, key=lambda row: row["preset"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--emulated", default="emulated:aws-g5.2xlarge")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/every_plan.json")
    options = parser.parse_args()
    store = make_store(options)
    rows = []
    for kind, device in (("host", "cpu"), ("emulated", options.emulated), ("cuda", "gpu")):
        presets, why_not = compare(options, store, device)
        if kind == "host":
            parted = by_parts(options, store)
            names = {row["preset"] for row in parted}
            presets = [row for row in presets if row["preset"] not in names] + parted
        rows += rows_of(kind, presets, why_not)
    document = {"schema": "gnomon.every_plan/1", **origin(), "notes": __doc__.strip(), "emulated": options.emulated,
                "graph": GRAPH, "job": JOB, "epochs": options.epochs, "rows": rows}
    write_record(options.output, document)


main()
