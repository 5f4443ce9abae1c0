#!/usr/bin/env python3
"""Predicts epochs on two cores from profiles on one, and compares them with measurements on both: each graph is profiled by a process
that is limited to one core (taskset), `gnomon explore --set machine.cpu.cores=2` predicts plans by the law of cores, and
`gnomon validate` measures the same plans on two cores. Writes bench/results/cores.json.

    bench/cores.py [--build build/release] [--data ../shared/data] [--graphs cora,tolokers] [--plans device,gnomon,salient]
        [--output FILE]

Rows hold seconds: predicted for two cores with the half width of the 95 % interval, measured on two cores, and, as "kept_s", what the
profile predicts for one. Nothing is fitted. Stores under build/first_contact are reused."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "bench/peers"))
import first_contact  # noqa: E402
from harness import gnomon, origin, write_record  # noqa: E402

TIME_LIMIT_S = 8  # of a profile
ROUNDS = 8


def on_one_core(options, *arguments):
    command = ["taskset", "-c", "0", options.build / "bin/gnomon", *arguments]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)


def explored(options, profile, cores):
    rows = gnomon(options, "explore", profile, "--plan", options.plans, "--set", f"machine.cpu.cores={cores}", "--json")
    return {row["plan"]: row for row in json.loads(rows)["rows"]}


def measure(options, name):
    store, job = first_contact.make_store(options, name), first_contact.GRAPHS[name][2]
    one, two = (ROOT / "build/first_contact" / f"{name}.{cores}.cores.json" for cores in (1, 2))
    on_one_core(options, "profile", store, *job, "--time-limit", TIME_LIMIT_S, "-o", one)
    gnomon(options, "profile", store, *job, "--time-limit", 2, "-o", two)  # only to say what is validated
    predicted, kept = explored(options, one, 2), explored(options, one, 1)
    validated = gnomon(options, "validate", store, two, "--plans", options.plans, "--only-times", "--epochs", ROUNDS, "--json")
    return [{"graph": name, "model": job[1], "plan": plan["plan"]["name"], "kept_s": kept[plan["plan"]["name"]]["epoch_s"],
             "predicted_s": predicted[plan["plan"]["name"]]["epoch_s"],
             "predicted_interval_s": predicted[plan["plan"]["name"]].get("interval_s"), "measured_s": plan["measured_s"]}
            for plan in json.loads(validated)["plans"]]  # fmt: skip


def error(row, key="predicted_s"):
    return abs(row[key] / row["measured_s"] - 1)


def summary(rows):
    stated = [row for row in rows if row["predicted_interval_s"]]
    inside = [abs(row["measured_s"] - row["predicted_s"]) <= row["predicted_interval_s"] for row in stated]
    return {
        "median_error": statistics.median(map(error, rows)),
        "max_error": max(map(error, rows)),
        "median_error_if_kept": statistics.median(error(row, "kept_s") for row in rows),
        "within_interval": statistics.mean(inside) if inside else None,
    }


def main():
    parser = first_contact.parser_of(__doc__, "cores.json")
    parser.add_argument("--plans", default="device,gnomon,salient")
    options = parser.parse_args()
    rows = []
    for name in options.graphs:
        rows += measure(options, name)
        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        write_record(options.output, {"schema": "gnomon.cores/1", **origin(), "notes": __doc__.strip(), **summary(rows), "rows": rows})


if __name__ == "__main__":
    main()
