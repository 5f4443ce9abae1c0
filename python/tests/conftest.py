"""Graphs that the tests share."""

from __future__ import annotations

import os
import sys

import pytest
import torch
from torch_geometric.data import Data

os.environ.setdefault("GNOMON_CACHE", "off")  # tests leave the user's stored machines alone


def random_seed(usual: int) -> int:
    """Return the seed of a test's random cases, GNOMON_TEST_SEED if set, and print it (shown if the test fails)."""
    seed = int(os.environ.get("GNOMON_TEST_SEED", usual))
    print(f"random cases of seed {seed}; to repeat them, set GNOMON_TEST_SEED={seed}", file=sys.stderr, flush=True)
    return seed


def random_data(num_nodes: int, num_edges: int, seed: int = 0) -> Data:
    """Return a graph of random edges, some of them repeated, with attributes that name their rows."""
    random = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(0, num_nodes, (2, num_edges), generator=random)
    return Data(
        x=torch.randn(num_nodes, 16, generator=random),
        y=torch.randint(0, 5, (num_nodes,), generator=random),
        edge_index=edge_index,
        edge_attr=torch.arange(num_edges).view(-1, 1).float(),
        edge_weight=torch.rand(num_edges, generator=random) + 0.1,
        train_mask=torch.rand(num_nodes, generator=random) < 0.5,
    )


@pytest.fixture(scope="session")
def data() -> Data:
    return random_data(3000, 40000)
