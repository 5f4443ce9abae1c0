#!/usr/bin/env python3
"""Compares predicted with measured epochs of many plans on emulated devices: caches of every policy and several budgets, data
in either memory, routes, and links of several speeds, on three graphs. Writes bench/results/compare_plans.json.

    bench/compare_plans.py [--build build/release] [--data ../shared/data] [--graphs planted,slashdot,amazon_photo]
        [--cycles 1] [--time-limit 30] [--output FILE]

Each graph is profiled on each device, then all plans alternate in `gnomon validate`; this is repeated --cycles times, so that a
machine whose speed changes within minutes is measured as often as it is predicted. `predicted_s` is the median of the cycles'
predictions, `measured_s` that of all epochs. `in_one_cycle` summarises the errors of single cycles, each with its own profile. An
emulated device computes on the host's cores: each worker and each thread of the device has a core of its own (one of each on two
cores), so that cores are not oversubscribed. Rows hold seconds; nothing is fitted.
"""

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import FILES, gnomon, origin, write_record  # noqa: E402

GRAPHS = {
    "planted": {
        "make": ["generate", "sbm", "--vertices", "60000", "--average-degree", "15", "--classes", "8"],
        "job": ["--fanouts", "10,5", "--batch-size", "512", "--hidden", "64"],
    },
    "slashdot": {
        "make": ["import", "edges", FILES["slashdot"], "--undirected", "--random-features", "128", "--random-classes", "8"],
        "job": ["--fanouts", "10,5", "--batch-size", "512", "--hidden", "64"],
    },
    "amazon_photo": {
        "make": ["import", "npz", "amazon_photo.npz", "--undirected"],
        "job": ["--fanouts", "5,5", "--batch-size", "512", "--hidden", "64"],
    },
}
# Memory and link.
DEVICES = {
    "slow link": ["--device-memory", "2GB", "--link", "0.5GB/s", "--link-latency", "2us"],
    "fast link": ["--device-memory", "2GB", "--link", "4GB/s"],
}
SEQUENTIAL = {"schedule": "sequential", "route": "device", "device_threads": 1}


def cached(policy, budget, **kinds):
    return {**SEQUENTIAL, "cache": {"policy": policy, "budget": budget, **kinds}}


PLANS = {
    "uva": SEQUENTIAL,
    "uva, unaligned": {**SEQUENTIAL, "unaligned_reads": True},
    "uva, fused": {**SEQUENTIAL, "fused": True},
    "topology on the device": {**SEQUENTIAL, "topology": "device"},
    "features on the device": {**SEQUENTIAL, "features": "device"},
    "all on the device": {**SEQUENTIAL, "topology": "device", "features": "device"},
    "random 0.5 %": cached("random", 0.005),
    "out-degree 0.2 %": cached("out_degree", 0.002),
    "out-degree 0.5 %": cached("out_degree", 0.005),
    "presample 0.2 %": cached("presample", 0.002),
    "presample 0.5 %": cached("presample", 0.005),
    "presample 0.5 %, both": cached("presample", 0.005, topology=True),
    "ducati 0.2 %": cached("value_weight", 0.002, topology=True),
    "ducati 0.5 %": cached("value_weight", 0.005, topology=True),
    "factored": {"schedule": "factored", "route": "device", "gather": "trainer", "order": "index", "device_threads": 1,
                 "topology": "device", "cache": {"policy": "presample", "budget": 0.005}},
    "beside training": {"schedule": "pipelined", "route": "device", "device_buffer": 1, "prepare_share": 0.5, "device_threads": 1},
    "cpu, sequential": {"schedule": "sequential", "route": "cpu", "device_threads": 1},
    "cpu, pipelined": {"schedule": "pipelined", "route": "cpu", "workers": 1, "cpu_buffer": 4, "device_threads": 1},
    "pagraph 0.5 %": {"schedule": "pipelined", "route": "cpu", "gather": "trainer", "workers": 1, "device_threads": 1,
                      "cache": {"policy": "out_degree", "budget": 0.005}},
    "claim ahead": {"schedule": "claim_ahead", "route": "both", "workers": 1, "device_threads": 1, "device_buffer": 8},
    "dual buffer": {"schedule": "dual_buffer", "route": "both", "order": "as_ready", "workers": 1, "device_threads": 1,
                    "cpu_buffer": 5, "device_buffer": 10},
    "mixed": {"schedule": "mixed", "route": "both", "order": "as_ready", "workers": 1, "device_threads": 1},
    "claim ahead, out-degree 0.5 %": {"schedule": "claim_ahead", "route": "both", "workers": 1, "device_threads": 1, "device_buffer": 8,
                                      "cache": {"policy": "out_degree", "budget": 0.005}},
    "mixed, ducati 0.5 %": {"schedule": "mixed", "route": "both", "order": "as_ready", "workers": 1, "device_threads": 1,
                            "cache": {"policy": "value_weight", "budget": 0.005, "topology": True}},
}


