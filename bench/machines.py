#!/usr/bin/env python3
"""Predicts jobs on one machine from their profiles on another, and compares the predictions with measurements there: times of
stages and epochs of plans. Writes bench/results/machines.json.

    bench/machines.py [--kind NAME] [--restrictions two_cores,one_core] [--rounds 2] [--build build/release]
        [--data ../shared/data] [--jobs tolokers,rmat17] [--plans device,gnomon,salient,pyg,dgl] [--time-limit 12]
    bench/machines.py --rounds 0        # predict again from the documents that are kept

First measures this machine (machine_jobs.py) by `gnomon machine`, and each job on it by `gnomon profile` and `gnomon validate`:
unrestricted, restricted to one core (taskset), beside a process that continuously copies memory on one of its cores, and
without huge pages (prctl PR_SET_THP_DISABLE). The documents are kept in bench/results/machines/KIND/VERSION/RESTRICTION/ROUND/,
together with those of other kinds of machine measured earlier. Rounds alternate.

Then predicts each job on every other machine measured with the same version of the measurement (machine_jobs.VERSION), from its
first round's documents (`gnomon explore --from --machine`). Rows hold seconds of a mini-batch's stage or of an epoch: `measured_s`
is the median over the rounds there; `kept_s` is the time on `from`, the prediction without scaling; `interval` is the half
width of the predicted 95 % confidence interval over the prediction; `own_predicted_s` is the epoch predicted from the job's
profile on `to` itself.
"""

import argparse
import itertools
import json
import math
import re
import statistics
import sys
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import origin, write_record  # noqa: E402
from machine_jobs import JOBS, RESTRICTIONS, VERSION, cpu_facts, measure, run  # noqa: E402

STAGES = ["cpu_batch", "device_batch", "train"]
WANTED_ORDER = 0.9  # Spearman


class Machine:
    """The documents of one machine: of all rounds what was measured, of the first what predictions start from."""

    def __init__(self, directory):
        kind, version, restriction = directory.parts[-3:]
        self.name = f"{kind}/{restriction}"
        self.version = int(version)
        rounds = sorted(directory.iterdir(), key=lambda path: int(path.name))
        self.place = rounds[0]
        self.rounds = [self.read(path) for path in rounds]
        self.commit = self.rounds[0]["commit"]

    @staticmethod
    def read(path):
        document = json.loads((path / "measured.json").read_text())
        for job in document["epochs"]:
            document[job] = json.loads((path / f"{job}.json").read_text())["workload"]
        return document

    def jobs(self):
        return list(self.rounds[0]["epochs"])

    def times_s(self, job):
        """Seconds of each stage and of each plan's epoch."""
        times = {stage: [each[job][stage]["mean_s"] for each in self.rounds] for stage in STAGES}
        times |= {f"epoch {plan}": [each["epochs"][job][plan]["measured_s"] for each in self.rounds] for plan in self.rounds[0]["epochs"][job]}
        return {stage: statistics.median(values) for stage, values in times.items()}

    def own_predicted_s(self, job):
        return {f"epoch {plan}": statistics.median(each["epochs"][job][plan]["predicted_s"] for each in self.rounds)
                for plan in self.rounds[0]["epochs"][job]}  # fmt: skip


def machines_of(documents):
    return [Machine(directory) for directory in sorted(documents.glob("*/*/*")) if directory.is_dir()]


def predict(options, source, target, job):
    """Predicted seconds and relative intervals of stages and epochs."""
    text = run(options.build, "two_cores", "explore", source.place / f"{job}.json", "--from", source.place / "machine.json", "--machine",
               target.place / "machine.json", "--plan", options.plans, "--json")  # fmt: skip
    document = json.loads(text)
    predicted = {}
    for moved in document["moved"][0]["stages"]:
        if moved["stage"] in STAGES:
            time = source.rounds[0][job][moved["stage"]]
            own = time["interval_s"] / time["mean_s"]
            predicted[moved["stage"]] = (time["mean_s"] * (moved["factor"] or 1), math.hypot(own, moved["interval"] or 0))
    for row in document["rows"]:
        if row["epoch_s"] is not None:
            predicted[f"epoch {row['plan']}"] = (row["epoch_s"], (row["interval_s"] or 0) / row["epoch_s"])
    return predicted


