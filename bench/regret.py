#!/usr/bin/env python3
"""Measures the regret of the plan that `gnomon autotune` chooses by default: its epoch time relative to the fastest known plan of
the same exactness, minus 1. Known plans are all presets that run on the device and are exact (level "order" or "bits"), and the
plans that the following ways choose. Writes bench/results/regret.json, one row for each case (graph, model and device).

    bench/regret.py [--build build/release] [--data ../shared/data] [--cases cora "gat emulated"] [--baseline PROGRAM]
        [--full-limit 20] [--epochs 20] [--output FILE] [--list]

regret: `gnomon autotune` with default settings; regret_baseline: the same by another build's program; regret_random: with
`--measure-order random`; regret_full: `gnomon profile --all` within --full-limit seconds, then `gnomon tune`; regret_predicted: the
plan that autotune predicts to be the best before it verifies plans by real runs. A way that the program does not support has no
regret. A case that fails has "failed" and the regret null, and counts as not within 2 %; "failures" are those of other ways. A case whose
device has too little memory for any plan ("nothing_trains") does not count.

All plans of a case are run in turns in one process of `gnomon validate`: 6 rounds, or as many as take a second with the chosen plan,
but at most 20 (8 on emulated devices, where the warm-up of a round takes several epochs). A round of short epochs repeats them for
0.05 seconds. Identical plans are run once. Presets whose predicted epoch is more than twice the fastest prediction are left out. A
ratio is within a round. Because the luckiest of several equal plans seems faster than it is, the rounds of even and of odd number
are separate: each half selects the best plan for the other half, in which the median ratio, minus 1, is taken, and the regret is the
mean of both. It is negative where the plan was faster than the selected one. "best" is the fastest plan in the median of all
rounds. Seconds are medians of epochs; profile_s and tune_s are what autotune reports.

Emulated devices have the bandwidth and memory that they are named by, and compute on the host's cores. Stores under build/regret
are reused; FILE's rows of other cases are kept. No command learns from earlier runs. --cases selects by
parts of the names that --list prints."""

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
import first_contact  # noqa: E402
from harness import gnomon, origin, write_record  # noqa: E402

SHARES = ["--valid-share", "0.01", "--train-share"]
# What is generated, and the job.
GENERATED = {
    "demo": (["sbm", "--name", "demo"], ["--model", "sage", "--fanouts", "10,10", "--hidden", "128"]),
    "rmat14": (["rmat", "--scale", "14", *SHARES, "0.6"], ["--model", "sage", "--fanouts", "15,10,5", "--hidden", "32"]),
    "rmat16": (["rmat", "--scale", "16", *SHARES, "0.1"], ["--model", "gcn", "--fanouts", "10,10", "--hidden", "64"]),
    "rmat18": (["rmat", "--scale", "18", *SHARES, "0.03"], ["--model", "sage", "--fanouts", "10,5", "--hidden", "128"]),
    "planted10k": (["sbm", "--vertices", "10000", *SHARES, "0.6"], ["--model", "sage", "--fanouts", "10,10", "--hidden", "64"]),
    "planted40k": (["sbm", "--vertices", "40000", *SHARES, "0.2"], ["--model", "gat", "--fanouts", "5,5", "--hidden", "64"]),
    "planted120k": (["sbm", "--vertices", "120000", *SHARES, "0.1"], ["--model", "gcn", "--fanouts", "10,5", "--hidden", "256"]),
}
JOBS = {name: job for graphs in (first_contact.GRAPHS, GENERATED) for name, (*_, job) in graphs.items()}
EPOCHS = {"demo": 5}  # at most
LARGE = {"demo", "rmat18", "planted120k", "coauthor_phy", "twitter"}  # only on the host's two cores
MODELS = ["sage", "gcn", "gat"]
HOST, ONE_CORE = "cpu, 2 cores", "cpu, 1 core"
LINKS, MEMORIES = [2, 8, 24], {"60 MB": "60MB", "4 GB": "4GB"}
TWO_CORES = ["taskset", "-c", "0,1"]
# The prefix of commands, and the flags of the device.
DEVICES = {
    HOST: (TWO_CORES, ["--device", "cpu"]),
    ONE_CORE: (["taskset", "-c", "0"], ["--device", "cpu"]),
    **{f"emulated, {link} GB/s, {memory}": (TWO_CORES, ["--device", "emulated", "--link", f"{link}GB/s", "--device-memory", size])
       for link in LINKS for memory, size in MEMORIES.items()},
}  # fmt: skip
WAYS = {"autotune": "regret", "baseline": "regret_baseline", "random": "regret_random", "full": "regret_full",
        "predicted": "regret_predicted"}  # fmt: skip
