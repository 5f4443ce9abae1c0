"""Import and generate graph stores."""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

from gnomon._graph_arrays import GraphArrays
from gnomon._library import InvalidInput
from gnomon._program import Progress, in_keywords, run
from gnomon._read_graphbolt import metadata_of, read_graphbolt
from gnomon._read_pyg import read_data
from gnomon.graph import Store


def import_graph(
    source: Any,
    store: str | os.PathLike[str],
    format: str = "auto",
    progress: Progress | None = None,
    **options: Any,
) -> Store:
    """Write a graph store.

    Warns of attributes that are not imported, of a split that is drawn at random because the source has none, and of
    how else the source was interpreted.

    Parameters
    ----------
    source : path, Data or data set
        A file or directory that ``gnomon import`` reads (.npz, a data set of the Open Graph Benchmark or of
        GraphSAINT, Matrix Market, edge lists), a directory with GraphBolt's ``metadata.yaml``, a
        ``torch_geometric.data.Data``, or a data set of PyTorch Geometric or of ``ogb`` with one such graph. The
        split is that of the data set's ``get_idx_split()``, of ``train_mask``, ``val_mask``, ``test_mask``, or
        of the ids in ``train_idx``, ``val_idx`` or ``valid_idx``, ``test_idx``; a set that is missing beside a
        training set is empty.
    store : path
        The directory to create.
    format : str, optional
        ``"npz"``, ``"ogb"``, ``"graphsaint"``, ``"mtx"``, ``"edges"``, ``"graphbolt"`` or ``"auto"``. For files only.
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.
    **options
        Those of ``gnomon import --help``, with underscores: ``undirected=True``, ``edge_weights="given"``.

    Returns
    -------
    Store

    Raises
    ------
    gnomon.InvalidInput
        If the input cannot be read, or an option would have no effect.

    Examples
    --------
    >>> store = gnomon.import_graph(Planetoid("data", "Cora"), "stores/cora", undirected=True)
    """
    target = Path(store)
    arrays = _read(source, format, options)
    if arrays is None:
        document = run("import", [format, Path(source), target], options, progress)
    else:
        document = _write(arrays, target, options, progress)
    for note in [*(arrays.notes if arrays else ()), *map(in_keywords, document["notes"])]:
        warnings.warn(note, stacklevel=2)
    return Store(target)


def _read(source: Any, format: str, options: dict[str, Any]) -> GraphArrays | None:
    """Return the graph of a source that the program does not read itself, otherwise None."""
    if isinstance(source, (str, os.PathLike)):
        metadata = metadata_of(Path(source))
        return read_graphbolt(metadata) if format == "graphbolt" or (format == "auto" and metadata.is_file()) else None
    if format != "auto":
        raise InvalidInput(f"format: {format!r} is for files only; leave it out")
    return read_data(source, takes_weights=options.get("edge_weights") == "given")


def _write(arrays: GraphArrays, target: Path, options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    """Write the store and return its description."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".import-", dir=target.parent) as folder:
        file = Path(folder) / "graph.npz"
        arrays.save(file)
        return run("import", ["npz", file, target], {"name": arrays.name, **options}, progress)


def generate(kind: str, store: str | os.PathLike[str], progress: Progress | None = None, **options: Any) -> Store:
    """Write the store of a random graph.

    Parameters
    ----------
    kind : str
        ``"sbm"`` (learnable classes) or ``"rmat"`` (hubs, for measuring speed).
    store : path
        The directory to create.
    progress : callable, optional
        Called with the step, its finished and total items; an exception cancels and is raised again.
    **options
        Those of ``gnomon generate KIND --help``, with underscores: ``vertices=10000``, ``classes=8``.

    Returns
    -------
    Store
    """
    run("generate", [kind, Path(store)], options, progress)
    return Store(store)
