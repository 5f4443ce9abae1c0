#!/usr/bin/env python3
"""Trains while another process starts in the middle, with and without `--replan`. Writes bench/results/replanning.json.

    bench/replanning.py [--build build/release] [--loads compute,memory,core] [--vertices 100000] [--epochs 40] [--begin 8]
        [--repeats 3] [--output FILE]

The plan is what `gnomon tune` finds for the profile of the idle machine. The loads, on the machine's last core: a process that
computes ("compute"); one that copies memory ("memory"); one with real-time priority that leaves only 5 % of the core to others
("core": a lost core). They run from `begin` seconds after the command's start until its end. Runs with and without `--replan`
alternate. `training_s` is the sum of the epochs; `alone_s` is that of a run on the idle machine; `comparisons` is the run's
replanning.json. All weights must have the same bits.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import gnomon, origin, write_record  # noqa: E402

JOB = ["--fanouts", "10,10", "--hidden", "64"]
LAST_CORE = str(max(os.sched_getaffinity(0)))
SPIN = "while True: pass"
COPIES = "b = bytearray(1 << 26)\nwhile True: bytes(b)"
LOADS = {
    "compute": ["taskset", "-c", LAST_CORE, sys.executable, "-c", SPIN],
    "memory": ["taskset", "-c", LAST_CORE, sys.executable, "-c", COPIES],
    "core": ["chrt", "-f", "10", "taskset", "-c", LAST_CORE, sys.executable, "-c", SPIN],
}


@contextmanager
def beside(load, begin_s):
    """The load, from that many seconds on."""
    processes = []
    timer = threading.Timer(begin_s, lambda: processes.append(subprocess.Popen(LOADS[load])))
    if load:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        for process in processes:
            process.kill()
            process.wait()


def train(options, load, replan):
    arguments = ["train", options.work / "graph", *JOB, "--epochs", options.epochs, "--plan", options.work / "plan.json"]
    arguments += ["--evaluate-every", "never", "--run", options.work / "run", "--overwrite", "--json"]
    arguments += ["--replan", options.work / "profile.json"] if replan else []
    with beside(load, options.begin):
        document = json.loads(gnomon(options, *arguments))
    row = {
        "training_s": sum(epoch["epoch_s"] for epoch in document["epochs"]),
        "weights_hash": document["weights_hash"],
        "comparisons": document.get("replanning", {}).get("comparisons", []),
    }
    print(load, replan, json.dumps(row), file=sys.stderr)
    return row


def row_of(load, runs, alone_s):
    plain, replanned = [[run["training_s"] for run in runs[replan]] for replan in (False, True)]
    return {
        "load": load,
        "alone_s": alone_s,
        "training_s": statistics.median(plain),
        "replanned_s": statistics.median(replanned),
        "ratios": [a / b for a, b in zip(replanned, plain)],
        "comparisons": [run["comparisons"] for run in runs[True]],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--work", type=Path, default=ROOT / "build/replanning")
    parser.add_argument("--loads", type=lambda text: text.split(","), default=list(LOADS))
    parser.add_argument("--vertices", type=int, default=100000)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--begin", type=float, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/replanning.json")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if not (options.work / "graph").exists():
        gnomon(options, "generate", "sbm", options.work / "graph", "--vertices", options.vertices, "--classes", 8)
    gnomon(options, "profile", options.work / "graph", "-o", options.work / "profile.json", *JOB)
    gnomon(options, "tune", options.work / "profile.json", "-o", options.work / "plan.json")
    plan = json.loads((options.work / "plan.json").read_text())
    alone = [train(options, None, replan) for _ in range(options.repeats) for replan in (False, True)]
    rows, hashes = [row_of(None, {False: alone[::2], True: alone[1::2]}, statistics.median(run["training_s"] for run in alone[::2]))], []
    for load in options.loads:
        runs = {False: [], True: []}
        for _ in range(options.repeats):
            for replan in (False, True):
                runs[replan].append(train(options, load, replan))
        rows.append(row_of(load, runs, rows[0]["alone_s"]))
        hashes += [run["weights_hash"] for run in runs[False] + runs[True]]
    if len({run["weights_hash"] for run in alone} | set(hashes)) != 1:
        raise SystemExit("the weights differ")
    document = {"schema": "gnomon.replanning_record/1", **origin(), "notes": __doc__.strip(), "plan": plan, "epochs": options.epochs,
                "begin_s": options.begin, "weights_hash": alone[0]["weights_hash"], "rows": rows}  # fmt: skip
    write_record(options.output, document)


main()
