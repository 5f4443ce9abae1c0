#!/usr/bin/env python3
"""Compares two builds of gnomon in one run: whether every runnable plan yields the same weights, and how fast mini-batch
preparation and training are. Writes bench/results/compare_builds.json.

    bench/compare_builds.py BEFORE AFTER [--output FILE] [--work DIR] [--rounds 5] [--threads 1,2]

BEFORE and AFTER are build directories (with bin/gnomon, bench/bench_peer and bench/bench_training_peer). The two builds
alternate within seconds; a ratio is the median over the rounds of after / before within a round.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import Peer, origin, spread, start, write_record  # noqa: E402

PLANS = ["device", "dgl", "dgl-uva", "gnomon", "ns-mem", "pyg", "salient"]
WRITTEN_PLANS = {
    "fused": {"schedule": "sequential", "route": "device", "fused": True},
    "trainer gathers": {"schedule": "pipelined", "route": "cpu", "gather": "trainer"},
    "several threads": {"schedule": "pipelined", "route": "cpu", "workers": 1, "worker_threads": 2, "device_threads": 2},
    "biased": {
        "schedule": "pipelined",
        "route": "cpu",
        "exact": False,
        "bias": 8,
        "cache": {"policy": "out_degree", "budget": 0.1},
    },
}
JOBS = {f"{model}, dropout {dropout}": ["--model", model, "--dropout", dropout] for model in ("sage", "gcn", "gat") for dropout in ("0.5", "0")}
JOBS["sage, medium precision"] = ["--model", "sage", "--matmul-precision", "medium"]
TRAINING = {"fanouts": [15, 10, 5], "hidden": 256, "setting": "device"}
Row = dict[str, object]


def run(*command: object) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def weights_hash(build: Path, store: Path, plan: object, job: list[str], runs: Path) -> str:
    flags = ["--fanouts", "5,4", "--batch-size", 256, "--hidden", 32, "--epochs", 2, "--seed", 5, "--json"]
    directory = runs / f"{len(list(runs.iterdir()))}"
    answer = json.loads(run(build / "bin/gnomon", "train", store, "--plan", plan, *job, *flags, "--run", directory))
    return answer["weights_hash"]


def weights_rows(builds: dict[str, Path], work: Path) -> list[Row]:
    """The hash of the final weights of every plan and job, by either build."""
    store = work / "sbm"
    if not store.exists():
        run(builds["before"] / "bin/gnomon", "generate", "sbm", store, "--vertices", 6000, "--classes", 5, "--seed", 3)
    plans: dict[str, object] = {name: name for name in PLANS}
    for name, fields in WRITTEN_PLANS.items():
        path = work / f"{name.replace(' ', '_')}.json"
        path.write_text(json.dumps({"schema": "gnomon.plan/1", "name": name, **fields}))
        plans[name] = path
    runs = work / "runs"
    runs.mkdir(exist_ok=True)
    rows = []
    for plan, given in plans.items():
        for job, flags in JOBS.items():
            hashes = {name: weights_hash(build, store, given, flags, runs) for name, build in builds.items()}
            rows.append({"what": "weights", "plan": plan, "job": job, **hashes, "equal": len(set(hashes.values())) == 1})
    return rows


def take_turns(measure: dict[str, Callable[[], float]], rounds: int) -> Row:
    """Seconds by either build: [median, minimum, maximum] each, and the median of the rounds' ratios."""
    seconds: dict[str, list[float]] = {name: [] for name in measure}
    for number in range(rounds):
        for name in list(measure)[:: -1 if number % 2 else 1]:
            seconds[name].append(measure[name]())
    ratio = statistics.median(after / before for before, after in zip(seconds["before"], seconds["after"]))
    return {**{name: spread(values) for name, values in seconds.items()}, "ratio": ratio}


def preparation_rows(builds: dict[str, Path], work: Path, threads: int, rounds: int) -> list[Row]:
    """Seconds per thousand sampled edges on R-MAT 2^20, without and with the gather of features."""
    graph = work / "rmat20"
    if not graph.exists():
        run(builds["before"] / "bench/bench_peer", "make", "rmat20", graph)
    peers = {name: Peer([build / "bench/bench_peer", "serve", graph], 1) for name, build in builds.items()}

    def seconds(name: str, asked: Row) -> float:
        answer = peers[name].ask(asked)
        return 1000 * answer["seconds"] / answer["edges"]

    rows = []
    for fanouts in [[15, 10, 5], [10, 10]]:
        for gather in (False, True):
            asked: Row = {"fanouts": fanouts, "gather": gather, "by_weight": False, "threads": threads, "seconds": 1.0}
            turns = take_turns({name: lambda name=name: seconds(name, asked) for name in peers}, rounds)
            what = "sample_gather" if gather else "sample"
            rows.append({"what": what, "graph": "rmat20", "fanouts": fanouts, "threads": threads, **turns})
    for peer in peers.values():
        peer.close()
    return rows


def training_row(builds: dict[str, Path], work: Path, threads: int, rounds: int) -> Row:
    """Seconds of an epoch of 20 mini-batches, the second of its process."""
    graph = work / "rmat20_training"
    if not graph.exists():
        shares = ["--train-share", "0.0195", "--valid-share", "0.001"]
        run(builds["before"] / "bin/gnomon", "generate", "rmat", graph, "--scale", "20", *shares)

    def seconds(build: Path) -> float:
        peer = start("gnomon", [build / "bench/bench_training_peer", graph], threads)
        peer.ask(TRAINING | {"threads": threads})
        answer = peer.ask(TRAINING | {"threads": threads})
        peer.close()
        return answer["seconds"]

    turns = take_turns({name: lambda build=build: seconds(build) for name, build in builds.items()}, rounds)
    return {"what": "training_epoch", "graph": "rmat20", "fanouts": TRAINING["fanouts"], "threads": threads, **turns}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_builds.json")
    parser.add_argument("--work", type=Path, default=ROOT / "build/compare_builds")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=lambda text: [int(part) for part in text.split(",")], default=[1, 2])
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    builds = {"before": options.before, "after": options.after}
    rows = weights_rows(builds, options.work)
    for threads in options.threads:
        rows += preparation_rows(builds, options.work, threads, options.rounds)
        rows.append(training_row(builds, options.work, threads, options.rounds))
    document = {"schema": "gnomon.compare_builds/1", **origin(), "rows": rows}
    write_record(options.output, document)
    different = [row for row in rows if row.get("equal") is False]
    print(f"{len(different)} of {len(rows)} rows end with other weights", file=sys.stderr)
    for row in rows:
        if "ratio" in row:
            print(f"{row['what']} {row['fanouts']} threads {row['threads']}: {row['ratio']:.3f}", file=sys.stderr)


main()
