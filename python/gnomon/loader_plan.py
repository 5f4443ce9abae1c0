"""How a loader prepares its batches."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class LoaderPlan:
    """How batches are prepared, which does not change them.

    Attributes
    ----------
    workers : int
        Threads that prepare batches ahead; 0: the caller prepares them.
    threads_per_batch : int
        Threads that share the work of each batch.
    prefetch_factor : int
        Batches for each worker that may be prepared or under way.
    pinned : bool
        Whether each thread stays on one core.
    spread : bool
        Whether graph and features lie on all NUMA nodes in turn.
    cached_rows : int
        Rows of ``x`` that the device keeps, of the nodes that batches have most often.
    """

    workers: int
    threads_per_batch: int = 1
    prefetch_factor: int = 2
    pinned: bool = False
    spread: bool = False
    cached_rows: int = 0
