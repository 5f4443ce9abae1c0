"""The C API (``gnomon.h``) by ctypes, which releases the GIL in every call."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

API_VERSION = 3

OK, FAILURE, INVALID_INPUT, END, PENDING, FORKED, CANCELLED = range(7)
EXPANSIONS = {"once": 0, "every_hop": 1}
SUBGRAPHS = {"directional": 0, "induced": 1}
NO_NEGATIVES, BINARY, TRIPLET = range(3)


class Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class StoreArrays(ctypes.Structure):
    _fields_ = [
        ("has_features", ctypes.c_int32),
        ("num_classes", ctypes.c_int32),
        ("labels", DLTensor),
        ("labels_shape", ctypes.c_int64 * 1),
    ]


class Sampling(ctypes.Structure):
    _fields_ = [
        ("num_hops", ctypes.c_int32),
        ("fanouts", ctypes.POINTER(ctypes.c_int32)),
        ("seed", ctypes.c_uint64),
        ("expansion", ctypes.c_int32),
        ("replace", ctypes.c_int32),
        ("disjoint", ctypes.c_int32),
        ("subgraph", ctypes.c_int32),
        ("threads_per_batch", ctypes.c_int32),
        ("pin_threads", ctypes.c_int32),
    ]


class PageLock(ctypes.Structure):
    _fields_ = [("lock", ctypes.c_void_p), ("unlock", ctypes.c_void_p), ("flags", ctypes.c_uint32)]


class EpochInput(ctypes.Structure):
    _fields_ = [
        ("epoch", ctypes.c_uint64),
        ("num_batches", ctypes.c_int64),
        ("batch_begins", ctypes.c_void_p),
        ("seeds", ctypes.c_void_p),
        ("link_ends", ctypes.c_void_p),
        ("negatives", ctypes.c_int32),
        ("negatives_per_link", ctypes.c_double),
        ("first_batch", ctypes.c_int64),
        ("num_workers", ctypes.c_int32),
        ("max_ahead", ctypes.c_int32),
        ("store_features", ctypes.c_int32),
        ("num_vertex_attributes", ctypes.c_int32),
        ("vertex_attributes", ctypes.POINTER(DLTensor)),
        ("num_edge_attributes", ctypes.c_int32),
        ("edge_attributes", ctypes.POINTER(DLTensor)),
        ("cache_slots", ctypes.c_void_p),
    ]


class Batch(ctypes.Structure):
    _fields_ = [
        ("index", ctypes.c_int64),
        ("num_seeds", ctypes.c_int64),
        ("num_hops", ctypes.c_int32),
        ("num_sampled_nodes", ctypes.POINTER(ctypes.c_int64)),
        ("num_sampled_edges", ctypes.POINTER(ctypes.c_int64)),
        ("vertices", ctypes.c_void_p),
        ("edges", ctypes.c_void_p),
        ("edge_ids", ctypes.c_void_p),
        ("trees", ctypes.c_void_p),
        ("endpoints", ctypes.c_void_p),
        ("vertex_attributes", ctypes.POINTER(ctypes.c_void_p)),
        ("edge_attributes", ctypes.POINTER(ctypes.c_void_p)),
        ("gathered_positions", ctypes.c_void_p),
        ("cached_positions", ctypes.c_void_p),
        ("cached_slots", ctypes.c_void_p),
        ("sample_s", ctypes.c_double),
        ("gather_s", ctypes.c_double),
    ]


class Rows(ctypes.Structure):
    _fields_ = [
        ("num_rows", ctypes.c_int64),
        ("num_columns", ctypes.c_int64),
        ("num_entries", ctypes.c_int64),
        ("indptr", ctypes.c_void_p),
        ("columns", ctypes.c_void_p),
        ("edges", ctypes.c_void_p),
    ]


class Threads(ctypes.Structure):
    _fields_ = [("run", ctypes.c_void_p), ("count", ctypes.c_int32)]


# Arguments: the step, its finished and its total items. A return value other than 0 cancels.
Progress = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64)


class GnomonError(RuntimeError):
    """A system error: memory, threads, files."""


class ForkedError(GnomonError):
    """A handle was used in a fork of the process that made it."""


class Cancelled(GnomonError):
    """A command was cancelled by its progress callback."""


class InvalidInput(ValueError):
    """An invalid argument. The message names it."""


_EXCEPTIONS = {INVALID_INPUT: InvalidInput, FORKED: ForkedError, CANCELLED: Cancelled}

_HANDLE = ctypes.c_void_p
_STATUS = ctypes.c_int32
_ARRAY = ctypes.c_void_p
_ROWS = ctypes.POINTER(Rows)
_OPERATION = [_ROWS, ctypes.POINTER(Threads)]
# Result type and argument types of each function.
_PROTOTYPES = {
    "gnomon_api_version": (ctypes.c_int32, []),
    "gnomon_version": (ctypes.c_char_p, []),
    "gnomon_last_error": (ctypes.c_char_p, []),
    "gnomon_usable_cores": (ctypes.c_int32, []),
    "gnomon_memory_nodes": (ctypes.c_int32, []),
    "gnomon_spread_memory": (_STATUS, [ctypes.c_void_p, ctypes.c_uint64]),
    "gnomon_physical_cores": (ctypes.c_int32, []),
    "gnomon_graph_from_edges": (
        _STATUS,
        [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 3, ctypes.POINTER(_HANDLE)],
    ),
    "gnomon_graph_from_csc": (
        _STATUS,
        [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * 4, ctypes.POINTER(_HANDLE)],
    ),
    "gnomon_graph_open": (_STATUS, [ctypes.c_char_p, ctypes.c_int32, ctypes.POINTER(_HANDLE)]),
    "gnomon_graph_free": (None, [_HANDLE]),
    "gnomon_graph_num_vertices": (ctypes.c_int64, [_HANDLE]),
    "gnomon_graph_num_edges": (ctypes.c_int64, [_HANDLE]),
    "gnomon_graph_spread": (_STATUS, [_HANDLE]),
    "gnomon_graph_store_arrays": (_STATUS, [_HANDLE, ctypes.POINTER(StoreArrays)]),
    "gnomon_loader_new": (_STATUS, [_HANDLE, ctypes.POINTER(Sampling), ctypes.POINTER(_HANDLE)]),
    "gnomon_loader_free": (None, [_HANDLE]),
    "gnomon_loader_lock_pages": (_STATUS, [_HANDLE, ctypes.POINTER(PageLock)]),
    "gnomon_loader_lend": (_STATUS, [_HANDLE, ctypes.c_void_p, ctypes.c_uint64]),
    "gnomon_loader_share": (_STATUS, [_HANDLE, ctypes.POINTER(Threads)]),
    "gnomon_tensor_detach": (None, [ctypes.c_void_p]),
    "gnomon_epoch_order": (None, [ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p]),
    "gnomon_epoch_begin": (
        _STATUS,
        [_HANDLE, ctypes.POINTER(EpochInput), ctypes.POINTER(_HANDLE)],
    ),
    "gnomon_epoch_free": (None, [_HANDLE]),
    "gnomon_epoch_next": (
        _STATUS,
        [_HANDLE, ctypes.c_double, ctypes.POINTER(ctypes.POINTER(Batch))],
    ),
    "gnomon_batch_free": (None, [ctypes.POINTER(Batch)]),
    "gnomon_rows_from_edges": (_STATUS, [*[ctypes.c_int64] * 3, *[_ARRAY] * 4]),
    "gnomon_rows_with_loops": (_STATUS, [_ROWS, _ARRAY, _ARRAY]),
    "gnomon_rows_interleaved": (_STATUS, [_ROWS, _ARRAY, _ARRAY]),
    "gnomon_rows_transpose": (_STATUS, [_ROWS, _ARRAY, _ARRAY, _ARRAY]),
    "gnomon_spmm": (_STATUS, [*_OPERATION, _ARRAY, _ARRAY, _ARRAY, ctypes.c_int64, _ARRAY]),
    "gnomon_spmm_stored": (_STATUS, [*_OPERATION, _ARRAY, ctypes.POINTER(DLTensor), _ARRAY, _ARRAY]),
    "gnomon_spmm_weighted": (_STATUS, [*_OPERATION, ctypes.c_int64, ctypes.c_int64, *[_ARRAY] * 3]),
    "gnomon_sum_edges": (_STATUS, [*_OPERATION, ctypes.c_int64, _ARRAY, _ARRAY]),
    "gnomon_sddmm_add": (_STATUS, [*_OPERATION, ctypes.c_int64, *[_ARRAY] * 3]),
    "gnomon_sddmm_dot": (_STATUS, [*_OPERATION, ctypes.c_int64, ctypes.c_int64, *[_ARRAY] * 3]),
    "gnomon_edge_softmax": (_STATUS, [*_OPERATION, ctypes.c_int64, _ARRAY, _ARRAY]),
    "gnomon_edge_softmax_backward": (_STATUS, [*_OPERATION, ctypes.c_int64, *[_ARRAY] * 3]),
    "gnomon_pool_new": (_STATUS, [ctypes.c_int32, ctypes.POINTER(_HANDLE)]),
    "gnomon_pool_free": (None, [_HANDLE]),
    "gnomon_tensor_new": (
        _STATUS,
        [_HANDLE, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_void_p)],
    ),
    "gnomon_run": (
        _STATUS,
        [ctypes.c_char_p, ctypes.c_char_p, Progress, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)],
    ),
    "gnomon_text_free": (None, [ctypes.c_void_p]),
}


def _load() -> ctypes.CDLL:
    given = os.environ.get("GNOMON_LIBRARY")
    path = Path(given) if given else Path(__file__).with_name("libgnomon.so")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"cannot load gnomon's library: {error}") from error
    for name, (result, arguments) in _PROTOTYPES.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    found = library.gnomon_api_version()
    if found != API_VERSION:
        raise ImportError(f"{path} has version {found} of the C API; this package needs {API_VERSION}")
    return library


library = _load()


def check(status: int) -> None:
    """Raise the exception that corresponds to an error status."""
    if status != OK:
        message = (library.gnomon_last_error() or b"").decode("utf-8", "replace")
        raise _EXCEPTIONS.get(status, GnomonError)(message)
