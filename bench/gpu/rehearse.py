#!/usr/bin/env python3
"""Stands in for programs that need a GPU while bench/gpu/run.sh is rehearsed without one: each writes files of the same names and
formats, with figures that are none.

    bench/gpu/rehearse.py bench_gpu|ncu|compute-sanitizer|nvidia-smi ARGUMENTS…

bench_gpu: its own benchmarks, by the names that the real one in the kit lists, each with the figure 1. compute-sanitizer: only
runs the program. ncu: a report without kernels. nvidia-smi: says that this is a rehearsal.
"""

import json
import subprocess
import sys
from pathlib import Path

REAL = Path(__file__).resolve().parent / "bin/bench_gpu"
# One benchmark a kind, where the kit has no bench_gpu.
KNOWN = ["copy_to_device/real_time", "copy_within_device/real_time",
         *(f"gather/over_link:{place}/row_bytes:512/share:100/shifted:1/real_time" for place in (0, 1)),
         *(f"gather_table/row_bytes:256/table_mib:64/by_place:{by_place}/real_time" for by_place in (0, 1)),
         *(f"sample/over_link:{place}/scale:{scale}/batch:1024/real_time" for place in (0, 1) for scale in (20, 22))]


def argument(arguments, name):
    return next((word.removeprefix(f"{name}=") for word in arguments if word.startswith(f"{name}=")), "")


def bench_gpu(arguments):
    names = KNOWN
    if REAL.exists():
        listed = subprocess.run([REAL, "--benchmark_list_tests", *arguments], stdout=subprocess.PIPE, text=True, check=True)
        names = listed.stdout.split()
    document = {"context": {"rehearsal": True}, "benchmarks": [
        {"name": name, "run_name": name, "run_type": "iteration", "repetition_index": repetition, "real_time": 1.0, "time_unit": "ns",
         "edges_per_s" if name.startswith("sample") else "bytes_per_second": 1.0} for name in names for repetition in range(3)]}
    Path(argument(arguments, "--benchmark_out")).write_text(json.dumps(document, indent=1))
    print(f"rehearsal: {len(names)} benchmarks")


def after(arguments, name):
    return arguments[arguments.index(name) + 1]


def ncu(arguments):
    if "--import" in arguments:
        print('"ID","Kernel Name"' if Path(after(arguments, "--import")).exists() else "no report")
        return
    Path(f"{after(arguments, '-o')}.ncu-rep").write_text("rehearsal\n")
    program = next(i for i, word in enumerate(arguments) if word.endswith("/gnomon"))
    subprocess.run(arguments[program:], check=True)


def compute_sanitizer(arguments):
    program = next(i for i, word in enumerate(arguments) if "/test_" in word)
    subprocess.run(arguments[program:], check=True)


def nvidia_smi(arguments):
    print("rehearsal: no GPU", *arguments)


if __name__ == "__main__":
    {"bench_gpu": bench_gpu, "ncu": ncu, "compute-sanitizer": compute_sanitizer, "nvidia-smi": nvidia_smi}[sys.argv[1]](sys.argv[2:])
