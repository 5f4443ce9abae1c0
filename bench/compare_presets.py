#!/usr/bin/env python3
"""Compares gnomon's plans with the best preset: real epochs of every preset that this machine can run, of the plan that
`gnomon profile` and `gnomon tune` choose ("tuned": by prediction only) and of the one that `gnomon autotune` chooses
("autotuned": verified by real runs), on three graphs of different shape. Writes bench/results/compare_presets.json.

    bench/compare_presets.py [--build build/release] [--data ../shared/data] [--graphs planted,rmat,slashdot]
        [--preset-rounds 3] [--rounds 9] [--time-limit 8] [--epochs 10] [--output FILE]

Each plan runs in processes of its own. The first epoch of a process is a warm-up; the median of the one to six epochs after it
counts, which take about a second together. Plans alternate, so that other load on the machine affects all of them equally. The best
preset is selected in rounds of all presets and then compared in new rounds of the three plans, because the luckiest of several equal
presets would otherwise seem faster than it is. Ratios are within a round. GraphSAGE, batches of 1,024; autotune verifies plans
within a training of --epochs epochs. Stores under build/presets are reused; FILE's rows of other graphs are kept.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import FILES, origin, spread, write_record  # noqa: E402

SHARES = ["--valid-share", "0.001"]
GRAPHS = {
    "planted": {
        "make": ["generate", "sbm", "--train-share", "0.3", *SHARES],
        "job": ["--fanouts", "10,10", "--hidden", "128"],
    },
    "rmat": {
        "make": ["generate", "rmat", "--scale", "19", "--train-share", "0.8", *SHARES],
        "job": ["--fanouts", "15,10,5", "--hidden", "32"],
    },
    "slashdot": {
        "make": ["import", "edges", "slashdot", "--undirected", "--random-features", "64", "--random-classes", "8", *SHARES],
        "job": ["--fanouts", "10,5", "--hidden", "64"],
    },
}


def gnomon(options, *arguments):
    """The JSON that a command prints; nothing when it refuses its input."""
    command = [options.build / "bin/gnomon", *map(str, arguments), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode == 2:
        return None
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return json.loads(done.stdout) if done.stdout.strip() else {}


def make_store(options, name):
    store = ROOT / "build/presets" / name
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        kind, sort, *rest = GRAPHS[name]["make"]
        if kind == "import":
            rest = [options.data / FILES[rest[0]], store, *rest[1:]]
        else:
            rest = [store, *rest]
        subprocess.run([options.build / "bin/gnomon", kind, sort, *rest], check=True, stdout=subprocess.DEVNULL)
    return store


def train(options, store, job, plan, epochs):
    with tempfile.TemporaryDirectory() as directory:
        run = Path(directory) / "run"
        return gnomon(options, "train", store, *job, "--plan", plan, "--epochs", epochs, "--run", run)


def autotune(options, store, job):
    """The plan that is left when some have trained a training's first mini-batches by turns."""
    run = store.with_suffix(".run")
    shutil.rmtree(run, ignore_errors=True)
    gnomon(options, "autotune", store, *job, "--epochs", options.epochs, "--time-limit", options.time_limit, "--run", run)
    return run / "plan.json"


def take_turns(options, store, job, plans, epochs, rounds):
    """What an epoch of each plan takes in each round: the median of a process's epochs but the first."""
    seconds = {name: [] for name in plans}
    for _ in range(rounds):
        for name, plan in plans.items():
            done = train(options, store, job, plan, epochs)["epochs"]
            seconds[name].append(statistics.median(epoch["epoch_s"] for epoch in done[1:]))
    return seconds


def spreads(values):
    return {name: spread(of_rounds) for name, of_rounds in values.items()}


def measure(options, name):
    store, job = make_store(options, name), GRAPHS[name]["job"]
    profile, tuned = ROOT / f"build/presets/{name}.profile.json", ROOT / f"build/presets/{name}.plan.json"
    begin = time.monotonic()
    gnomon(options, "profile", store, *job, "-o", profile, "--time-limit", options.time_limit)
    gnomon(options, "tune", profile, "-o", tuned)
    search_s = time.monotonic() - begin
    plans = {"tuned": tuned, "autotuned": autotune(options, store, job)}
    every = sorted(path.stem for path in (ROOT / "plan/presets").glob("*.json"))
    first = {preset: train(options, store, job, preset, 1) for preset in every}
    presets = {preset: preset for preset, run in first.items() if run is not None}
    epochs = 1 + max(1, min(6, round(1 / min(first[preset]["epochs"][0]["epoch_s"] for preset in presets))))
    preset_s = spreads(take_turns(options, store, job, presets, epochs, options.preset_rounds))
    best = min(preset_s, key=lambda preset: preset_s[preset][0])
    seconds = take_turns(options, store, job, {best: best} | plans, epochs, options.rounds)
    over_best = {plan: [a / b for a, b in zip(seconds[plan], seconds[best])] for plan in plans}
    return {
        "graph": name,
        "job": job,
        "profile_and_tune_s": search_s,
        "plans": {plan: json.loads(file.read_text()) for plan, file in plans.items()},
        "preset_epoch_s": preset_s,
        "best_preset": best,
        "epoch_s": spreads(seconds),
        "over_best_preset": spreads(over_best),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=list(GRAPHS))
    parser.add_argument("--preset-rounds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--time-limit", type=float, default=8)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_presets.json")
    options = parser.parse_args()
    rows = json.loads(options.output.read_text())["rows"] if options.output.exists() else []
    for name in options.graphs:
        rows = [row for row in rows if row["graph"] != name]
        rows.append(measure(options, name))
        print(json.dumps(rows[-1]), file=sys.stderr)
        document = {"schema": "gnomon.compare_presets/1", **origin(), "notes": __doc__.strip(), "rows": rows}
        write_record(options.output, document)


main()
