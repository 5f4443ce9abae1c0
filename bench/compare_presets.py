#!/usr/bin/env python3
"""Are gnomon's plans as fast as the best preset? Real epochs of every preset that this machine runs, of the plan that
`gnomon profile` and `gnomon tune` lead to ("tuned": by prediction alone) and of the one that `gnomon autotune` ends with
("autotuned": verified by real runs), on three graphs of different shape. Writes bench/results/compare_presets.json.

    bench/compare_presets.py [--build build/release] [--data ../shared/data] [--graphs planted,rmat,slashdot]
        [--rounds 3] [--time-limit 8] [--epochs 10] [--output FILE]

Each epoch is the second one of a process of its own, as the first pays for its memory; plans take turns, so that a noisy
neighbour meets all; the medians count. GraphSAGE, batches of 1,024; autotune verifies plans within a training of so many
epochs. Stores are made under build/presets and kept; rows of other graphs that FILE holds stay.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import FILES, machine, spread  # noqa: E402

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


def measure(options, name):
    store, job = make_store(options, name), GRAPHS[name]["job"]
    profile, tuned = ROOT / f"build/presets/{name}.profile.json", ROOT / f"build/presets/{name}.plan.json"
    begin = time.monotonic()
    gnomon(options, "profile", store, *job, "-o", profile, "--time-limit", options.time_limit)
    gnomon(options, "tune", profile, "-o", tuned)
    search_s = time.monotonic() - begin
    presets = sorted(path.stem for path in (ROOT / "plan/presets").glob("*.json"))
    epochs = {plan: [] for plan in presets if train(options, store, job, plan, 1) is not None}
    verified = autotune(options, store, job)
    epochs |= {"tuned": [], "autotuned": []}
    plans = {"tuned": tuned, "autotuned": verified}
    for _ in range(options.rounds):
        for plan in epochs:
            document = train(options, store, job, plans.get(plan, plan), 2)
            epochs[plan].append(document["epochs"][1]["epoch_s"])
    seconds = {plan: spread(values) for plan, values in epochs.items()}
    best = min((plan for plan in seconds if plan not in plans), key=lambda plan: seconds[plan][0])
    return {
        "graph": name,
        "job": job,
        "profile_and_tune_s": search_s,
        "plans": {plan: json.loads(file.read_text()) for plan, file in plans.items()},
        "epoch_s": seconds,
        "best_preset": best,
        "over_best_preset": {plan: seconds[plan][0] / seconds[best][0] for plan in plans},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=list(GRAPHS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=8)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_presets.json")
    options = parser.parse_args()
    rows = json.loads(options.output.read_text())["rows"] if options.output.exists() else []
    for name in options.graphs:
        rows = [row for row in rows if row["graph"] != name]
        rows.append(measure(options, name))
        print(json.dumps(rows[-1]), file=sys.stderr)
        document = {"schema": "gnomon.compare_presets/1", "machine": machine(), "notes": __doc__.strip(), "rows": rows}
        options.output.parent.mkdir(parents=True, exist_ok=True)
        temporary = options.output.with_suffix(".tmp")
        temporary.write_text(json.dumps(document, indent=1) + "\n")
        temporary.replace(options.output)


main()