EXACT = {"order", "bits"}
SLOW = 2  # times the fastest prediction, beyond which a preset is not run
GOOD = 0.02
COMMAND_LIMIT_S = 1200
REFUSED = 2  # the exit code for invalid usage or input


class Case(NamedTuple):
    graph: str
    model: str
    device: str

    def __str__(self):
        return " ".join(self)

    def job(self):
        job = list(JOBS[self.graph])
        job[job.index("--model") + 1] = self.model
        return job

    def option(self, name):
        job = self.job()
        return job[job.index(name) + 1]

    def flags(self):
        return DEVICES[self.device][1]


class Failed(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def all_cases():
    """On the host's two cores each graph with its job's model, and the smaller graphs with another one, too. The smaller graphs are
    dealt to the other devices in turn, seven to one core and four to each emulated device, with the models in turn."""
    for graph, job in JOBS.items():
        for step in range(1 if graph in LARGE else 2):
            yield Case(graph, MODELS[(MODELS.index(job[1]) + step) % 3], HOST)
    small = [graph for graph in JOBS if graph not in LARGE]
    for number, device in enumerate(device for device in DEVICES if device != HOST):
        for step in range(7 if device == ONE_CORE else 4):
            yield Case(small[(5 * number + step) % len(small)], MODELS[(number + step) % 3], device)


def make_store(options, name):
    store = ROOT / "build/regret" / name
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        if name in GENERATED:
            kind, *rest = GENERATED[name][0]
            gnomon(options, "generate", kind, store, *rest)
        else:
            file, how, _ = first_contact.GRAPHS[name]
            kind = "npz" if file.endswith(".npz") else "edges"
            gnomon(options, "import", kind, options.data / file, store, "--undirected", *how)
    return store


class Bench:
    """The programs, the files and the presets of each device."""

    def __init__(self, options):
        self.options = options
        self.program = options.build / "bin/gnomon"
        self.resolved = {}  # by device and preset

    def run(self, case, program, *arguments):
        """The JSON that a command prints, if it does. Throws Failed."""
        command = [str(word) for word in [*DEVICES[case.device][0], program, *arguments]]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_LIMIT_S, check=False)
        except subprocess.TimeoutExpired as expired:
            raise Failed(1, f"gnomon {arguments[0]}: exceeded {COMMAND_LIMIT_S} s") from expired
        if done.returncode != 0:
            message = done.stderr.strip().replace(f"{ROOT}/", "")
            raise Failed(done.returncode, message or f"gnomon {arguments[0]}: exit code {done.returncode}")
        return json.loads(done.stdout) if "--json" in arguments else None

    def store(self, case):
        return make_store(self.options, case.graph)

    def place(self, case):
        name = "".join(letter if letter.isalnum() else "_" for letter in str(case))
        place = ROOT / "build/regret/cases" / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def epochs(self, case):
        return min(EPOCHS.get(case.graph, math.inf), self.options.epochs)

    def autotune(self, case, way, program, *flags):
        """What `gnomon autotune` prints; its plan is in the directory of that way."""
        return self.run(case, program, "autotune", self.store(case), *case.job(), *case.flags(), "--epochs", self.epochs(case),
                        "--run", self.place(case) / way, "--overwrite", "--json", *flags)  # fmt: skip

    def full(self, case):
        """The profile of everything, and the plan that follows from it."""
        profile, plan = (self.place(case) / name for name in ("full.profile.json", "full.json"))
        measure = ["profile", self.store(case), *case.job(), *case.flags(), "--time-limit", self.options.full_limit, "-o", profile]
        try:
            self.run(case, self.program, *measure, "--all")
        except Failed as failure:
            if failure.code != REFUSED:
                raise
            self.run(case, self.program, *measure)
        self.run(case, self.program, "tune", profile, "-o", plan)
        return profile, plan

    def predicted(self, case):
        """The plan that autotune predicted to be the best, before real runs."""
        tuning = json.loads((self.place(case) / "autotune/tuning.json").read_text())
        plan = self.place(case) / "predicted.json"
        plan.write_text(json.dumps(tuning["candidates"][0]["plan"]))
        return plan

    def validate(self, case, profile, plans, rounds):
        plans = ",".join(map(str, plans))
        return self.run(case, self.program, "validate", "--only-times", self.store(case), profile, *case.flags(), "--plans", plans, "--epochs", rounds,
                        "--json")["plans"]  # fmt: skip

    def others(self, case):
        """The plans that autotune chooses otherwise, and why it does not."""
        ways = {"random": (self.program, "--measure-order", "random")}
        if self.options.baseline:
            ways["baseline"] = (self.options.baseline,)
        plans, failures = {}, {}
        for way, (program, *flags) in ways.items():
            try:
                self.autotune(case, way, program, *flags)
                plans[way] = self.place(case) / way / "plan.json"
            except Failed as failure:
                if way != "random" or failure.code != REFUSED:
                    failures[way] = str(failure)
        return plans, failures

    def presets(self, case, profile):
        """The resolved exact presets that run in the device's memory and are not predicted to be slow."""
        rows = self.run(case, self.program, "explore", profile, "--plan", "all", "--json")["rows"]
        rows = [row for row in rows if row["runs_here"] and row["exact"] in EXACT]
        limit = SLOW * min((row["epoch_s"] for row in rows), default=math.inf)
        names = [row["plan"] for row in rows if row["epoch_s"] <= limit]
        return {name: plan for name in names if (plan := self.preset(case, profile, name))}

    def preset(self, case, profile, name):
        """As the device resolves it, tried once on each device; None if it does not run."""
        key = case.device, name
        if key not in self.resolved:
            try:
                self.resolved[key] = self.validate(case, profile, [name], 1)[0]["plan"]
            except Failed as failure:
                print(f"{case}: without {name}: {failure}", file=sys.stderr)
                return None
        return self.resolved[key]

    def trains(self, case):
        """Whether a preset of little memory trains at all."""
        for name in ("device", "dgl", "pyg"):
            try:
                self.run(case, self.program, "train", self.store(case), *case.job(), *case.flags(), "--epochs", 1, "--plan", name,
                         "--run", self.place(case) / "tried", "--overwrite")  # fmt: skip
                return True
            except Failed as failure:
                if failure.code != REFUSED:
                    return True
        return False

    def in_turns(self, case, profile, chosen, rounds):
        """The epochs of all plans that differ, and the key of each way's plan among them."""
        plans, keys = distinct(self.presets(case, profile), chosen)
        try:
            results = self.validate(case, profile, plans.values(), rounds)
        except Failed as failure:
            print(f"{case}: presets are tried one by one, as together: {failure}", file=sys.stderr)
            self.resolved.clear()
            plans, keys = distinct(self.presets(case, profile), chosen)
            results = self.validate(case, profile, plans.values(), rounds)
        return {key: result["epochs_s"] for key, result in zip(plans, results)}, keys


