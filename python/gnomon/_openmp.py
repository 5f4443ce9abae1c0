"""The OpenMP runtime that torch computes with."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def parallel_of_openmp() -> ctypes.c_void_p | None:
    """Return GOMP_parallel of torch's OpenMP runtime, whose threads can then be shared; None if it has none."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    paths = {line.split()[-1] for line in maps if "/" in line}
    for path in sorted(each for each in paths if "omp" in Path(each).name and "torch" in each):
        try:
            return ctypes.cast(ctypes.CDLL(path).GOMP_parallel, ctypes.c_void_p)
        except (AttributeError, OSError):
            continue
    return None
