"""What all notebooks use: reads the documents that gnomon wrote, and draws them."""

import json
import os
import pathlib

import matplotlib.pyplot as plt

FILES = pathlib.Path(os.environ.get("GNOMON_FILES", "files"))


def load(name):
    """A document of `gnomon reproduce --json` or `gnomon explore --json`."""
    return json.loads((FILES / f"{name}.json").read_text())


def summary(report):
    """Prints what must hold, the errors by table, and what is not predicted."""
    for finding in report["findings"]:
        verdict = "holds" if finding["holds"] else "does not hold"
        print(f"{finding['what']}: {finding['value']:.4g} {finding['unit']} ({finding['asked']}): {verdict}")
    for table in report["tables"]:
        if table["mean_absolute_error"] is not None:
            print(f"{table['table']}: {table['rows']} rows, mean absolute error {table['mean_absolute_error']:.4g}")
    for cells in report["not_predicted"]:
        print(f"not predicted: {cells['table']}, {cells['cells']}: {cells['reason']}")


def printed_and_predicted(report, table, only=""):
    """The rows of a table as pairs of bars."""
    rows = [row for row in report["rows"] if row["table"] == table and only in row["cell"]]
    places = range(len(rows))
    figure, axes = plt.subplots(figsize=(9, 0.35 * len(rows) + 1.2))
    axes.barh([p - 0.2 for p in places], [row["printed"] or 0 for row in rows], 0.4, label="printed")
    axes.barh([p + 0.2 for p in places], [row["predicted"] for row in rows], 0.4, label="predicted")
    axes.set_yticks(list(places), [f"{row['machine']}: {row['cell']}" for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel(f"{table}, {rows[0]['unit']}")
    axes.legend()
    figure.tight_layout()
    return axes


def epochs(exploration, field, by=("plan",)):
    """Epochs against a swept field, a line for each of the plans (and of other fields in `by`)."""
    figure, axes = plt.subplots(figsize=(8, 4))
    lines = {}
    for row in exploration["rows"]:
        if row["epoch_s"] is not None:
            lines.setdefault(", ".join(str(row[key]) for key in by), []).append((row[field], row["epoch_s"]))
    for label, points in lines.items():
        axes.plot(*zip(*points), marker="o", label=label)
    axes.set(xlabel=field, ylabel="epoch, s", xscale="log", yscale="log")
    axes.legend()
    for reason in sorted({row["why_not"] for row in exploration["rows"] if row["why_not"]}):
        print("not possible:", reason)
    figure.tight_layout()
    return axes
