"""Rows of what the host starts for a mini-batch on a GPU: kernels, copies and fills, and its waits, counted by
libgnomon_cuda_calls.so (bench/gpu/count_calls.cpp) in two trainings of different lengths. They are held against what
tests/launches counts on the double of a GPU. Where nothing was counted the row tells why and has no value."""

import json
import os
import re
import subprocess

import epochs
from rows import is_rehearsal, write_json

CALLS = {"launches": re.compile(r"cu(LaunchKernel|LaunchCooperativeKernel|GraphLaunch|Memcpy\w*Async|Memset\w*Async)"),
         "waits": re.compile(r"cu(\w+Synchronize|Memcpy(?!\w*Async)\w*)")}
EPOCHS = 2, 4  # of the two trainings; recorded steps begin in the second


def counted_on_the_double(options, graphs):
    """Launches and waits that tests/launches has counted for GraphSAGE with three layers."""
    suites = json.loads(options.counted.read_text())["testsuites"]
    case = next(case for suite in suites for case in suite["testsuite"] if case.get("value_param") == "3")
    return int(case["preparing"]) + int(case["recorded" if graphs else "training"]), int(case["waits"])


def kinds_of(calls):
    """Numbers of calls by kind, from numbers by the driver's names."""
    return {kind: sum(count for name, count in calls.items() if pattern.match(name)) for kind, pattern in CALLS.items()}


def calls_of_run(options, plan, num_epochs, rehearsed):
    """The driver's calls in a training. Throws what says why there are none."""
    path = options.output.parent / f"cuda_calls_{num_epochs}.json"
    path.unlink(missing_ok=True)
    library = options.calls.resolve()
    if not library.exists() and not is_rehearsal():
        raise OSError(f"{library} is not there")
    train = [options.gnomon, "train", options.store, *epochs.JOB, "--epochs", num_epochs, "--evaluate-every", "never", "--device",
             options.device, "--plan", plan, "--run", epochs.fresh(options.work / "run")]
    subprocess.run([str(word) for word in train], stdout=subprocess.DEVNULL, check=True, timeout=max(1, min(options.epoch_seconds, options.left())),
                   env=dict(os.environ, CUDA_INJECTION64_PATH=str(library), GNOMON_CUDA_CALLS=str(path)))
    if is_rehearsal():  # what the library would write
        write_json(path, {"calls": {"cuLaunchKernel": rehearsed[0] * num_epochs, "cuEventSynchronize": rehearsed[1] * num_epochs}})
    if not path.exists():
        raise OSError("CUDA did not load the counter, or it could not write")
    document = json.loads(path.read_text())
    if "error" in document:
        raise OSError(document["error"])
    return kinds_of(document["calls"])


def add_rows(options, rows):
    batches = epochs.batches_of(options)
    for graphs in (False, True):
        expected, expected_waits = counted_on_the_double(options, graphs)
        try:
            plan = epochs.plan_file(options, "device", graphs)
            rehearsed = expected * batches, expected_waits * batches
            less, more = (calls_of_run(options, plan, number, rehearsed) for number in EPOCHS)
            each = {kind: (more[kind] - less[kind]) / ((EPOCHS[1] - EPOCHS[0]) * batches) for kind in CALLS}
            if each["launches"] <= 0:
                raise ValueError(f"no launches among the calls: {more}")
            rows.add("launches_per_batch", each["launches"], expected, graphs=graphs, source="rehearsal" if is_rehearsal() else "CUPTI",
                     waits=each["waits"], counted_waits=expected_waits)
        except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
            rows.add("launches_per_batch", None, expected, graphs=graphs, why_not=str(error), counted_waits=expected_waits)