def fields(plan):
    return {key: value for key, value in plan.items() if key not in ("schema", "name", "source")}


def distinct(presets, chosen):
    """The arguments of the plans that differ, and the key of each way's plan among them."""
    plans = {}
    known = []
    for name, plan in presets.items():
        if fields(plan) not in [of for of, _ in known]:
            plans[name] = name
            known.append((fields(plan), name))
    keys = {}
    for way, path in chosen.items():
        plan = json.loads(path.read_text())
        same = [name for of, name in known if of == fields(plan)]
        keys[way] = same[0] if same else f"{plan['name']}, {way}"
        if not same:
            plans[keys[way]] = path
            known.append((fields(plan), keys[way]))
    return plans, keys


def rounds_for(case, epoch_s):
    """Even, so that both halves have as many."""
    most = 20 if case.device in (HOST, ONE_CORE) else 8
    return min(most, max(6, 2 * math.ceil(0.5 / epoch_s)))


def regret_of(plan, epochs_s):
    """Each half of the rounds selects the best plan for the other half."""
    halves = [slice(0, None, 2), slice(1, None, 2)]
    regrets = []
    for selecting, measuring in (halves, halves[::-1]):
        best = min(epochs_s, key=lambda name: statistics.median(epochs_s[name][selecting]))
        regrets.append(statistics.median(a / b for a, b in zip(epochs_s[plan][measuring], epochs_s[best][measuring])) - 1)
    return statistics.mean(regrets)


