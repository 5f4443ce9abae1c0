#!/usr/bin/env python3
"""Compares vertex orders (`gnomon import --reorder`) in mini-batch preparation: sampled edges per second with and without
gathering 128 fp16 features, batches of 1,024. Writes bench/results/compare_orders.json.

    bench/compare_orders.py [--build build/release] [--graphs rmat20,planted,slashdot,twitter] [--threads 1,2]
        [--rounds 5] [--seconds 0.4] [--output FILE] [--merge]

All orders have the same graph; seeds are drawn for each order. Orders alternate within a second, so that other load on the
machine affects all of them equally. Stores under build/orders are reused. --merge keeps the rows of an existing record that this
run does not measure.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "peers"))
from harness import Peer, origin, spread, store_in_order  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
ORDERS = ["none", "degree", "rcm"]
FANOUTS = [[15, 10, 5], [10, 10]]


def rows_of(options, graph):
    program = options.build / "bench/bench_peer"
    stores = [store_in_order(options.build, ROOT / "build/orders", options.data, graph, order) for order in ORDERS]
    peers = {order: Peer([program, "serve", store], 1) for order, store in zip(ORDERS, stores)}
    for threads in options.threads:
        for fanouts in FANOUTS:
            for gather in [False, True]:
                request = {"fanouts": fanouts, "gather": gather, "threads": threads, "seconds": options.seconds}
                rates = {order: [] for order in ORDERS}
                for _ in range(options.rounds):
                    for order, peer in peers.items():
                        answer = peer.ask(request)
                        rates[order].append(answer["edges"] / answer["seconds"])
                gain = {order: spread([a / b for a, b in zip(rates[order], rates["none"])]) for order in ORDERS[1:]}
                row = {"graph": graph, "fanouts": fanouts, "threads": threads, "stage": "sample_gather" if gather else "sample"}
                yield row | {"edges_per_s": {order: spread(r) for order, r in rates.items()}, "over_none": gain}
    for peer in peers.values():
        peer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data")
    parser.add_argument("--graphs", type=lambda text: text.split(","), default=["rmat20", "planted", "slashdot", "twitter"])
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/compare_orders.json")
    parser.add_argument("--merge", action="store_true")
    options = parser.parse_args()
    rows = json.loads(options.output.read_text())["rows"] if options.merge and options.output.exists() else []
    for graph in options.graphs:
        rows = [row for row in rows if row["graph"] != graph]
        for row in rows_of(options, graph):
            gains = ", ".join(f"{order} {gain[0]:.2f} x" for order, gain in row["over_none"].items())
            print(row["graph"], row["fanouts"], row["stage"], row["threads"], gains, flush=True)
            rows.append(row)
    command = "bench/compare_orders.py --graphs " + ",".join(dict.fromkeys(row["graph"] for row in rows))
    command += f" --rounds {options.rounds} --seconds {options.seconds}"
    document = {"schema": "gnomon.compare_orders/1", **origin(), "command": command, "rows": rows}
    options.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
