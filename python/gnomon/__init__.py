"""gnomon: mini-batches of graph neural networks, prepared by threads in C++.

``gnomon.pyg.NeighborLoader`` stands in for PyTorch Geometric's loader.
"""

from gnomon._library import ForkedError, GnomonError, InvalidInput, library
from gnomon.graph import Store, open
from gnomon.report import Report
from gnomon.tuning import Tuning, autotune

__version__ = library.gnomon_version().decode()

__all__ = ["ForkedError", "GnomonError", "InvalidInput", "Report", "Store", "Tuning", "autotune", "open"]
