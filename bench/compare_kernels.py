#!/usr/bin/env python3
"""Compares gnomon's sparse CPU kernels with those of DGL and torch.sparse in one run: the same sampled blocks of an R-MAT
graph of 2^20 vertices, forward and backward, medians and ranges. Writes bench/results/compare_kernels.json.

    bench/compare_kernels.py [--build build/release] [--peers build/peers] [--output FILE]
        [--threads 1,2] [--columns 64,128,256] [--operations ...] [--rounds 3] [--repeats 5] [--merge]

The first run installs the peers into their own virtual environments (1.5 GB). --merge keeps the rows of an existing record
that this run does not measure.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import dgl_environment, origin, pyg_environment, spread, start  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
BATCHES = {"3hops": [15, 10, 5], "2hops": [10, 10]}
DIRECTIONS = {
    "spmm_sum": ["forward", "backward"],
    "spmm_mean": ["forward", "backward", "first_backward"],
    "spmm_scaled": ["forward", "backward"],
    "spmm_weighted": ["forward", "backward"],
    "sddmm_dot": ["forward"],
    "fused_mean": ["forward"],
    "sddmm_add": ["forward", "backward"],
    "edge_softmax": ["forward", "backward"],
}
NO_COLUMNS = {"sddmm_add", "edge_softmax"}  # a value a head


def measure(peers, request, rounds):
    """Alternates between the peers in every round; returns the median, minimum and maximum of the rounds' medians."""
    medians = {name: [] for name in peers}
    notes = {}
    for _ in range(rounds):
        for name, peer in peers.items():
            answer = peer.ask(request)
            if "error" in answer:
                notes[name] = answer["error"]
            else:
                medians[name].append(statistics.median(answer["seconds"]))
    row = {"seconds": {name: spread(values) for name, values in medians.items() if values}}
    ours = row["seconds"]["gnomon"][0]
    row["times_faster_than"] = {
        name: round(values[0] / ours, 3) for name, values in row["seconds"].items() if name != "gnomon"
    }
    return row | ({"not_measured": notes} if notes else {})


def requests(options):
    for operation in options.operations:
        for batch in BATCHES:
            for columns in [4] if operation in NO_COLUMNS else options.columns:
                for direction in DIRECTIONS[operation]:
                    yield {"operation": operation, "batch": batch, "columns": columns, "direction": direction}


def run(options, commands):
    rows = []
    for threads in options.threads:
        peers = {name: start(name, command, threads) for name, command in commands.items()}
        for request in requests(options):
            asked = request | {"threads": threads, "repeats": options.repeats}
            row = {k: v for k, v in request.items() if k != "batch"}
            row |= {"graph": "rmat20", "fanouts": BATCHES[request["batch"]], "threads": threads}
            rows.append(row | measure(peers, asked, options.rounds))
            times = ", ".join(f"{n} {v[0] * 1e3:.2f} ms" for n, v in rows[-1]["seconds"].items())
            print(f"{threads} threads, {request['operation']} {request['direction']}, {row['fanouts']}, "
                  f"{request['columns']} columns: {times}; {rows[-1]['times_faster_than']}", file=sys.stderr)
        for peer in peers.values():
            peer.close()
    return rows


def key(row):
    return tuple(json.dumps(row[k]) for k in ("operation", "direction", "fanouts", "columns", "threads"))


def main():
    split = lambda kind: lambda text: [kind(part) for part in text.split(",")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_kernels.json")
    parser.add_argument("--threads", type=split(int), default=[1, 2])
    parser.add_argument("--columns", type=split(int), default=[64, 128, 256])
    parser.add_argument("--operations", type=split(str), default=list(DIRECTIONS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--merge", action="store_true")
    options = parser.parse_args()

    program = options.build / "bench/bench_kernels_peer"
    pythons = {"dgl": dgl_environment(options.peers), "torch_sparse": pyg_environment(options.peers)}
    blocks = options.peers / "blocks"
    if not blocks.exists():
        subprocess.run([program, "blocks", blocks], check=True)
    script = ROOT / "bench/peers/kernels.py"
    commands = {"gnomon": [program, "serve", blocks]}
    commands |= {name: [python, script, name, blocks] for name, python in pythons.items()}
    rows = run(options, commands)
    if options.merge and options.output.exists():
        measured = {key(row) for row in rows}
        before = json.loads(options.output.read_text())["rows"]
        rows = [row for row in before if key(row) not in measured] + rows
    result = {
        "schema": "gnomon.compare_kernels/1",
        **origin(),
        "peers": {"dgl": "2.1.0 (torch 2.2.1)", "torch_sparse": "torch 2.11.0"},
        "about": "Seconds over all blocks of one batch of 1,024 seeds (fused_mean: the outermost block, from a "
        "table of 2^20 fp16 rows, gathering included; the peers gather and convert first). [median, least, most] of "
        "the rounds' medians. first_backward includes making the transposed block. spmm_weighted: 4 heads; "
        "torch_sparse gives no gradient by the weights there.",
        "rows": sorted(rows, key=key),
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + "\n")


main()
