"""Rows of what kernels, copies and fills take of a mini-batch on a GPU, from what libgnomon_cuda_kernels.so
(bench/gpu/time_kernels.cpp) adds up of a training. Each is held against all of them together. A mini-batch's share of what is done
once, such as filling caches, is part of it."""

import json
import re

import epochs

LEAST_SHARE = 0.01  # of all, below which a kernel has no row of its own
# What is around the name that tells kernels apart.
WRAPPERS = [re.compile(pattern) for pattern in (
    r"^void ", r"^gnomon::kernels::cuda::run_(?:large_)?body<", r"^cutlass::Kernel2<", r"\(anonymous namespace\)::", r"^(?:[A-Za-z]\w*::)+")]


def short_name(kernel):
    """The body that a kernel runs, or its name, without namespaces and parameters."""
    name = kernel
    for wrapper in WRAPPERS:
        name = wrapper.sub("", name)
    return re.split(r"[<(>]", name, maxsplit=1)[0].strip() or kernel


def seconds_of(kernels, batches):
    """Seconds of a mini-batch by short name, from [number, nanoseconds] by kernel."""
    seconds = {}
    for kernel, (_, nanoseconds) in kernels.items():
        name = short_name(kernel)
        seconds[name] = seconds.get(name, 0) + 1e-9 * nanoseconds / batches
    return seconds


def add_rows(options, rows):
    rows.drop("kernel_time")
    try:
        document = json.loads(options.times.read_text())
        if "error" in document:
            raise OSError(document["error"])
        seconds = seconds_of(document["kernels"], options.epochs * epochs.batches_of(options))
        if not seconds:
            raise ValueError("no kernel ran")
    except (OSError, ValueError, epochs.Refused) as error:
        rows.add("kernel_time", None, kernel="all", why_not=str(error))
        return
    total = sum(seconds.values())
    rows.add("kernel_time", total, kernel="all")
    for name in sorted(seconds, key=seconds.get, reverse=True):
        if seconds[name] >= LEAST_SHARE * total:
            rows.add("kernel_time", seconds[name], total, kernel=name)
