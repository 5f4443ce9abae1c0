"""Measures this machine, unrestricted and restricted, and five jobs on it, for bench/machines.py: the machine file, the
jobs' profiles, and epochs of real trainings, in DIRECTORY/KIND/VERSION/RESTRICTION/ROUND/."""

import ctypes
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

# Of what is measured. Documents of two versions cannot be compared, as what became faster looks like a faster machine, so it
# grows with every change that moves the times of training or of the profiler by more than measuring again would:
# 1: until 93a1541; 2: stages are profiled back to back, and malloc keeps what small tensors free.
VERSION = 2

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
RESTRICTIONS = {
    "two_cores": ([], None, nothing),
    "one_core": (["taskset", "-c", "0"], None, nothing),
    "beside_copies": ([], None, copies_on_a_core),
    "small_pages": ([], without_huge_pages, nothing),
}


def run(build, restriction, *arguments):
    prefix, first, _ = RESTRICTIONS[restriction]
    command = [*prefix, build / "bin/gnomon", *arguments]
    done = subprocess.run([str(word) for word in command], preexec_fn=first, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command} ended with {done.returncode}")
    return done.stdout


def make_store(options, job):
    store = options.work / job
    if not store.exists():
        run(options.build, "two_cores", *[word.format(data=options.data, store=store) for word in JOBS[job][0]])
    return store


def cpu_facts():
    """What tells two kinds of machine apart that go by one name."""
    facts = {}
    for line in open("/proc/cpuinfo"):
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    flags = set(facts.get("flags", "").split())
    return {"name": facts.get("model name", platform.machine()), "family": facts.get("cpu family"), "model": facts.get("model"),
            "instructions": sorted(flags & {"avx2", "avx512f", "avx512_bf16", "amx_bf16", "avx_vnni"})}  # fmt: skip


def epochs_of(plans):
    """The measured epochs of each plan, with their quartiles, and what this machine's own profile predicts."""
    epochs = {}
    for plan in plans:
        quartiles = statistics.quantiles(plan["epochs_s"], n=4, method="inclusive")
        epochs[plan["plan"]["name"]] = {"measured_s": plan["measured_s"], "quartiles_s": [quartiles[0], quartiles[2]],
                                        "epochs": len(plan["epochs_s"]), "predicted_s": plan["predicted_s"],
                                        "predicted_interval_s": plan.get("predicted_interval_s"), "stages": plan["stages"]}  # fmt: skip
    return epochs


def keep(text, path):
    """One line, since such documents are many."""
    path.write_text(json.dumps(json.loads(text), separators=(",", ":")) + "\n")


def measure(options, restriction, commit):
    """One more round: the machine's document, then each job's profile and epochs."""
    rounds = options.documents / options.kind / str(options.version) / restriction
    number = len(list(rounds.glob("*")))
    place = rounds / str(number)
    place.mkdir(parents=True)
    machine, profile = options.work / "machine.json", options.work / "profile.json"
    epochs = {}
    with RESTRICTIONS[restriction][2]():
        run(options.build, restriction, "machine", "-o", machine, "--name", f"{options.kind}/{restriction}", "--device", "cpu",
            "--time-limit", options.machine_limit)  # fmt: skip
        keep(machine.read_text(), place / "machine.json")
        for job in options.jobs:
            store = make_store(options, job)
            run(options.build, restriction, "profile", store, *JOBS[job][1], "--time-limit", options.time_limit, "-o", profile)
            keep(profile.read_text(), place / f"{job}.json")
            plans = json.loads(run(options.build, restriction, "validate", store, profile, "--plans", options.plans, "--json"))["plans"]
            epochs[job] = epochs_of(plans)
            print(restriction, number, job, {name: one["measured_s"] for name, one in epochs[job].items()}, file=sys.stderr, flush=True)
    measured = {"recorded": datetime.date.today().isoformat(), "commit": commit, "cpu": cpu_facts(), "epochs": epochs}
    keep(json.dumps(measured), place / "measured.json")
