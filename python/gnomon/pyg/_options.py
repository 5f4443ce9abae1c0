"""The arguments of torch's DataLoader that loaders accept."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gnomon._library import InvalidInput, library
from gnomon._openmp import parallel_of_openmp

# More threads gain little: they meet several times in each hop.
_MAX_DEFAULT_THREADS = 16

# These say how worker processes live. There are none.
_WITHOUT_EFFECT = (
    "persistent_workers",
    "multiprocessing_context",
    "pin_memory_device",
    "in_order",
    "is_sorted",
    "filter_per_worker",
)


@dataclass
class Options:
    """DataLoader's arguments, checked, and ours."""

    batch_size: int = 1
    shuffle: bool = False
    sampler: Iterable[int] | None = None
    batch_sampler: Iterable[list[int]] | None = None
    num_workers: int = 1
    drop_last: bool = False
    prefetch_factor: int = 2
    pin_memory: bool = False
    timeout: float = 0.0
    seed: int = 0
    expand: str = "once"
    threads_per_batch: int = 1
    has_default_threads: bool = True
    cached_rows: int = 0
    rank: int = 0
    world_size: int = 1
    stored: tuple[str, ...] = ()
    device: torch.device | None = None

    @property
    def sampling_seed(self) -> int:
        """The seed of the draws: of each rank another one; the order of an epoch is of all ranks."""
        return (self.seed + self.rank * 0x9E3779B97F4A7C15) % 2**64


def default_workers() -> int:
    """Return the number of workers if none is given: all physical cores if a GPU trains, else half of them."""
    cores = library.gnomon_physical_cores()
    return min(cores, 8) if torch.cuda.is_available() else max(min(cores // 2, 8), 1)


def default_threads(workers: int) -> int:
    """Return the number of threads per batch if none is given: those of torch, idle meanwhile, if the caller prepares."""
    if workers > 0 or parallel_of_openmp() is None:
        return 1
    return min(torch.get_num_threads(), _MAX_DEFAULT_THREADS)


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Return the value, also one of NumPy or torch, as an int. Raises InvalidInput, naming ``name``."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise InvalidInput(f"{name}: must be an integer from {low} to {high}, not {value!r}")
    return number


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, int, np.bool_)):
        raise InvalidInput(f"{name}: must be True or False, not {value!r}")
    return bool(value)


def _device(value: Any) -> torch.device | None:
    if value is None:
        return None
    if not isinstance(value, (str, int, torch.device)) or isinstance(value, bool):
        raise InvalidInput(f"device: must be a device of torch, not {value!r}")
    try:
        device = torch.device("cuda", value) if isinstance(value, int) else torch.device(value)
    except RuntimeError as error:
        raise InvalidInput(f"device: {str(error).splitlines()[0]}") from None
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InvalidInput(f"device: there is no {device}; torch finds {torch.cuda.device_count()} CUDA device(s)")
    return device


def _seed(seed: Any, generator: torch.Generator | None) -> int:
    if seed is not None:
        return integer("seed", seed, 0, 2**64 - 1)
    return (generator.initial_seed() if generator is not None else torch.initial_seed()) % 2**64


