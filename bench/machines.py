#!/usr/bin/env python3
"""Predicts jobs on one machine from their profiles on another, and compares with what is measured there: the times of stages
and the epochs of plans. Writes bench/results/machines.json, and each machine's document and profiles to bench/results/machines.

    bench/machines.py [--build build/release] [--data ../shared/data] [--machines two_cores,one_core] [--jobs tolokers,rmat17]
        [--plans device,gnomon,salient,pyg,dgl] [--time-limit 12] [--repeats 3] [--output FILE]

There was one kind of machine, so the others are the same one, restricted: to one core (taskset); beside a process that copies
memory on one of its cores without end; and without huge pages (prctl PR_SET_THP_DISABLE). Each is measured by `gnomon machine`,
and each job profiled there, under the same restriction. Rows hold seconds of a mini-batch's stage or of an epoch; `predicted_s`
is the time by the profile and the machine's document of `from` and the machine's document of `to` (`gnomon explore --from
--machine`); `measured_s` is the stage's time in the profile of `to`, or the epoch that `gnomon validate` trained there;
`kept_s` is the time on `from`, the prediction of who does not move it. `interval` is the half width of the predicted 95 %
confidence interval over the prediction. Machines take turns for several rounds; rows are medians of the rounds. Nothing is
fitted to the jobs.
"""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import origin, write_record  # noqa: E402

SAGE = ["--model", "sage", "--fanouts", "10,10", "--hidden", "64"]
JOBS = {
    "tolokers": (["import", "npz", "{data}/tolokers.npz", "{store}", "--undirected"], SAGE),
    "coauthor_cs": (["import", "npz", "{data}/coauthor_cs.npz", "{store}", "--undirected"], SAGE),
    "rmat17": (
        ["generate", "rmat", "{store}", "--scale", "17", "--edge-factor", "8", "--feature-columns", "128"],
        ["--model", "gcn", "--fanouts", "15,10,5", "--hidden", "128"],
    ),
    "amazon_cs": (["import", "npz", "{data}/amazon_cs.npz", "{store}", "--undirected"], ["--model", "gcn", "--fanouts", "10,10", "--hidden", "128"]),
    "planted": (
        ["generate", "sbm", "{store}", "--vertices", "100000", "--classes", "8"],
        ["--model", "gat", "--fanouts", "5,5", "--hidden", "64"],
    ),
}
STAGES = ["cpu_batch", "device_batch", "train"]
COPIES = "b=bytearray(1<<26)\nwhile True: bytes(b)"


def without_huge_pages():
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE, which children inherit


@contextmanager
def nothing():
    yield


@contextmanager
def copies_on_a_core():
    core = str(max(os.sched_getaffinity(0)))
    process = subprocess.Popen(["taskset", "-c", core, sys.executable, "-c", COPIES])
    try:
        yield
    finally:
        process.kill()
        process.wait()


# What comes before a command, what its process does first, and what runs beside it.
MACHINES = {
    "two_cores": ([], None, nothing),
    "one_core": (["taskset", "-c", "0"], None, nothing),
    "beside_copies": ([], None, copies_on_a_core),
    "small_pages": ([], without_huge_pages, nothing),
}


def run(options, machine, *arguments):
    prefix, first, _ = MACHINES[machine]
    command = [*prefix, options.build / "bin/gnomon", *arguments]
    done = subprocess.run([str(word) for word in command], preexec_fn=first, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}")
    return done.stdout


def make_store(options, job):
    store = options.work / job
    if not store.exists():
        run(options, "two_cores", *[word.format(data=options.data, store=store) for word in JOBS[job][0]])
    return store


def measure(options, machine, number):
    """Writes the machine's document and its jobs' profiles, and returns what was measured by job."""
    measured = {}
    with MACHINES[machine][2]():
        place = options.work / f"{machine}-{number}"
        place.mkdir(exist_ok=True)
        run(options, machine, "machine", "-o", place / "machine.json", "--name", machine, "--device", "cpu", "--time-limit", options.machine_limit)
        for job in options.jobs:
            store, profile = make_store(options, job), place / f"{job}.json"
            run(options, machine, "profile", store, *JOBS[job][1], "--time-limit", options.time_limit, "-o", profile)
            workload = json.loads(profile.read_text())["workload"]
            plans = json.loads(run(options, machine, "validate", store, profile, "--plans", options.plans, "--json"))["plans"]
            measured[job] = {stage: workload[stage]["mean_s"] for stage in STAGES}
            measured[job] |= {f"epoch {plan['plan']['name']}": plan["measured_s"] for plan in plans}
            measured[job]["own"] = {f"epoch {plan['plan']['name']}": plan["predicted_s"] for plan in plans}
            print(machine, number, job, json.dumps(measured[job]), file=sys.stderr)
    return measured


