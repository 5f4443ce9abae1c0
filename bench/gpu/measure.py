#!/usr/bin/env python3
"""Turns what a GPU does into rows of bench/results/gpu.json (rows.py), adding to those that are there, one after the other.

    bench/gpu/measure.py kernels --bench bench_gpu.json --output gpu.json
    bench/gpu/measure.py launches --gnomon bin/gnomon --store STORE --counted launches.json --calls lib/libgnomon_cuda_calls.so
        --output gpu.json
    bench/gpu/measure.py times --gnomon bin/gnomon --store STORE --times kernel_times.json --epochs 2 --output gpu.json
    bench/gpu/measure.py presets|autotune|predictions|graphs|shares|cores --gnomon bin/gnomon --store STORE [--device gpu] [--memory 1]
        [--seconds 240] [--epoch-seconds 40] --output gpu.json
    bench/gpu/measure.py check --output gpu.json

kernels: gathering rows beside copies, and sampling, from the output of bench_gpu, which may break off anywhere. launches: kernels,
copies and fills that the host starts for a mini-batch, and its waits, counted in CUDA's driver beside what tests/launches counts;
each without and with recorded steps (plan field "graphs"). times: what each kernel takes of a mini-batch, of a training that
libgnomon_cuda_kernels.so has timed. presets: every preset, with a share of the memory that the graph, its
features and half a GiB take; what an earlier run has measured stays. autotune: the plan of `gnomon autotune` beside the best of
them, and the evaluation after its last epoch. predictions: those of a new profile beside the presets' epochs. shares: presets that
prepare beside training, with other shares of the GPU for it. cores: predictions from a profile on two cores beside epochs on 2, 4, 8
and 16. graphs: the fastest preset that goes with recorded steps. An epoch is the
median of three after the first one of a process that evaluates nothing; with recorded steps after the second, in which they are
recorded. What gnomon prints is kept in the folder documents beside the record. check: whether the
record is whole. Whatever cannot be measured gives a row that tells why.
"""

import argparse
import json
import sys
from pathlib import Path

import bench_rows
import cores
import epochs
import kernel_times
import launches
from rows import Rows, problems_of

ADD = {"presets": epochs.add_presets, "autotune": epochs.add_autotune, "predictions": epochs.add_predictions,
       "graphs": epochs.add_graphs, "shares": epochs.add_shares, "cores": cores.add_rows, "launches": launches.add_rows, "times": kernel_times.add_rows}


def check(path):
    problems = list(problems_of(json.loads(path.read_text())))
    print("\n".join(problems) or f"{path}: whole")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kernels", *ADD, "check"])
    parser.add_argument("--bench", type=Path)
    parser.add_argument("--counted", type=Path, help="the JSON of tests/launches")
    parser.add_argument("--calls", type=Path, help="the library that counts calls of CUDA's driver")
    parser.add_argument("--gnomon", type=Path)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--memory", type=float, default=1.0)
    parser.add_argument("--plans", type=lambda text: text.split(","), help="presets instead of all")
    parser.add_argument("--turns", type=int, default=3, help="processes of autotune's plan and of the best preset, taking turns")
    parser.add_argument("--times", type=Path, help="what the library that times kernels has written")
    parser.add_argument("--epochs", type=int, default=2, help="of the training whose kernels were timed")
    parser.add_argument("--profile-seconds", type=float, default=10, help="for measuring a profile")
    parser.add_argument("--epoch-seconds", type=float, default=40, help="after which a training is given up")
    parser.add_argument("--seconds", type=float, default=240, help="after which no further row is begun")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--copy", type=Path, action="append", default=[], help="written as --output is")
    options = parser.parse_args()
    if options.what == "check":
        return check(options.output)
    rows = Rows(options.output, *options.copy)
    if options.what == "kernels":
        bench_rows.add_rows(options.bench, rows)
        return 0
    epochs.limit_time(options)
    options.work = options.output.parent / "work"
    options.work.mkdir(parents=True, exist_ok=True)
    ADD[options.what](options, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
