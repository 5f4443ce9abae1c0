#!/usr/bin/env python3
"""Measures what earlier runs teach later predictions: each of ten real graphs is profiled as briefly as `gnomon autotune` does, for
three models, and `gnomon validate` runs plans. Their stage times, measured over predicted, are the history from which
`gnomon history` learns corrections by cross-validation: whole graphs are held out. Writes bench/results/lessons.json, with the
root mean square errors of the logarithm of each stage's time in held-out runs as predicted ("error_before") and as corrected
("error_after"), and whether predictions use the correction ("helps").

    bench/lessons.py [--build build/release] [--data ../shared/data] [--graphs cora,tolokers] [--learn-again] [--output FILE]

The history is kept in build/history_cache, which is removed first; with --learn-again it is learned from as it is. The number and
depth of the trees were chosen by these rows. Stores under build/first_contact are reused."""

import json
import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "bench/peers"))
import first_contact  # noqa: E402
from harness import gnomon, origin, write_record  # noqa: E402

MODELS = ["sage", "gcn", "gat"]
PLANS = "device,gnomon,salient,dgl,pyg"
TIME_LIMIT_S = 3  # of a profile
ROUNDS = 8


def run_graph(options, name):
    store = first_contact.make_store(options, name)
    job = dict(zip(first_contact.GRAPHS[name][2][::2], first_contact.GRAPHS[name][2][1::2]))
    for model in MODELS:
        profile = ROOT / "build/first_contact" / f"{name}.{model}.history.json"
        flags = [text for flag in (job | {"--model": model}).items() for text in flag]
        gnomon(options, "profile", store, *flags, "--time-limit", TIME_LIMIT_S, "-o", profile)
        gnomon(options, "validate", store, profile, "--plans", PLANS, "--only-times", "--epochs", ROUNDS)


def main():
    parser = first_contact.parser_of(__doc__, "lessons.json")
    parser.add_argument("--learn-again", action="store_true")
    options = parser.parse_args()
    cache = ROOT / "build/history_cache"
    os.environ |= {"GNOMON_CACHE": str(cache), "GNOMON_HISTORY": "on"}
    if not options.learn_again:
        shutil.rmtree(cache, ignore_errors=True)
        for name in options.graphs:
            run_graph(options, name)
            print(name, file=sys.stderr)
    learned = json.loads(gnomon(options, "history", "--json"))
    document = {"schema": "gnomon.lessons/1", **origin(), "notes": __doc__.strip(), "devices": learned["devices"]}
    write_record(options.output, document)
    print(json.dumps(learned["devices"], indent=1))


if __name__ == "__main__":
    main()
