"""Writes a store's adjacency lists with 64-bit ids, as pyg-lib's sampler takes them, beside the others.

    python widen_indices.py GRAPH_DIRECTORY
"""

import sys
from pathlib import Path

import numpy as np

EDGES_AT_A_TIME = 1 << 24

store = Path(sys.argv[1])
temporary = store / "indices_i8.tmp"
if not (store / "indices_i8.npy").exists():
    indices = np.load(store / "indices.npy", mmap_mode="r")
    wide = np.lib.format.open_memmap(temporary, "w+", np.int64, indices.shape)
    for begin in range(0, len(indices), EDGES_AT_A_TIME):
        wide[begin : begin + EDGES_AT_A_TIME] = indices[begin : begin + EDGES_AT_A_TIME]
    wide.flush()
    temporary.rename(store / "indices_i8.npy")