def rows_of(options, source, target, job):
    kept, measured, own = source.times_s(job), target.times_s(job), target.own_predicted_s(job)
    rows = []
    for stage, (predicted_s, interval) in predict(options, source, target, job).items():
        if stage in measured:
            rows.append({"from": source.name, "to": target.name, "version": source.version, "job": job, "stage": stage,
                         "predicted_s": predicted_s, "measured_s": measured[stage], "kept_s": kept[stage], "interval": interval})  # fmt: skip
            if stage in own:
                rows[-1]["own_predicted_s"] = own[stage]
    return rows


def error(row, key="predicted_s"):
    return abs(row[key] / row["measured_s"] - 1)


def is_epoch(row):
    return row["stage"].startswith("epoch")


def kinds_of(row):
    return row["from"].split("/")[0], row["to"].split("/")[0]


def noise_of(machines):
    """The range of the middle half of an epoch's repetitions over their median, in the median of all plans."""
    ranges = [(plan["quartiles_s"][1] - plan["quartiles_s"][0]) / plan["measured_s"]
              for machine in machines for one in machine.rounds for job in one["epochs"].values() for plan in job.values() if "quartiles_s" in plan]  # fmt: skip
    return statistics.median(ranges)


def ranks(values, noise):
    """Values that differ from the next by less than the noise share their mean rank."""
    order = sorted(range(len(values)), key=values.__getitem__)
    groups = [[order[0]]]
    for before, index in itertools.pairwise(order):
        if values[index] <= (1 + noise) * values[before]:
            groups[-1].append(index)
        else:
            groups.append([index])
    ranked, begin = [0.0] * len(values), 0
    for group in groups:
        for index in group:
            ranked[index] = begin + (len(group) - 1) / 2
        begin += len(group)
    return ranked


def spearman(rows, noise):
    """Of the predicted and the measured order of plans of one job on one machine; none if no two plans differ by more than the noise, 0
    if they do but no two predictions."""
    a, b = (ranks([row[key] for row in rows], noise) for key in ["predicted_s", "measured_s"])
    if len(set(b)) == 1:
        return None
    return statistics.correlation(a, b) if len(set(a)) > 1 else 0


def orders_of(epochs, noise):
    groups = {}
    for row in epochs:
        groups.setdefault((row["from"], row["to"], row["version"], row["job"]), []).append(row)
    return [spearman(group, noise) for group in groups.values()]


def in_order(epochs, noise):
    """Of the pairs of plans that differ by more than the noise, those that are predicted in the measured order; and all."""
    right = total = 0
    for one, other in itertools.combinations(epochs, 2):
        same = all(one[key] == other[key] for key in ["from", "to", "version", "job"])
        if same and abs(math.log(one["measured_s"] / other["measured_s"])) > math.log(1 + noise):
            total += 1
            right += (one["measured_s"] < other["measured_s"]) == (one["predicted_s"] < other["predicted_s"])
    return right, total


def distance(row):
    """Of what was measured from what was predicted, in half widths of the interval."""
    return abs(row["predicted_s"] - row["measured_s"]) / (row["interval"] * row["predicted_s"])


def within(rows):
    return sum(distance(row) <= 1 for row in rows) / len(rows)


def coverage(rows):
    """How often intervals hold. Rows of one job or one pair of machines are off together, so that a test must not count them as
    independent: `bootstrap` draws whole jobs and whole pairs again, and holds the middle 95 % of what that gives. `cross_validated`:
    all intervals are scaled so that those of the other jobs would hold 95 of 100 times, and then hold of the job that was left out."""
    jobs = sorted({row["job"] for row in rows})
    of_job = {job: [row for row in rows if row["job"] == job] for job in jobs}
    held = 0
    for job in jobs:
        scale = statistics.quantiles([distance(row) for row in rows if row["job"] != job], n=20)[-1]
        held += sum(distance(row) <= scale for row in of_job[job])
    cells = {}
    for row in rows:
        cells.setdefault((row["job"], row["from"], row["to"]), []).append(distance(row) <= 1)
    pairs = sorted({(row["from"], row["to"]) for row in rows})
    random = Random(0)
    drawn = []
    for _ in range(1000):
        some = [cells[(job, *pair)] for job in random.choices(jobs, k=len(jobs)) for pair in random.choices(pairs, k=len(pairs))]
        drawn.append(statistics.mean(itertools.chain(*some)))
    drawn.sort()
    return {"all": within(rows), "by_job": {job: within(of_job[job]) for job in jobs}, "cross_validated": held / len(rows),
            "bootstrap": [drawn[25], drawn[974]]}  # fmt: skip