def make_store(options, name):
    store = ROOT / "build/compare_plans" / name
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        command, kind, *rest = GRAPHS[name]["make"]
        if command == "import":
            gnomon(options, command, kind, options.data / rest[0], store, *rest[1:])
        else:
            gnomon(options, command, kind, store, *rest)
    return store


def write_plans(directory):
    for number, (name, plan) in enumerate(PLANS.items()):
        file = Path(directory) / f"{number}.json"
        file.write_text(json.dumps({"schema": "gnomon.plan/1", "name": name, **plan}))
        yield str(file)


def measure(options, graph, device):
    store, job = make_store(options, graph), GRAPHS[graph]["job"]
    flags = ["--device", "emulated", *DEVICES[device]]
    profile = store.with_suffix(f".{device.replace(' ', '_')}.json")
    cycles = []
    with tempfile.TemporaryDirectory() as directory:
        plans = ",".join(write_plans(directory))
        for _ in range(options.cycles):
            gnomon(options, "profile", "--all", store, *job, *flags, "--time-limit", options.time_limit, "-o", profile)
            text = gnomon(options, "validate", store, profile, *flags, "--plans", plans, "--json")
            cycles.append(json.loads(text)["plans"])
    return [row_of(graph, device, of_plan) for of_plan in zip(*cycles)]


def row_of(graph, device, cycles):
    """One plan; `cycles` are its results of each `gnomon validate`."""
    epochs = [second for cycle in cycles for second in cycle["epochs_s"]]
    return {"graph": graph, "device": device, "plan": cycles[0]["plan"]["name"],
            "predicted_s": statistics.median(cycle["predicted_s"] for cycle in cycles), "measured_s": statistics.median(epochs),
            "epochs": len(epochs), "cycles": [[cycle["predicted_s"], cycle["measured_s"]] for cycle in cycles]}


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [rank for _, rank in sorted(zip(order, range(len(values))))]


def error_summary(pairs):
    """Of pairs of predicted and measured seconds."""
    errors = sorted(abs(predicted / measured - 1) for predicted, measured in pairs)
    return {"median_error": statistics.median(errors), "p90_error": errors[int(0.9 * (len(errors) - 1))]}


def summary(rows):
    predicted, measured = ([row[key] for row in rows] for key in ("predicted_s", "measured_s"))
    return {**error_summary(zip(predicted, measured)), "spearman": statistics.correlation(ranks(predicted), ranks(measured)),
            "in_one_cycle": error_summary([pair for row in rows for pair in row["cycles"]])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=list(GRAPHS))
    parser.add_argument("--cycles", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=30)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_plans.json")
    options = parser.parse_args()
    rows = []
    for graph in options.graphs:
        for device in DEVICES:
            rows += measure(options, graph, device)
            print(json.dumps(summary(rows)), file=sys.stderr)
            document = {"schema": "gnomon.compare_plans/1", **origin(), "notes": __doc__.strip(), "devices": DEVICES,
                        "plans": PLANS, **summary(rows), "rows": rows}
            write_record(options.output, document)


main()
