#!/usr/bin/env python3
"""Compares gnomon's tuner with Optuna's TPE and BoTorch's Gaussian process with expected improvement: the number of
simulated epochs that each needs to come within 1 % of the known best plan. Adds the results to bench_tuner's document.

    build/release/bench/bench_tuner --output bench/results/tuner.json
    bench/compare_tuners.py [--build build/release] [--document bench/results/tuner.json] [--names optuna_tpe,botorch_gp_ei]
        [--workloads 0,1,…] [--seeds 2] [--budget 100]

The first run installs both into build/tuners-venv; an existing PyTorch of the user's Python is reused.

All tuners evaluate the same workloads on the same simulator (bench_tuner --serve). Optuna chooses one field after the other, from
the values with which a plan can still be completed (one in some thousand combinations is a valid plan): categories, or positions on
the field's grid. BoTorch has the inputs of gnomon's surrogates: numbers scaled to 0 … 1 and one-hot categories. It models the
logarithm of the epoch, starts with ten random plans and then takes the best of 1,000 random feasible plans by logarithmic expected
improvement.
"""

import argparse
import json
import os
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import Peer, environment  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["optuna==5.0.0", "botorch==0.18.1", "scikit-learn==1.9.1"]


class Count:
    """Counts evaluations until the first within the goal."""

    def __init__(self, goal_s, budget):
        self.goal_s, self.budget, self.done, self.reached = goal_s, budget, 0, None

    def add(self, epoch_s):
        self.done += 1
        if self.reached is None and epoch_s <= self.goal_s:
            self.reached = self.done

    def is_over(self):
        return self.reached is not None or self.done >= self.budget


def optuna_tpe(server, count, seed):
    import numpy
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    dimensions = server.ask({"describe": True})["dimensions"]
    points = numpy.array(server.ask({"all": True}))
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True))

    def suggest(trial, dimension, values):
        if len(values) == 1:
            return values[0]
        name = dimension["path"] + str(values)
        if dimension["category"]:
            return trial.suggest_categorical(name, values)
        return values[trial.suggest_int(name, 0, len(values) - 1)]

    while not count.is_over():
        trial, left = study.ask(), points
        for column, dimension in enumerate(dimensions):
            value = suggest(trial, dimension, numpy.unique(left[:, column]).tolist())
            left = left[left[:, column] == value]
        epoch_s = server.ask({"evaluate": left[0].tolist()})["epoch_s"]
        study.tell(trial, epoch_s)
        count.add(epoch_s)


def botorch_gp_ei(server, count, seed):
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from gpytorch.mlls import ExactMarginalLogLikelihood

    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    dimensions = server.ask({"describe": True})["dimensions"]

    def encode(points):
        rows = []
        for point in points:
            row = []
            for dimension, position, code in zip(dimensions, point["point"], point["code"]):
                if dimension["category"]:
                    row += [float(position == value) for value in range(dimension["values"])]
                else:
                    row += [float(position < 0), max(code, 0.0)]
            rows.append(row)
        return torch.tensor(rows, dtype=torch.float64)

    known, values = [], []

    def evaluate(point):
        epoch_s = server.ask({"evaluate": point["point"]})["epoch_s"]
        known.append(point)
        values.append([-torch.tensor(epoch_s).log().item()])
        count.add(epoch_s)

    for point in server.ask({"random": 10}):
        if not count.is_over():
            evaluate(point)
    while not count.is_over():
        x, y = encode(known), torch.tensor(values, dtype=torch.float64)
        model = SingleTaskGP(x, y, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        pool = server.ask({"random": 1000})
        improvement = LogExpectedImprovement(model, best_f=y.max())(encode(pool).unsqueeze(1))
        evaluate(pool[int(improvement.argmax())])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--document", type=Path, default=ROOT / "bench" / "results" / "tuner.json")
    parser.add_argument("--names", default="optuna_tpe,botorch_gp_ei")
    parser.add_argument("--workloads", default="")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--budget", type=int, default=100)
    options = parser.parse_args()
    python = environment(ROOT / "build" / "tuners-venv", PACKAGES, options=["--system-site-packages"])
    if Path(sys.prefix) != python.parent.parent:
        os.execv(python, [python, *sys.argv])
    document = json.loads(options.document.read_text())
    wanted = {f"random-{number}" for number in options.workloads.split(",") if number}
    for row in document["rows"]:
        if wanted and row["workload"] not in wanted:
            continue
        for name in options.names.split(","):
            counts = []
            for seed in range(options.seeds):
                workload = row["workload"].removeprefix("random-")
                program = options.build / "bench" / "bench_tuner"
                server = Peer([program, "--serve", workload, "--seed", str(seed)], threads=1)
                count = Count(1.01 * row["optimum_s"], options.budget)
                {"optuna_tpe": optuna_tpe, "botorch_gp_ei": botorch_gp_ei}[name](server, count, seed)
                server.close()
                counts.append(count.reached)
            row["evaluations_to_1_percent"][name] = counts
            print(row["workload"], name, counts, flush=True)
        document["peers"] = {"budget": options.budget, "packages": PACKAGES}
        options.document.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
