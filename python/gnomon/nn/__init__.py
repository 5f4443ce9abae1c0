"""Layers of graph neural networks on gnomon's sparse kernels, for CPUs.

They have the parameters of PyTorch Geometric's layers of the same names and give the same results; options that they
lack are errors that name the option. On the blocks of a
batch (:func:`blocks_of`) each layer computes only what the next one reads.
"""

from gnomon.nn.block import Block, blocks_of
from gnomon.nn.gat import GATConv
from gnomon.nn.gcn import GCNConv
from gnomon.nn.model import Model
from gnomon.nn.sage import SAGEConv
from gnomon.nn.stored import StoredRows

__all__ = ["Block", "GATConv", "GCNConv", "Model", "SAGEConv", "StoredRows", "blocks_of"]
