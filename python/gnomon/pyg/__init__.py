"""Drop-in replacements for PyTorch Geometric's loaders."""

from gnomon.pyg.link_loader import LinkNeighborLoader
from gnomon.pyg.node_loader import NeighborLoader
from gnomon.pyg.sampler import Sampler

__all__ = ["LinkNeighborLoader", "NeighborLoader", "Sampler"]
