#!/usr/bin/env python3
"""Predicts the epochs that MorphGL's paper prints for its machine C from the paper's profiles of its machines A and B
(`gnomon explore --machine morphgl-C`), and the first ratios of the dispatcher there. Writes bench/results/moved_papers.json.

    bench/moved_papers.py [--build build/release] [--paper ../shared/papers/morphgl.json]

Machine C is half of A's GPU (MIG) with half of its cores. All that is known of it is printed: the cores and the data sheet's
bandwidths. A ratio is the dispatcher's first one, x = (C - M) / (M + G) with the CPU's preparation C by all workers, training M and
the GPU's preparation G of a mini-batch (the paper's equation 6).

GNNLab and DUCATI print the epochs of one machine each, so that no row of theirs can be predicted for another one. Rows hold the
printed values of SALIENT and DUCATI on C (Table 4) and its ratios (Table 6); MorphGL's own epochs on C and D are not used.
"""

import argparse
import itertools
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import origin, write_record  # noqa: E402

SYSTEMS = {"SALIENT": "salient", "DUCATI": "ducati"}
SOURCES, TARGET = ["A", "B"], "C"


def gnomon(options, *arguments):
    done = subprocess.run([options.build / "bin/gnomon", *map(str, arguments)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def printed_rows(options):
    """The paper's epochs and first ratios on the target."""
    paper = json.loads(options.paper.read_text())
    tables = {table["id"]: table["rows"] for table in paper["tables"]}
    epochs = [(row["model"], row["dataset"], row["system"], row["epoch_s"]) for row in tables["table4"]
              if row["machine"] == TARGET and row["system"] in SYSTEMS]  # fmt: skip
    ratios = [(row["model"], row["dataset"], row["value"]) for row in tables["table6"]
              if row["machine"] == TARGET and row["metric"] == "initial_x"]  # fmt: skip
    return epochs, ratios


def explored(options, source, model, dataset):
    return gnomon(options, "explore", f"morphgl/{source}/{model}/{dataset}", "--machine", f"morphgl-{TARGET}", "--plan",
                  ",".join(SYSTEMS.values()), "--json")  # fmt: skip


def first_ratio(options, source, model, dataset):
    """Of the moved stage times; one core is the main process's."""
    stages = gnomon(options, "catalog", f"morphgl/{source}/{model}/{dataset}", "--json")["workload"]
    document = explored(options, source, model, dataset)
    factors = {stage["stage"]: stage["factor"] or 1 for stage in document["moved"][0]["stages"]}
    workers = next(row["workers"] for row in document["rows"] if row["plan"] == "salient")
    cpu, gpu, train = [factors[stage] * stages[stage]["mean_s"] for stage in ["cpu_batch", "device_batch", "train"]]
    return (cpu / workers - train) / (train + gpu)


def rows_of(options):
    epochs, ratios = printed_rows(options)
    rows = []
    for source, (model, dataset) in itertools.product(SOURCES, dict.fromkeys((model, dataset) for model, dataset, *_ in epochs)):
        predicted = {row["plan"]: row["epoch_s"] for row in explored(options, source, model, dataset)["rows"]}
        rows += [{"from": source, "to": TARGET, "model": model, "dataset": dataset, "what": system, "predicted": predicted[SYSTEMS[system]],
                  "printed": printed} for of_model, of_dataset, system, printed in epochs if (of_model, of_dataset) == (model, dataset)]  # fmt: skip
    rows += [{"from": source, "to": TARGET, "model": model, "dataset": dataset, "what": "first ratio",
              "predicted": first_ratio(options, source, model, dataset), "printed": printed}
             for source, (model, dataset, printed) in itertools.product(SOURCES, ratios)]  # fmt: skip
    return rows


def median_error(rows):
    return statistics.median(abs(row["predicted"] / row["printed"] - 1) for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--paper", type=Path, default=ROOT.parent / "shared/papers/morphgl.json")
    parser.add_argument("--output", type=Path, default=ROOT / "bench/results/moved_papers.json")
    options = parser.parse_args()
    rows = rows_of(options)
    summary = {source: {what: median_error([row for row in rows if (row["from"], row["what"]) == (source, what)])
                        for what in dict.fromkeys(row["what"] for row in rows)} for source in SOURCES}  # fmt: skip
    print(json.dumps(summary, indent=1))
    write_record(options.output, {"schema": "gnomon.moved_papers/1", **origin(), "notes": __doc__.strip(), "median_error": summary, "rows": rows})


main()