def measured(bench, case):
    report = bench.autotune(case, "autotune", bench.program)
    others, failures = bench.others(case)
    profile, full = bench.full(case)
    chosen = {"autotune": bench.place(case) / "autotune/plan.json", **others, "full": full, "predicted": bench.predicted(case)}
    rounds = rounds_for(case, report["measured_epoch_s"])
    epochs_s, keys = bench.in_turns(case, profile, chosen, rounds)
    medians = {key: statistics.median(seconds) for key, seconds in epochs_s.items()}
    return {
        "chosen": keys["autotune"],
        "best": min(medians, key=medians.get),
        **{WAYS[way]: regret_of(key, epochs_s) for way, key in keys.items()},
        "profile_s": report["costs"]["profile_s"],
        "tune_s": report["costs"]["tune_s"],
        "training_s": sum(epoch["epoch_s"] for epoch in report["training"]["epochs"]),
        "rounds": rounds,
        "plans": keys,
        "epoch_s": medians,
        **({"failures": failures} if failures else {}),
    }


def row_of(bench, case):
    fanouts = [int(number) for number in case.option("--fanouts").split(",")]
    row = {"graph": case.graph, "model": case.model, "fanouts": fanouts, "hidden": int(case.option("--hidden")),
           "device": case.device, "epochs": bench.epochs(case)}  # fmt: skip
    try:
        return row | measured(bench, case)
    except Failed as failure:
        return row | {"regret": None, ("failed" if bench.trains(case) else "nothing_trains"): str(failure)}


def spread_of(values):
    values = sorted(values)
    return {"cases": len(values), "median": statistics.median(values), "p90": values[math.ceil(0.9 * len(values)) - 1], "max": values[-1]}


def is_cheap(row):
    """Whether choosing the plan takes at most 3 seconds, or 5 % of 20 epochs."""
    return row["profile_s"] + row["tune_s"] <= max(3, 0.05 * 20 * row["epoch_s"][row["chosen"]])


def summary(rows):
    rows = [row for row in rows if "nothing_trains" not in row]
    done = [row for row in rows if row["regret"] is not None]
    regrets = {key: [row[key] for row in done if key in row] for key in WAYS.values()}
    return {
        "cases": len(rows),
        "failed": len(rows) - len(done),
        "within_2_percent": sum(row["regret"] <= GOOD for row in done) / len(rows),
        "cheap": sum(map(is_cheap, done)) / len(rows),
        **{key: spread_of(values) for key, values in regrets.items() if values},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--cases", nargs="+", default=[""])
    parser.add_argument("--baseline", type=Path, help="the gnomon program of another build")
    parser.add_argument("--full-limit", type=float, default=20, help="seconds of the full profile")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/regret.json")
    parser.add_argument("--list", action="store_true", help="only print the cases")
    options = parser.parse_args()
    cases = [case for case in all_cases() if any(part in str(case) for part in options.cases)]
    if options.list:
        print("\n".join(map(str, cases)))
        return
    bench = Bench(options)
    rows = json.loads(options.output.read_text())["rows"] if options.output.exists() else []
    for number, case in enumerate(cases, 1):
        begin = time.monotonic()
        rows = [row for row in rows if (row["graph"], row["model"], row["device"]) != case]
        rows.append(row_of(bench, case))
        print(f"{number} of {len(cases)}, {time.monotonic() - begin:.0f} s: {json.dumps(rows[-1])}", file=sys.stderr, flush=True)
        write_record(options.output, {"schema": "gnomon.regret/1", **origin(), "notes": __doc__.strip(), **summary(rows), "rows": rows})


if __name__ == "__main__":
    main()
