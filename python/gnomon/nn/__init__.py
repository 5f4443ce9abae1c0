"""Layers of graph neural networks on gnomon's sparse kernels, for CPUs.

They have the parameters of PyTorch Geometric's layers of the same names and give the same results. On the blocks of a
batch (:func:`blocks_of`) each layer computes only what the next one reads.
"""

from gnomon.nn.block import Block, blocks_of
from gnomon.nn.layers import GATConv, GCNConv, SAGEConv
from gnomon.nn.stored import StoredRows

__all__ = ["Block", "GATConv", "GCNConv", "SAGEConv", "StoredRows", "blocks_of"]