def read_options(given: dict[str, Any]) -> Options:
    """Check the keyword arguments. Raises InvalidInput, naming the argument, and TypeError for unknown ones."""
    rest = dict(given)
    for name in ("dataset", "collate_fn"):  # as PyG's loaders, for PyTorch Lightning
        rest.pop(name, None)
    for name in _WITHOUT_EFFECT:
        rest.pop(name, None)
    if rest.pop("worker_init_fn", None) is not None:
        raise InvalidInput("worker_init_fn: workers are threads that run no Python; leave it out")
    options = Options()
    if (generator := rest.pop("generator", None)) is not None and not isinstance(generator, torch.Generator):
        raise InvalidInput(f"generator: must be a torch.Generator, not {type(generator).__name__}")
    options.seed = _seed(rest.pop("seed", None), generator)
    options.batch_size = integer("batch_size", rest.pop("batch_size", 1), 1, 2**31 - 1)
    for name in ("shuffle", "drop_last", "pin_memory"):
        value = rest.pop(name, None)
        setattr(options, name, _flag(name, False if value is None else value))
    workers = rest.pop("num_workers", None)
    options.num_workers = default_workers() if workers is None else integer("num_workers", workers, 0, 1024)
    prefetch = rest.pop("prefetch_factor", None)
    options.prefetch_factor = 2 if prefetch is None else integer("prefetch_factor", prefetch, 1, 64)
    options.timeout = rest.pop("timeout", 0.0)
    if not isinstance(options.timeout, (int, float)) or not 0 <= options.timeout < 1e9:
        raise InvalidInput(f"timeout: must be a number of seconds, or 0, not {options.timeout!r}")
    options.expand = rest.pop("expand", "once")
    if options.expand not in ("once", "every_hop"):
        raise InvalidInput(f"expand: must be 'once' or 'every_hop', not {options.expand!r}")
    threads = rest.pop("threads_per_batch", None)
    options.has_default_threads = threads is None
    options.threads_per_batch = (
        default_threads(options.num_workers) if threads is None else integer("threads_per_batch", threads, 1, 256)
    )
    options.cached_rows = integer("cached_rows", rest.pop("cached_rows", 0), 0, 2**31 - 1)
    options.world_size = integer("world_size", rest.pop("world_size", 1), 1, 2**20)
    options.rank = integer("rank", rest.pop("rank", 0), 0, options.world_size - 1)
    stored = rest.pop("stored", ())
    if not isinstance(stored, (list, tuple)) or not all(isinstance(each, str) for each in stored):
        raise InvalidInput(f"stored: must be a list of names, not {stored!r}")
    options.stored = tuple(stored)
    options.device = _device(rest.pop("device", None))
    if options.stored and options.device is not None:
        raise InvalidInput("stored: cannot be combined with device; rows that are not gathered cannot be copied")
    _read_samplers(rest, options, given)
    if rest:
        raise TypeError(f"unexpected keyword argument {next(iter(rest))!r}")
    return options


def _read_samplers(rest: dict[str, Any], options: Options, given: dict[str, Any]) -> None:
    options.sampler = rest.pop("sampler", None)
    options.batch_sampler = rest.pop("batch_sampler", None)
    if options.world_size > 1 and (options.sampler is not None or options.batch_sampler is not None):
        raise InvalidInput("world_size: cannot be combined with sampler or batch_sampler; split them yourself")
    if options.sampler is not None and options.shuffle:
        raise InvalidInput("sampler: cannot be combined with shuffle")
    if options.batch_sampler is not None:
        for name in ("batch_size", "shuffle", "sampler", "drop_last"):
            if given.get(name):
                raise InvalidInput(f"batch_sampler: cannot be combined with {name}")


def part_of_rank(positions: Tensor, options: Options) -> Tensor:
    """Return the rank's part of an order. All ranks get as many: the first positions fill up."""
    size = -(-len(positions) // options.world_size)
    filled = torch.cat([positions, positions[: size * options.world_size - len(positions)]])
    return filled[options.rank :: options.world_size]


def batches_of(indices: Any, count: int, options: Options) -> tuple[Tensor, Tensor]:
    """Return positions in the input and where batches begin.

    ``indices`` are positions, or with a batch sampler lists of them; a position must be below ``count``.
    """
    if options.batch_sampler is not None:
        lists = [torch.as_tensor(list(each), dtype=torch.int64) for each in indices]
        positions = torch.cat(lists) if lists else torch.empty(0, dtype=torch.int64)
        sizes = torch.tensor([0, *[len(each) for each in lists]], dtype=torch.int64)
        begins = sizes.cumsum(0)
        name = "batch_sampler"
    else:
        name = "sampler"
        positions = indices if isinstance(indices, Tensor) else torch.as_tensor(list(indices), dtype=torch.int64)
        ends = torch.arange(0, len(positions) + options.batch_size, options.batch_size, dtype=torch.int64)
        begins = ends.clamp(max=len(positions))
        if len(positions) == 0:
            begins = begins[:1]
        elif options.drop_last and len(positions) % options.batch_size != 0:
            begins = begins[:-1]
    if len(positions) and (int(positions.min()) < 0 or int(positions.max()) >= count):
        raise InvalidInput(f"{name}: yields positions outside 0 … {count - 1}")
    return positions.contiguous(), begins.contiguous()
