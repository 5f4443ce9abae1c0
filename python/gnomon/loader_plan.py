"""Settings of a loader that affect its speed only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class LoaderPlan:
    """How a loader prepares its batches. Does not change the batches.

    Attributes
    ----------
    workers : int
        Threads that prepare batches ahead; 0: batches are prepared in the calling thread.
    threads_per_batch : int
        Threads that prepare one batch together.
    prefetch_factor : int
        Maximum number of batches per worker that are ready or being prepared.
    pinned : bool
        Whether each thread is pinned to one core.
    spread : bool
        Whether graph and features are interleaved over all NUMA nodes.
    cached_rows : int
        Number of rows of ``x`` cached on the device: those of the most frequently sampled nodes.
    """

    workers: int
    threads_per_batch: int = 1
    prefetch_factor: int = 2
    pinned: bool = False
    spread: bool = False
    cached_rows: int = 0
