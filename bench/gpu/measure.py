#!/usr/bin/env python3
"""Turns what a GPU does into rows of bench/results/gpu.json, adding to those that are there, one after the other.

    bench/gpu/measure.py kernels --bench bench_gpu.json --output gpu.json
    bench/gpu/measure.py launches --gnomon build/gpu/bin/gnomon --store STORE --counted launches.json --output gpu.json
    bench/gpu/measure.py epochs --gnomon build/gpu/bin/gnomon --store STORE [--device gpu] [--memory 1,0.5] [--seconds 460]
        [--epoch-seconds 100] --output gpu.json

kernels: gathering rows beside copies, and sampling, from the output of bench_gpu. launches: kernels, copies and fills that the
host starts for a mini-batch, and its waits, by Nsight Systems beside what tests/launches counts; without Nsight Systems the
latter alone; each without and with recorded steps (plan field "graphs"). epochs: every preset that runs, with shares of the memory
that the graph, its features and half a GiB take, and the fastest one that goes with recorded steps; then the plan of `gnomon
autotune` beside the best of them, and predictions beside measurements. An epoch is the second one of a process that evaluates
nothing; with recorded steps the third, as they are recorded in the second. "of" is what "value" is measured against, "ratio" their
quotient.
"""

import argparse
import csv
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

# In the kit beside this program, else in the sources.
PRESETS = next(path for path in [Path(__file__).parent / "presets", Path(__file__).resolve().parents[2] / "plan/presets"] if path.exists())
BATCH_SIZE = 1024
JOB = ["--fanouts", "15,10,5", "--hidden", "256", "--batch-size", str(BATCH_SIZE)]


class Rows:
    """The rows of the record, which is written anew with each of them."""

    def __init__(self, path):
        self.path = path
        self.document = json.loads(path.read_text()) if path.exists() else {
            "schema": "gnomon.gpu/1", "device": self.device(), "rows": []}

    @staticmethod
    def device():
        try:
            return subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        except OSError:
            return "emulated"

    def add(self, what, value, of=None, row_bytes=0, **more):
        ratio = value / of if of else None
        self.document["rows"].append({"what": what, "row_bytes": row_bytes, "value": value, "of": of, "ratio": ratio, **more})
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.document, indent=1) + "\n")
        temporary.replace(self.path)


def kernels(options, rows):
    if not options.bench.exists():
        print(f"{options.bench} is not there: no rows of kernels", file=sys.stderr)
        return
    measured = {}
    for row in json.loads(options.bench.read_text())["benchmarks"]:
        if row.get("error_occurred"):
            sys.exit(row["error_message"])
        if row.get("aggregate_name") == "median":
            measured[row["run_name"].removesuffix("/real_time")] = row.get("bytes_per_second") or row["edges_per_s"]
    for name, value in measured.items():
        kind, *arguments = name.split("/")
        arguments = dict(argument.split(":") for argument in arguments)
        if kind == "gather":
            over_link = arguments["over_link"] == "1"
            what = "zero_copy_gather" if over_link else "cached_gather"
            what += "" if arguments["shifted"] == "1" else "_straight"
            what += "" if arguments["share"] == "100" else f"_share_{arguments['share']}"
            rows.add(what, value, measured["copy_to_device" if over_link else "copy_within_device"], int(arguments["row_bytes"]))
        elif kind == "sample":
            what = "device_sampling_edges_per_s" if arguments["over_link"] == "0" else "zero_copy_sampling_edges_per_s"
            rows.add(what, value, 1e9, scale=arguments["scale"], batch=arguments["batch"])
        else:
            rows.add(kind, value)


def counted_launches(options, graphs):
    """Launches and waits that tests/launches has counted for GraphSAGE with three layers."""
    suites = json.loads(options.counted.read_text())["testsuites"]
    case = next(case for suite in suites for case in suite["testsuite"] if case.get("value_param") == "3")
    return int(case["preparing"]) + int(case["recorded" if graphs else "training"]), int(case["waits"])


CALLS = {"launches": re.compile(r"(cudaLaunch|cuLaunch|cudaGraphLaunch|cudaMemcpy\w*Async|cudaMemset\w*Async)"),
         "waits": re.compile(r"(cudaStreamSynchronize|cudaDeviceSynchronize|cudaEventSynchronize|cudaMemcpy(_v\d+)?$)")}


def plan_file(options, preset, graphs):
    """A preset, or a file of it with recorded steps."""
    if not graphs:
        return preset
    path = options.output.parent / f"{preset}-graphs.json"
    plan = json.loads((PRESETS / f"{preset}.json").read_text()) | {"name": path.stem, "graphs": True}
    path.write_text(json.dumps(plan, indent=1) + "\n")
    return path


