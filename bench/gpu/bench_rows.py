"""Rows of the record from the JSON of bench_gpu: gathering beside copies, and sampling."""

import json
import statistics
import sys

DECODER = json.JSONDecoder()


def benchmarks_of(text):
    """The benchmarks in the JSON of Google Benchmark, which may break off anywhere."""
    begin = text.find("[", text.find('"benchmarks"'))
    if '"benchmarks"' not in text or begin < 0:
        return []
    found = []
    at = begin + 1
    while (at := text.find("{", at)) >= 0:
        try:
            benchmark, at = DECODER.raw_decode(text, at)
        except json.JSONDecodeError:
            break
        found.append(benchmark)
    return found


def measured_of(benchmarks):
    """Medians of the repetitions, by benchmark; and why the others have none."""
    values, errors = {}, {}
    for row in benchmarks:
        name = row.get("run_name", row["name"]).removesuffix("/real_time")
        if row.get("error_occurred"):
            errors[name] = row.get("error_message", "error")
        elif row.get("run_type") == "iteration":
            values.setdefault(name, []).append(row.get("bytes_per_second") or row.get("edges_per_s"))
    return {name: statistics.median(repetitions) for name, repetitions in values.items()}, errors


def case_of(name):
    """The kind and the keys of a benchmark's row; nothing for those that other rows are held against."""
    kind, *arguments = name.split("/")
    arguments = dict(argument.split(":") for argument in arguments)
    if kind == "copy_to_device":
        return kind, {}
    if kind == "gather":
        what = "zero_copy_gather" if arguments["over_link"] == "1" else "cached_gather"
        return what, {"row_bytes": int(arguments["row_bytes"]), "share": int(arguments["share"]) / 100,
                      "shifted": arguments["shifted"] == "1"}
    if kind == "gather_table":
        return "zero_copy_gather", {"row_bytes": int(arguments["row_bytes"]), "table_mib": int(arguments["table_mib"]),
                                    "by_place": arguments["by_place"] == "1"}
    if kind == "sample":
        what = "device_sampling_edges_per_s" if arguments["over_link"] == "0" else "zero_copy_sampling_edges_per_s"
        return what, {"scale": int(arguments["scale"]), "batch": int(arguments["batch"])}
    return None


def add_rows(path, rows):
    """Adds what a file of bench_gpu holds. Gathering over the link is held against copies over it, which an earlier file may
    hold; gathering from device memory against copies within it, which the same file must hold; sampling over the link against
    sampling in device memory."""
    text = path.read_text() if path.exists() else ""
    measured, errors = measured_of(benchmarks_of(text))
    if not measured and not errors:
        print(f"{path}: no benchmarks", file=sys.stderr)
    for name, value in measured.items():
        if not (case := case_of(name)):
            continue
        what, keys = case
        of = {"zero_copy_gather": lambda: rows.value_of("copy_to_device"),
              "cached_gather": lambda: measured.get("copy_within_device"),
              "zero_copy_sampling_edges_per_s": lambda: rows.value_of("device_sampling_edges_per_s", **keys)}
        rows.add(what, value, of.get(what, lambda: None)(), **keys)
    for name, why in errors.items():
        if name not in measured and (case := case_of(name)):
            rows.add(case[0], None, why_not=why, **case[1])