def summary(rows, noise):
    """Of some rows: what was asked, and how often intervals held."""
    stages, epochs = [row for row in rows if not is_epoch(row)], [row for row in rows if is_epoch(row)]
    all_orders = orders_of(epochs, noise)
    orders = [order for order in all_orders if order is not None]
    right, total = in_order(epochs, noise)
    return {
        "stages": len(stages),
        "stages_median_error": statistics.median(map(error, stages)),
        "stages_median_error_if_kept": statistics.median(error(row, "kept_s") for row in stages),
        "stages_within_interval": coverage(stages),
        "epochs": len(epochs),
        "epochs_median_error": statistics.median(map(error, epochs)),
        "epochs_median_error_if_kept": statistics.median(error(row, "kept_s") for row in epochs),
        "epochs_median_error_of_own_profiles": statistics.median(error(row, "own_predicted_s") for row in epochs),
        "epochs_within_interval": coverage(epochs),
        "pairs_of_plans": total,
        "pairs_in_order": right,
        "orders": len(orders),
        "orders_in_order": sum(order >= WANTED_ORDER for order in orders),
        "orders_without_order": len(all_orders) - len(orders),
        "spearman_median": statistics.median(orders) if orders else None,
        "spearman_min": min(orders) if orders else None,
    }


def summaries(rows, noise):
    names = {
        "between kinds": lambda row: len(set(kinds_of(row))) == 2,
        "between restrictions of one kind": lambda row: len(set(kinds_of(row))) == 1,
    }
    chosen = {name: [row for row in rows if belongs(row)] for name, belongs in names.items()}
    return {name: summary(some, noise) for name, some in chosen.items() if some}


def measure_here(options):
    options.work.mkdir(parents=True, exist_ok=True)
    for _, restriction in itertools.product(range(options.rounds), options.restrictions):
        measure(options, restriction, origin()["commit"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--work", type=Path, default=ROOT / "build/machines")
    parser.add_argument("--documents", type=Path, default=ROOT / "bench/results/machines")
    parser.add_argument("--kind", default="_".join(re.findall("[a-z0-9]+", re.sub(r"\(\w+\)", "", cpu_facts()["name"].lower()))))
    parser.add_argument("--restrictions", type=lambda text: text.split(","), default=list(RESTRICTIONS))
    parser.add_argument("--jobs", type=lambda text: text.split(","), default=list(JOBS))
    parser.add_argument("--plans", default="device,gnomon,salient,pyg,dgl")
    parser.add_argument("--time-limit", default="12")
    parser.add_argument("--machine-limit", default="30")
    parser.add_argument("--version", type=int, default=VERSION, help="version of the measurement, for an older build given by --build")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/machines.json")
    options = parser.parse_args()
    measure_here(options)
    machines = machines_of(options.documents)
    noise = noise_of(machines)
    rows = [row for source, target in itertools.permutations(machines, 2) if source.version == target.version
            for job in source.jobs() if job in target.jobs() for row in rows_of(options, source, target, job)]  # fmt: skip
    old = sorted({row["version"] for row in rows} - {VERSION})
    document = {"schema": "gnomon.machines/2", **origin(), "notes": __doc__.strip(), "noise": noise,
                "machines": [{"name": machine.name, "version": machine.version, "rounds": len(machine.rounds), "commit": machine.commit, "recorded": machine.rounds[0]["recorded"]}
                             for machine in machines],
                "summary": summaries(rows, noise), "rows": rows}  # fmt: skip
    if old:
        document["older_than"] = (f"the machines that are compared were measured by version {old[-1]} of what is measured "
                                  f"(bench/machine_jobs.py); today's is {VERSION}. Predictions are those of the named commit.")  # fmt: skip
    write_record(options.output, document)
    print(json.dumps(document["summary"], indent=1))


main()
