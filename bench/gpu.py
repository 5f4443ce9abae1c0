#!/usr/bin/env python3
"""Measures gnomon on a GPU: gathering rows compared with copies, sampling, epochs of every runnable preset with decreasing
amounts of device memory, and the plan of `gnomon autotune` compared with the best preset. Writes bench/results/gpu.json.

    bench/gpu.py [--build build/release] [--scale 20] [--memory 1,0.5,0.25] [--rounds 3] [--output FILE]

`--memory`: the device memory for training, as shares of what the graph, its features and half a GiB take. Each epoch is
the second one of a new process. "of" is what "value" is measured against, "ratio" their quotient.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOB = ["--fanouts", "15,10,5", "--hidden", "256"]


def kernels(options):
    """Medians of Google Benchmark's rows by name: bytes or edges a second."""
    command = [options.build / "bench/bench_gpu", "--benchmark_format=json", "--benchmark_repetitions=3"]
    done = subprocess.run([*map(str, command)], check=True, stdout=subprocess.PIPE, text=True)
    rows = {}
    for row in json.loads(done.stdout)["benchmarks"]:
        if row.get("error_occurred"):
            sys.exit(row["error_message"])
        if row.get("aggregate_name") == "median":
            rows[row["run_name"].removesuffix("/real_time")] = row.get("bytes_per_second") or row["edges_per_s"]
    return rows


def kernel_rows(measured):
    rows = []

    def add(what, row_bytes, value, of):
        rows.append({"what": what, "row_bytes": row_bytes, "value": value, "of": of, "ratio": value / of if of else None})

    for name, value in measured.items():
        kind, *arguments = name.split("/")
        arguments = dict(argument.split(":") for argument in arguments)
        if kind == "gather":
            over_link = arguments["over_link"] == "1"
            what = "zero_copy_gather" if over_link else "cached_gather"
            what += "" if arguments["shifted"] == "1" else "_straight"
            what += "" if arguments["share"] == "100" else f"_share_{arguments['share']}"
            add(what, int(arguments["row_bytes"]), value, measured["copy_to_device" if over_link else "copy_within_device"])
        elif kind == "sample":
            what = "device_sampling_edges_per_s" if arguments["over_link"] == "0" else "zero_copy_sampling_edges_per_s"
            add(f"{what}_2^{arguments['scale']}_batch_{arguments['batch']}", 0, value, 1e9)
    return rows


def gnomon(options, *arguments):
    """The JSON that a command prints; nothing when it refuses its input or the memory does not suffice."""
    command = [str(options.build / "bin/gnomon"), *map(str, arguments), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def fresh(directory):
    shutil.rmtree(directory, ignore_errors=True)
    return directory


def epoch_s(options, store, plan, memory):
    done = gnomon(options, "train", store, *JOB, "--epochs", 2, "--device", "gpu", "--device-memory", memory, "--plan", plan,
                  "--run", fresh(store.with_suffix(".run")))
    return done["epochs"][1]["epoch_s"] if done else None


def epoch_rows(options, store, share, memory):
    """Every preset that runs with so much memory, the plan of autotune, and how well each was predicted."""
    profile = store.with_suffix(".profile.json")
    device = ["--device", "gpu", "--device-memory", memory]
    if gnomon(options, "profile", store, *JOB, *device, "-o", profile) is None:
        return []
    tuned = fresh(store.with_suffix(".tuned"))
    gnomon(options, "autotune", store, *JOB, "--epochs", 2, *device, "--run", tuned)
    presets = sorted(path.stem for path in (ROOT / "plan/presets").glob("*.json"))
    plans = {plan: plan for plan in presets} | {"autotuned": tuned / "plan.json"}
    measured = {plan: [epoch_s(options, store, file, memory)] for plan, file in plans.items()}
    for _ in range(options.rounds - 1):
        for plan in plans:
            if measured[plan][0] is not None:
                measured[plan].append(epoch_s(options, store, plans[plan], memory))
    seconds = {plan: statistics.median(values) for plan, values in measured.items() if None not in values}
    best = min((plan for plan in seconds if plan != "autotuned"), key=seconds.get)
    rows = [{"what": f"epoch_s_{plan}_memory_{share}", "row_bytes": 0, "value": value, "of": seconds[best],
             "ratio": value / seconds[best]} for plan, value in seconds.items() if plan != "autotuned"]
    if "autotuned" in seconds:
        rows.append({"what": "autotune_vs_best", "memory": share, "best": best, "row_bytes": 0, "value": seconds["autotuned"],
                     "of": seconds[best], "ratio": seconds["autotuned"] / seconds[best]})
    validation = gnomon(options, "validate", store, profile, *device)
    for row in (validation or {}).get("plans", []):
        rows.append({"what": "predicted_vs_measured", "memory": share, "plan": row["plan"]["name"], "row_bytes": 0,
                     "value": row["predicted_s"], "of": row["measured_s"], "ratio": row["predicted_s"] / row["measured_s"]})
    return rows


def make_store(options):
    store = ROOT / f"build/gpu/rmat{options.scale}"
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([options.build / "bin/gnomon", "generate", "rmat", store, "--scale", str(options.scale),
                        "--train-share", "0.1", "--valid-share", "0.001"], check=True, stdout=subprocess.DEVNULL)
    return store


def write(options, device, rows):
    document = {"schema": "gnomon.gpu/1", "device": device, "command": " ".join(sys.argv), "rows": rows}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    temporary = options.output.with_suffix(".tmp")
    temporary.write_text(json.dumps(document, indent=1) + "\n")
    temporary.replace(options.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--memory", type=lambda text: [float(share) for share in text.split(",")], default=[1, 0.5, 0.25])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/gpu.json")
    options = parser.parse_args()
    device = subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    rows = kernel_rows(kernels(options))
    write(options, device, rows)
    store = make_store(options)
    needed = sum(file.stat().st_size for file in store.glob("*.npy")) + (512 << 20)
    for share in options.memory:
        rows += epoch_rows(options, store, share, int(share * needed))
        write(options, device, rows)


main()
