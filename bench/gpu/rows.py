"""The record of what a GPU does, bench/results/gpu.json, written anew with each row, so that it is whole whenever its writer ends:

    {"schema": "gnomon.gpu/1", "device": "…", "recorded": "…", "commit": "…", "rows": [{"what", "row_bytes", "value", "of", "ratio", …}]}

`what` is one of KINDS, whose units are below; "value" is measured, "of" what it is held against, "ratio" their quotient. Other
keys tell the case, such as the plan, the share of the memory, or "graphs". A row whose value could not be measured has null and
tells why in "why_not". "rehearsal": true, in the record and in each row, marks what was made without a GPU: no such figure is one
of a GPU, and no record holds both.
"""

import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

SCHEMA = "gnomon.gpu/1"
KINDS = {
    "copy_to_device": "bytes/s", "zero_copy_gather": "bytes/s", "cached_gather": "bytes/s",
    "device_sampling_edges_per_s": "edges/s", "zero_copy_sampling_edges_per_s": "edges/s",
    "preset_epoch": "s", "autotune_vs_best": "s", "predicted_vs_measured": "s", "cores_vs_measured": "s", "peer_epoch": "s",
    "evaluation": "s", "launches_per_batch": "launches", "kernel_time": "s"}
MEASURED = {"value", "of", "ratio", "why_not", "waits", "counted_waits", "best", "by", "source", "sampler", "weights"}  # the other keys tell the case


def is_rehearsal():
    return bool(os.environ.get("GNOMON_REHEARSE"))


def device_name():
    if is_rehearsal():
        return "none: a rehearsal without a GPU"
    try:
        return subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip().split(" (UUID")[0]
    except (OSError, subprocess.CalledProcessError) as error:
        return f"unknown: {error}"


def commit():
    """That of the kit's sources."""
    path = Path(__file__).parent / "commit"
    return path.read_text().strip()[:7] if path.exists() else "unknown"


def case_of(row):
    return {key: value for key, value in row.items() if key not in MEASURED}


def write_json(path, document):
    """Replaces a file as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n")
    temporary.replace(path)


class Rows:
    """The rows of a record and of its copies, which are written with each of them. What is there stays; a row of the same case
    is replaced."""

    def __init__(self, path, *copies):
        self.paths = [path, *copies]
        mark = {"rehearsal": True} if is_rehearsal() else {}
        self.document = json.loads(path.read_text()) if path.exists() else {
            "schema": SCHEMA, "device": device_name(), "recorded": datetime.date.today().isoformat(), "commit": commit(), **mark, "rows": []}
        if self.document.get("rehearsal", False) != is_rehearsal():
            sys.exit(f"{path}: figures of a GPU and of a rehearsal do not belong into one record")
        self.mark = mark

    def add(self, what, value, of=None, row_bytes=0, **more):
        if what not in KINDS:
            raise ValueError(f"no kind of row: {what}")
        ratio = value / of if value is not None and of else None
        row = {"what": what, "row_bytes": row_bytes, "value": value, "of": of, "ratio": ratio, **more, **self.mark}
        rows = [other for other in self.document["rows"] if case_of(other) != case_of(row)]
        self.document["rows"] = [*rows, row]
        self.write()
        print(json.dumps(row), flush=True)

    def write(self):
        for path in self.paths:
            write_json(path, self.document)

    def hold_against_smallest(self, what, **case):
        """Holds all such rows against the smallest value among them."""
        found = [row for row in self.find(what, **case) if row["value"] is not None]
        for row in found:
            row["of"] = min(other["value"] for other in found)
            row["ratio"] = row["value"] / row["of"]
        self.write()

    def find(self, what, **case):
        """The rows of a kind that have these keys."""
        return [row for row in self.document["rows"] if row["what"] == what and case.items() <= row.items()]

    def drop(self, what, **case):
        """Forgets such rows; the file keeps them until the next row."""
        dropped = self.find(what, **case)
        self.document["rows"] = [row for row in self.document["rows"] if row not in dropped]

    def value_of(self, what, **case):
        """The value of the only or latest such row; nothing if there is none."""
        values = [row["value"] for row in self.find(what, **case) if row["value"] is not None]
        return values[-1] if values else None


def problems_of(document):
    """What is wrong with a record, one line each."""
    if document.get("schema") != SCHEMA:
        yield f"schema: {document.get('schema')!r} is not {SCHEMA!r}"
    if not isinstance(document.get("device"), str):
        yield "device: not a string"
    for number, row in enumerate(document.get("rows", [])):
        name = f"rows[{number}]"
        for key in ("what", "row_bytes", "value", "of", "ratio"):
            if key not in row:
                yield f"{name}: no {key}"
        if row.get("what") not in KINDS:
            yield f"{name}: unknown kind {row.get('what')!r}"
        if row.get("value") is None and not row.get("why_not"):
            yield f"{name}: neither a value nor why_not"
        if row.get("value") is not None and not row["value"] > 0:
            yield f"{name}: value {row['value']}"
        if row.get("rehearsal", False) != document.get("rehearsal", False):
            yield f"{name}: of a rehearsal in a record that is none, or the other way round"