def calls_of_run(options, epochs, plan):
    """Calls of CUDA's of a training, by kind."""
    report = options.output.parent / f"launches_{epochs}"
    train = [options.gnomon, "train", options.store, *JOB, "--epochs", epochs, "--evaluate-every", "never", "--device", options.device,
             "--plan", plan]
    subprocess.run(["nsys", "profile", "-t", "cuda", "--force-overwrite", "true", "-o", report, *map(str, train)],
                   stdout=subprocess.DEVNULL, check=True)
    table = subprocess.run(["nsys", "stats", "-r", "cuda_api_sum", "--format", "csv", f"{report}.nsys-rep"], stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    rows = list(csv.DictReader(table[table.index("Time (%)"):].splitlines()))
    return {kind: sum(int(row["Num Calls"]) for row in rows if pattern.match(row["Name"])) for kind, pattern in CALLS.items()}


def launches(options, rows):
    for graphs in (False, True):
        counted, waits = counted_launches(options, graphs)
        if shutil.which("nsys") is None:
            rows.add("launches_per_batch", counted, source="counted", graphs=graphs, waits=waits)
            continue
        plan = plan_file(options, "device", graphs)
        batches = -(-gnomon(options, "info", options.store)["train"] // BATCH_SIZE)
        less, more = calls_of_run(options, 2, plan), calls_of_run(options, 4, plan)
        per_batch = {kind: (more[kind] - less[kind]) / (2 * batches) for kind in CALLS}
        rows.add("launches_per_batch", per_batch["launches"], counted, source="nsys", graphs=graphs, waits=per_batch["waits"],
                 counted_waits=waits)


def gnomon(options, *arguments, seconds=None):
    """The JSON that a command prints; nothing when it refuses its input, the memory does not suffice, or it takes longer."""
    command = [str(options.gnomon), *map(str, arguments), "--json"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command)}: not done after {seconds:.0f} s", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def fresh(directory):
    shutil.rmtree(directory, ignore_errors=True)
    return directory


def epoch_s(options, device, plan, epochs=2):
    """The last of so many epochs; nothing if the device does not execute the plan."""
    done = gnomon(options, "train", options.store, *JOB, "--epochs", epochs, "--evaluate-every", "never", *device, "--plan", plan,
                  "--run", fresh(options.work / "run"), seconds=options.epoch_seconds)
    return done["epochs"][-1]["epoch_s"] if done else None


def epochs_with(options, rows, share, memory):
    """Every preset that runs with so much memory, then the plan of autotune, and how well plans are predicted."""
    device = ["--device", options.device, "--device-memory", memory]
    measured = {}
    for plan in sorted(path.stem for path in PRESETS.glob("*.json")):
        if options.is_over():
            break
        if (value := epoch_s(options, device, plan)) is not None:
            measured[plan] = value
            rows.add("preset_epoch", value, min(measured.values()), plan=plan, memory=share)
    for plan in sorted(measured, key=measured.get):  # the fastest that goes with recorded steps
        if options.is_over():
            break
        if (value := epoch_s(options, device, plan_file(options, plan, graphs=True), epochs=3)) is not None:
            rows.add("graphs_epoch", value, measured[plan], plan=plan, memory=share)
            break
    tuned = fresh(options.work / "tuned")
    autotune = ["autotune", options.store, *JOB, "--epochs", 2, *device, "--run", tuned]
    if measured and not options.is_over() and gnomon(options, *autotune, seconds=options.left()):
        best = min(measured, key=measured.get)
        if value := epoch_s(options, device, tuned / "plan.json"):
            rows.add("autotune_vs_best", value, measured[best], best=best, memory=share)
    profile = options.work / "profile.json"
    if not options.is_over() and gnomon(options, "profile", options.store, *JOB, *device, "-o", profile, seconds=options.left()):
        for row in (gnomon(options, "validate", options.store, profile, *device, seconds=options.left()) or {}).get("plans", []):
            rows.add("predicted_vs_measured", row["predicted_s"], row["measured_s"], plan=row["plan"]["name"], memory=share)


def epochs(options, rows):
    end = time.monotonic() + options.seconds
    options.is_over = lambda: time.monotonic() > end
    options.left = lambda: max(1, end - time.monotonic())
    options.work = options.output.parent / "work"
    options.work.mkdir(parents=True, exist_ok=True)
    needed = sum(file.stat().st_size for file in options.store.glob("*.npy")) + (512 << 20)
    for share in map(float, options.memory.split(",")):
        epochs_with(options, rows, share, int(share * needed))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kernels", "launches", "epochs"])
    parser.add_argument("--bench", type=Path)
    parser.add_argument("--counted", type=Path, help="the JSON of tests/launches")
    parser.add_argument("--gnomon", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--memory", default="1,0.5")
    parser.add_argument("--epoch-seconds", type=float, default=100, help="after which a training is given up")
    parser.add_argument("--seconds", type=float, default=460, help="after which no further row is begun")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    {"kernels": kernels, "launches": launches, "epochs": epochs}[options.what](options, Rows(options.output))


if __name__ == "__main__":
    main()
