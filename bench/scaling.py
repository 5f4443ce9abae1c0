#!/usr/bin/env python3
"""Measures how mini-batch preparation scales with threads, compared with memory: random cache lines per second, and sampled
edges per second without and with gathering, each with one thread and with more. Writes bench/results/scaling.json.

    bench/scaling.py [--build build/release] [--graphs rmat20] [--threads 2] [--rounds 9] [--seconds 0.5] [--output FILE]

128 fp16 features per vertex, batches of 1,024. Every round measures everything within seconds; speedups are computed within
a round. Random cache lines scale as far as the memory does (on a rented machine also less, due to other guests):
`over_memorys` is the preparation's speedup divided by that of the cache lines, round by round. `on_core` is the share of
the time in which the threads had a core.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import Peer, origin, spread, store_in_order  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
FANOUTS = [[15, 10, 5], [10, 10]]


def measure(peer, stage, threads, seconds):
    """(per second, share of the time on a core) of a stage: "lines" or (fanouts, gather)."""
    if stage == "lines":
        return peer.ask({"floor": threads})["lines_per_s"], None
    fanouts, gather = stage
    answer = peer.ask({"fanouts": fanouts, "gather": gather, "threads": threads, "seconds": seconds})
    return answer["edges"] / answer["seconds"], answer["cpu_s"] / answer["seconds"] / threads


def row_of(graph, stage, threads, rounds):
    one, more, lines = ([round[key] for round in rounds] for key in [(stage, 1), (stage, threads), ("speedup", "lines")])
    speedups = [round["speedup", stage] for round in rounds]
    row = {"graph": graph, "threads": threads}
    row |= {"stage": "random lines"} if stage == "lines" else {
        "stage": "sample_gather" if stage[1] else "sample", "fanouts": stage[0]}
    row |= {"one_per_s": spread([rate for rate, _ in one]), "more_per_s": spread([rate for rate, _ in more])}
    row |= {"speedup": spread(speedups)}
    if stage != "lines":
        row |= {"over_memorys": spread([a / b for a, b in zip(speedups, lines)])}
        row |= {"on_core": spread([share for _, share in more])}
    return row


def rows_of(options, graph):
    store = store_in_order(options.build, ROOT / "build/orders", options.data, graph, "none")
    peer = Peer([options.build / "bench/bench_peer", "serve", store], 1)
    stages = ["lines"] + [(tuple(fanouts), gather) for fanouts in FANOUTS for gather in [False, True]]
    rounds = []
    for _ in range(options.rounds):
        found = {}
        for stage in stages:
            for threads in [1, options.threads]:
                found[stage, threads] = measure(peer, stage, threads, options.seconds)
            found["speedup", stage] = found[stage, options.threads][0] / found[stage, 1][0]
        rounds.append(found)
    peer.close()
    return [row_of(graph, stage, options.threads, rounds) for stage in stages]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=["rmat20"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/scaling.json")
    options = parser.parse_args()
    rows = [row for graph in options.graphs for row in rows_of(options, graph)]
    for row in rows:
        over = f", {row['over_memorys'][0]:.2f} of memory's" if "over_memorys" in row else ""
        print(row["graph"], row.get("fanouts", ""), row["stage"], f"{row['speedup'][0]:.2f} x{over}")
    command = f"bench/scaling.py --graphs {','.join(options.graphs)} --threads {options.threads} --rounds {options.rounds}"
    document = {"schema": "gnomon.scaling/1", **origin(), "command": command, "rows": rows}
    options.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
