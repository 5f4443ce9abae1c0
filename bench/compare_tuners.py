#!/usr/bin/env python3
"""Optuna's TPE and BoTorch's Gaussian process with expected improvement beside gnomon's tuner: how many simulated epochs
each takes to come within 1 % of the known best plan. Adds them to the document that bench_tuner wrote.

    build/release/bench/bench_tuner --output bench/results/tuner.json
    bench/compare_tuners.py [--build build/release] [--document bench/results/tuner.json] [--names optuna_tpe,botorch_gp_ei]
        [--workloads 0,1,…] [--seeds 2] [--budget 100]

Both are installed into build/tuners-venv on the first run; a PyTorch that the user's Python already has is used again.

All ask the same simulator about the same workloads (bench_tuner --serve). Optuna sees every field as one parameter, a
category or an integer position on the field's grid. A combination that cannot be (a field that contradicts another,
memory that does not suffice) is told as one that violates a constraint, which TPE learns to avoid, and not counted as an
evaluation. BoTorch sees what our surrogates see,
numbers from 0 to 1 and categories as one-hot columns, learns the logarithm of the epoch, begins with ten random plans and
takes the best of 1,000 random feasible plans by logarithmic expected improvement.
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
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    dimensions = server.ask({"describe": True})["dimensions"]
    sampler = optuna.samplers.TPESampler(
        seed=seed, multivariate=True, group=True, constraints_func=lambda trial: [trial.user_attrs["violation"]]
    )
    study = optuna.create_study(sampler=sampler)
    worst_s = 1.0
    for _ in range(50 * count.budget):
        if count.is_over():
            break
        trial = study.ask()
        point = []
        for dimension in dimensions:
            path, last = dimension["path"], dimension["values"] - 1
            if last == 0:
                point.append(0)
            elif dimension["category"]:
                point.append(trial.suggest_categorical(path, list(range(last + 1))))
            else:
                point.append(trial.suggest_int(path, 0, last))
        answer = server.ask({"evaluate": point})
        trial.set_user_attr("violation", 1.0 if answer is None else -1.0)
        if answer is not None:
            worst_s = max(worst_s, answer["epoch_s"])
            count.add(answer["epoch_s"])
        study.tell(trial, worst_s if answer is None else answer["epoch_s"])


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
