"""PyG with the neighbour sampler of pyg-lib or of torch-sparse alone."""

import sys
import types

import torch


def use_pyg_lib(library):
    """What the package pyg_lib tells PyG when it is imported; its sampler is all that was compiled."""
    torch.ops.load_library(library)
    package = types.ModuleType("pyg_lib")
    package.ops = types.SimpleNamespace()
    package.sampler = types.SimpleNamespace(neighbor_sample=lambda edge_time=None, edge_weight=None: None)
    sys.modules["pyg_lib"] = package


def use_torch_sparse(library):
    """Lets PyG call the sampler of torch-sparse; imports PyG."""
    torch.ops.load_library(library)
    import torch_geometric.typing
    torch_geometric.typing.WITH_TORCH_SPARSE = True