def predict(options, source, target, number, job):
    """Predicted seconds and relative intervals of stages and epochs."""
    place = options.work / f"{source}-{number}"
    other = options.work / f"{target}-{number}/machine.json"
    text = run(options, "two_cores", "explore", place / f"{job}.json", "--from", place / "machine.json", "--machine", other, "--plan", options.plans, "--json")
    document = json.loads(text)
    times = json.loads((place / f"{job}.json").read_text())["workload"]
    predicted = {}
    for stage in document["moved"][0]["stages"]:
        if stage["stage"] in STAGES:
            predicted[stage["stage"]] = (times[stage["stage"]]["mean_s"] * (stage["factor"] or 1), stage["interval"])
    for row in document["rows"]:
        if row["epoch_s"] is not None:
            predicted[f"epoch {row['plan']}"] = (row["epoch_s"], (row["interval_s"] or 0) / row["epoch_s"])
    return predicted


def rows_of(options, rounds, source, target, job):
    predictions = [predict(options, source, target, number, job) for number in range(options.repeats)]
    rows = []
    for stage in predictions[0]:
        measured = [one[target][job][stage] for one in rounds if stage in one[target][job]]
        if measured:
            rows.append({"from": source, "to": target, "job": job, "stage": stage,
                         "predicted_s": statistics.median(one[stage][0] for one in predictions),
                         "measured_s": statistics.median(measured),
                         "kept_s": statistics.median(one[source][job][stage] for one in rounds if stage in one[source][job]),
                         "interval": statistics.median(one[stage][1] or 0 for one in predictions)})  # fmt: skip
            own = [one[target][job]["own"].get(stage) for one in rounds]
            if own[0] is not None:
                rows[-1]["own_predicted_s"] = statistics.median(own)
    return rows


def error(row, key="predicted_s"):
    return abs(row[key] / row["measured_s"] - 1)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(i) for i in range(len(values))]


def spearman(rows):
    """Of the predicted and the measured order of plans of one job on one machine."""
    a, b = ranks([row["predicted_s"] for row in rows]), ranks([row["measured_s"] for row in rows])
    count = len(rows)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(a, b)) / (count * (count**2 - 1))


def summary(rows):
    stages = [row for row in rows if not row["stage"].startswith("epoch")]
    epochs = [row for row in rows if row["stage"].startswith("epoch")]
    groups = {}
    for row in epochs:
        groups.setdefault((row["from"], row["to"], row["job"]), []).append(row)
    orders = [spearman(group) for group in groups.values() if len(group) > 2]

    def within(some):
        return sum(error(row) * row["measured_s"] <= row["interval"] * row["predicted_s"] for row in some) / len(some)

    return {
        "stages_median_error": statistics.median(map(error, stages)),
        "epochs_median_error": statistics.median(map(error, epochs)),
        "stages_median_error_if_kept": statistics.median(error(row, "kept_s") for row in stages),
        "epochs_median_error_if_kept": statistics.median(error(row, "kept_s") for row in epochs),
        "epochs_median_error_of_own_profiles": statistics.median(error(row, "own_predicted_s") for row in epochs if "own_predicted_s" in row),
        "stages_within_interval": within(stages),
        "epochs_within_interval": within(epochs),
        "spearman_median": statistics.median(orders) if orders else None,
        "spearman_min": min(orders) if orders else None,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--work", type=Path, default=ROOT / "build/machines")
    parser.add_argument("--machines", type=lambda text: text.split(","), default=list(MACHINES))
    parser.add_argument("--jobs", type=lambda text: text.split(","), default=list(JOBS))
    parser.add_argument("--plans", default="device,gnomon,salient,pyg,dgl")
    parser.add_argument("--time-limit", default="12")
    parser.add_argument("--machine-limit", default="30")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", action="store_true", help="use what an earlier run measured in --work")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/machines.json")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    cache = options.work / "measured.json"
    if options.keep:
        rounds = json.loads(cache.read_text())
        options.repeats = len(rounds)
    else:
        rounds = [{machine: measure(options, machine, number) for machine in options.machines} for number in range(options.repeats)]
        cache.write_text(json.dumps(rounds))
    rows = []
    for source in options.machines:
        for target in options.machines:
            for job in options.jobs if source != target else []:
                rows += rows_of(options, rounds, source, target, job)
    document = {"schema": "gnomon.machines/1", **origin(), "notes": __doc__.strip(), "rounds": len(rounds), **summary(rows), "rows": rows}
    write_record(options.output, document)
    kept = options.output.parent / "machines"
    for machine in options.machines:
        (kept / machine).mkdir(parents=True, exist_ok=True)
        for name in ["machine", *options.jobs]:
            text = (options.work / f"{machine}-0" / f"{name}.json").read_text()
            (kept / machine / f"{name}.json").write_text(text)
    print(json.dumps(summary(rows), indent=1))


main()
