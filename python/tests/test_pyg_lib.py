"""The distribution of our samples against that of pyg-lib's.

GNOMON_PYG_LIB is its library, as bench/compare_python.py compiles it into build/peers; without it there is nothing to
compare with.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import torch

from conftest import random_data
from gnomon.pyg import NeighborLoader
from reference import chi_square_p

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = Path(os.environ.get("GNOMON_PYG_LIB", ROOT / "build/peers/pyg_lib.so"))
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not LIBRARY.exists(), reason="no library of pyg-lib")]

SAMPLES = 6000
CASES = {
    "two hops": {"num_neighbors": [2, 2]},
    "all of the first hop": {"num_neighbors": [-1, 1]},
    "with replacement": {"num_neighbors": [2, 1], "replace": True},
    "disjoint": {"num_neighbors": [2, 1], "disjoint": True},
    "by weight": {"num_neighbors": [2, 1], "weight_attr": "edge_weight"},
    "by weight, with replacement": {"num_neighbors": [2, 1], "weight_attr": "edge_weight", "replace": True},
}
_THEIRS = """
import json, sys
sys.path[:0] = [{tests!r}, {peers!r}]
from pyg_sampler import use_pyg_lib
use_pyg_lib({library!r})
import torch
from torch_geometric.loader import NeighborLoader
from test_pyg_lib import CASES, hop_sizes, samples
torch.manual_seed(5)
found = {{name: [[list(key), count] for key, count in samples(NeighborLoader, case).items()] for name, case in CASES.items()}}
print(json.dumps({{"samples": found, "sizes": hop_sizes(NeighborLoader)}}))
"""


def samples(loader_class, case, **options) -> Counter:
    """Count the sets of edges that are sampled for two nodes of a small graph."""
    small = random_data(12, 40, seed=3)
    loader = loader_class(small, input_nodes=torch.tensor([0, 5] * SAMPLES), batch_size=2, **case, **options)
    return Counter(tuple(sorted(batch.e_id.tolist())) for batch in loader)


def hop_sizes(loader_class, **options) -> list[list[int]]:
    """Nodes and edges of each hop, of batches of a large graph."""
    large = random_data(20000, 200000, seed=8)
    loader = loader_class(large, [8, 6, 4], batch_size=100, shuffle=True, **options)
    return [batch.num_sampled_nodes + batch.num_sampled_edges for batch in loader]


@pytest.fixture(scope="module")
def theirs():
    """What pyg-lib samples, in a process whose PyG finds it."""
    folders = {"tests": str(ROOT / "python/tests"), "peers": str(ROOT / "bench/peers"), "library": str(LIBRARY)}
    program = [sys.executable, "-W", "ignore", "-c", _THEIRS.format(**folders)]
    done = subprocess.run(program, check=False, capture_output=True, text=True)
    if "undefined symbol" in done.stderr:
        pytest.skip("pyg-lib was compiled for another torch")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", list(CASES))
def test_samples_are_distributed_as_theirs(theirs, name):
    expected = Counter({tuple(edges): count for edges, count in theirs["samples"][name]})
    observed = samples(NeighborLoader, CASES[name], num_workers=1, seed=7)
    assert sum(expected.values()) == sum(observed.values()) == SAMPLES
    assert len(expected) > 5
    assert chi_square_p(observed, expected) > 1e-3


def test_hops_are_as_large_as_theirs(theirs):
    expected = torch.tensor(theirs["sizes"]).double()
    observed = torch.tensor(hop_sizes(NeighborLoader, num_workers=1, seed=4)).double()
    spread = (observed.var(0) / len(observed) + expected.var(0) / len(expected)).sqrt()
    assert bool(((observed.mean(0) - expected.mean(0)).abs() <= 4 * spread + 1e-9).all())
