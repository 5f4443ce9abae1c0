"""What all notebooks use: reads the documents that gnomon wrote, and draws them."""

import json
import os
import pathlib

import matplotlib.pyplot as plt
from matplotlib.ticker import ScalarFormatter

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


def plain_numbers(*sides):
    """Numbers of an axis without exponents."""
    for side in sides:
        side.set_major_formatter(ScalarFormatter())
        side.get_major_formatter().set_scientific(False)


def beside(axes):
    """The legend outside the drawing."""
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))


def label(series):
    return series["name"] + (", printed" if series["printed"] else "")


def colours(chart):
    """One colour for each name, whether printed or predicted."""
    names = list(dict.fromkeys(series["name"] for series in chart["series"]))
    return {name: f"C{i % 10}" for i, name in enumerate(names)}


def deviations(series):
    """Standard deviations of means; none of other numbers."""
    known = [point.get("deviation") for point in series["points"]]
    return None if None in known else known


def bars(axes, chart):
    places = sorted({point["x"] for series in chart["series"] for point in series["points"]})
    width = 0.8 / len(chart["series"])
    for i, series in enumerate(chart["series"]):
        at = [places.index(point["x"]) + (i + 0.5) * width - 0.4 for point in series["points"]]
        axes.bar(at, [point["y"] for point in series["points"]], width, label=label(series), yerr=deviations(series),
                 color=colours(chart)[series["name"]], alpha=0.4 if series["printed"] else 1)
    names = [chart["categories"][int(x)] if chart["categories"] else f"{x:g}" for x in places]
    axes.set_xticks(range(len(places)), names, rotation=30, ha="right")


def lines(axes, chart):
    for series in chart["series"]:
        points = [(point["x"], point["y"]) for point in series["points"]]
        line = "none" if series["printed"] or chart["kind"] == "points" else "-"
        axes.errorbar(*zip(*points) if points else ([], []), yerr=deviations(series), linestyle=line,
                      marker="D" if series["printed"] else "o", markersize=8 if series["printed"] else 3, label=label(series),
                      color=colours(chart)[series["name"]])


def figure(paper, wanted):
    """Draws a figure of `gnomon reproduce PAPER all --json` and says whether its claims hold."""
    drawn = next(one for one in load(f"{paper}_figures")["figures"] if one["id"] == wanted)
    for chart in drawn["charts"]:
        picture, axes = plt.subplots(figsize=(8, 4))
        has_bars = chart["categories"] or chart["kind"] in ("bars", "stacked")
        (bars if has_bars else lines)(axes, chart)
        axes.set(title=f"{wanted} {chart['title']}", xlabel=chart["x_label"], ylabel=chart["y_label"])
        values = [point["y"] for series in chart["series"] for point in series["points"]]
        if min(values) > 0 and max(values) > 20 * min(values):
            axes.set_yscale("log")
            plain_numbers(axes.yaxis)
        beside(axes)
        picture.tight_layout()
        plt.show()
        if chart["measured_on"]:
            print(f"Measured on {chart['measured_on']}.")
        for why in chart["missing"]:
            print("not possible:", why)
    print(f"{'Measured' if drawn['verdict'] == 'measured' else 'Given'}: {drawn['given']}.")
    print(drawn["on_claims"])


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
    plain_numbers(axes.xaxis, axes.yaxis)
    beside(axes)
    for reason in sorted({row["why_not"] for row in exploration["rows"] if row["why_not"]}):
        print("not possible:", reason)
    figure.tight_layout()
    return axes
