#!/usr/bin/env python3
"""Prints what ptxas tells of each CUDA kernel as CSV, from the files that the build keeps beside its objects.

    bench/gpu/kernels.py build/release/CMakeFiles/gnomon_kernels_cuda.dir/kernels/cuda/*.ptxas >kernels.csv

The exit code is 1 if a kernel spills registers.
"""

import csv
import re
import subprocess
import sys
from pathlib import Path

ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
# As in cmake/keep_ptxas_info.sh.
INFO = re.compile(r"ptxas info|.*bytes stack frame")


def is_ptxas_info(line):
    """Whether a line of nvcc's output tells of a kernel, rather than complains."""
    return not line.strip() or INFO.match(line) is not None


def rows(path):
    """One row for each kernel and architecture of a file."""
    row = None
    for line in path.read_text().splitlines():
        if found := ENTRY.search(line):
            row = {"file": path.name.split(".")[0], "architecture": found[2], "kernel": found[1]}
        elif row and (found := STACK.search(line)):
            row |= {"stack_bytes": int(found[1]), "spill_stores_bytes": int(found[2]), "spill_loads_bytes": int(found[3])}
        elif row and (found := USED.search(line)):
            yield row | {"registers": int(found[1])}
            row = None


def name_kernels(table):
    """Replaces the symbols of the kernels by their names in C++."""
    names = subprocess.run(["c++filt"], input="\n".join(row["kernel"] for row in table), text=True, capture_output=True, check=True)
    for row, name in zip(table, names.stdout.splitlines()):
        row["kernel"] = name


def main():
    table = [row for name in sys.argv[1:] for row in rows(Path(name))]
    if not table:
        sys.exit("no kernels: " + " ".join(sys.argv[1:]))
    name_kernels(table)
    columns = ["file", "architecture", "registers", "stack_bytes", "spill_stores_bytes", "spill_loads_bytes", "kernel"]
    writer = csv.DictWriter(sys.stdout, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(sorted(table, key=lambda row: (-row["registers"], row["kernel"])))
    spilling = [row["kernel"] for row in table if row["spill_stores_bytes"] or row["spill_loads_bytes"]]
    print(f"{len(table)} kernels, at most {max(row['registers'] for row in table)} registers, {len(spilling)} with spills",
          file=sys.stderr)
    if spilling:
        sys.exit("\n".join(spilling))


if __name__ == "__main__":
    main()
