"""gnomon: mini-batches of graph neural networks, prepared by threads in C++.

``gnomon.pyg.NeighborLoader`` stands in for PyTorch Geometric's loader.
"""

from gnomon._library import Cancelled, ForkedError, GnomonError, InvalidInput, library
from gnomon.graph import Store, open
from gnomon.importing import generate, import_graph
from gnomon.models import load_model
from gnomon.planning import explore, profile, reproduce, tune, validate
from gnomon.records import Records
from gnomon.report import Report
from gnomon.tuning import Tuning, autotune

__version__ = library.gnomon_version().decode()

__all__ = [
    "Cancelled",
    "ForkedError",
    "GnomonError",
    "InvalidInput",
    "Records",
    "Report",
    "Store",
    "Tuning",
    "autotune",
    "explore",
    "generate",
    "import_graph",
    "load_model",
    "open",
    "profile",
    "reproduce",
    "tune",
    "validate",
]
