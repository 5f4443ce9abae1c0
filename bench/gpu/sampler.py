#!/usr/bin/env python3
"""Makes a neighbour sampler for PyTorch Geometric on the machine with the GPU, where there is none: that of pyg-lib, else that
of torch-sparse, compiled for any x86-64 processor with AVX2 and for LibTorch's operators, so for any Python. PyPI has no
pyg-lib, and torch-sparse as sources only.

    bench/gpu/sampler.py [--python build/python/bin/python] [--peers build/peers] [--sources DIR] --output FOLDER

Writes FOLDER/pyg_lib.so or FOLDER/torch_sparse.so; the exit code is 1 with the reason on stderr if neither can be made.
--python is one that has the torch of the kit. --sources: a folder with clones of pyg-lib and parallel-hashmap. bench/gpu/pack.sh calls it.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import pyg_lib, torch_sparse  # noqa: E402

PROCESSOR = "x86-64-v3"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, default=ROOT / "build/python/bin/python")
    parser.add_argument("--peers", type=Path, default=ROOT / "build/peers")
    parser.add_argument("--sources", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.peers.mkdir(parents=True, exist_ok=True)
    options.output.mkdir(parents=True, exist_ok=True)
    makers = {"pyg_lib": lambda: pyg_lib(options.peers, options.sources, options.python, PROCESSOR),
              "torch_sparse": lambda: torch_sparse(options.peers, options.python, PROCESSOR)}
    reasons = []
    for name, make in makers.items():
        try:
            shutil.copy(make(), options.output / f"{name}.so")
            return
        except (OSError, StopIteration, subprocess.CalledProcessError) as error:
            reasons.append(f"{name}: {error}")
    sys.exit("bench/gpu/sampler.py: no sampler: " + "; ".join(reasons))


if __name__ == "__main__":
    main()
