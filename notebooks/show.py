"""What all notebooks use: reads the documents that gnomon wrote, and draws them.

One scale a data set, units on every axis, legends outside the drawing, and a sentence below that says what holds.
"""

import json
import math
import os
import pathlib
import re

import matplotlib.pyplot as plt
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, ScalarFormatter

FILES = pathlib.Path(os.environ.get("GNOMON_FILES", "files"))
DATA_SETS = ["Reddit", "Lj-large", "Orkut", "Wikipedia", "Products", "Papers100M", "PA", "TW", "UK", "UU", "PR"]

# What swept fields are called on an axis, and the factor that turns their numbers into the unit.
FIELDS = {
    "plan.super_batch": ("length of a super-batch, mini-batches", 1),
    "plan.embeddings.hot_ratio": ("share of hot vertices", 1),
    "plan.devices": ("GPUs", 1),
    "plan.workers": ("workers", 1),
    "plan.macro.partitions": ("parts", 1),
    "machine.disk.bandwidth_bytes_per_s": ("disk bandwidth, GB/s", 1e-9),
}


def load(name):
    """A document of `gnomon reproduce --json` or `gnomon explore --json`."""
    return json.loads((FILES / f"{name}.json").read_text())


def verdict(finding):
    holds = "holds" if finding["holds"] else "does not hold"
    return f"{finding['what']}: {finding['value']:.4g} {finding['unit']} ({finding['asked']}): {holds}"


def summary(report):
    """Prints what must hold, the errors by table, and what is not predicted."""
    for finding in report["findings"]:
        print(verdict(finding))
    for table in report["tables"]:
        if table["mean_absolute_error"] is not None:
            print(f"{table['table']}: {table['rows']} rows, mean absolute error {table['mean_absolute_error']:.4g}")
    for cells in report["not_predicted"]:
        print(f"not predicted: {cells['table']}, {cells['cells']}: {cells['reason']}")


def data_set_of(cell):
    """The data set that a cell of a table is of; an empty text for means over several."""
    words = re.split(r"[/, ]+", cell)
    return next((name for name in DATA_SETS if name in words), "")


def panels(count, height, width=6.5):
    """Axes below each other, of these heights in inches."""
    heights = [height] * count if isinstance(height, (int, float)) else height
    picture, all_axes = plt.subplots(count, 1, figsize=(width + 2.5, sum(heights)), squeeze=False, height_ratios=heights)
    return picture, list(all_axes[:, 0])


def beside(axes):
    """The legend outside the drawing."""
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)


def printed_and_predicted(report, table, only=""):
    """The rows of a table as pairs of bars, a scale for each data set."""
    rows = [row for row in report["rows"] if row["table"] == table and only in row["cell"]]
    names = list(dict.fromkeys(data_set_of(row["cell"]) for row in rows))
    parts = [[row for row in rows if data_set_of(row["cell"]) == name] for name in names]
    one_machine = len({row["machine"] for row in rows}) == 1
    picture, all_axes = panels(len(parts), [0.4 * len(part) + 1.1 for part in parts])
    for axes, name, part in zip(all_axes, names, parts):
        places = range(len(part))
        axes.barh([p - 0.2 for p in places], [row["printed"] or 0 for row in part], 0.4, label="printed", color="C0", alpha=0.4)
        axes.barh([p + 0.2 for p in places], [row["predicted"] for row in part], 0.4, label="predicted", color="C0")
        axes.set_yticks(list(places), [row["cell"] if one_machine else f"{row['machine']}: {row['cell']}" for row in part])
        axes.invert_yaxis()
        axes.set(title=", ".join(filter(None, [table, name])), xlabel=part[0]["unit"])
        beside(axes)
    picture.tight_layout()
    plt.show()
    print(table_sentence(report, table, rows))
    return all_axes


def table_sentence(report, table, rows):
    """How far predicted numbers are off, and what must hold of the table."""
    errors = [abs(row["error"]) for row in rows if row["error"] is not None]
    mean = sum(errors) / max(1, len(errors))
    off = f"{100 * mean:.1f} %" if rows[0]["error_is"] == "relative" else f"{mean:.1f} points"
    text = f"Off by {off} in the mean of {len(errors)} printed numbers." if errors else "No number is printed beside these."
    return " ".join([text, *(verdict(finding) + "." for finding in report["findings"] if finding["what"].startswith(table + ":"))])


def plain(value):
    return f"{value:g}"


def plain_numbers(side):
    """Numbers of an axis without exponents: of a logarithmic one at 1, 3, 10, 30 …"""
    if side.get_scale() == "log":
        low, high = side.get_view_interval()
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        ticks = [factor * 10.0**power for power in powers for factor in (1, 3) if low <= factor * 10.0**power <= high]
        side.set_major_locator(FixedLocator(ticks))
        side.set_major_formatter(FixedFormatter([plain(tick) for tick in ticks]))
        side.set_minor_formatter(NullFormatter())
    else:
        side.set_major_formatter(ScalarFormatter(useOffset=False))
        side.get_major_formatter().set_scientific(False)


def at_values(side, values):
    """A tick at each swept value, with its number."""
    side.set_major_locator(FixedLocator(values))
    side.set_major_formatter(FixedFormatter([plain(value) for value in values]))
    side.set_minor_locator(FixedLocator([]))


def label(series):
    if not series["printed"]:
        return series["name"]
    return "printed" if series["name"] == "predicted" else series["name"] + ", printed"


def colours(chart):
    """One colour for each name, whether printed or predicted."""
    names = list(dict.fromkeys(series["name"] for series in chart["series"]))
    return {name: f"C{i % 10}" for i, name in enumerate(names)}


def deviations(series):
    """Standard deviations of means; none of other numbers."""
    known = [point.get("deviation") for point in series["points"]]
    return None if None in known else known


def draw_levels(axes, chart):
    """Printed numbers that hold at every x."""
    for series in chart["series"]:
        if series["level"]:
            axes.axhline(series["points"][0]["y"], linestyle="--", color=colours(chart)[series["name"]], label=label(series))


def bars(axes, chart):
    """Bars side by side, each printed one behind the predicted one of its name, or on each other."""
    names = list(colours(chart))
    shown = sorted((series for series in chart["series"] if not series["level"]), key=lambda s: (names.index(s["name"]), s["printed"]))
    places = sorted({point["x"] for series in shown for point in series["points"]})
    is_stacked = chart["kind"] == "stacked"
    width = 0.8 if is_stacked else 0.8 / len(shown)
    below = dict.fromkeys(places, 0.0)
    for i, series in enumerate(shown):
        points = series["points"]
        at = [places.index(point["x"]) + (0 if is_stacked else (i + 0.5) * width - 0.4) for point in points]
        bottom = [below[point["x"]] for point in points] if is_stacked else None
        axes.bar(at, [point["y"] for point in points], width, bottom=bottom, label=label(series), yerr=deviations(series),
                 color=colours(chart)[series["name"]], alpha=0.4 if series["printed"] else 1)
        for point in points:
            below[point["x"]] += point["y"]
    texts = [chart["categories"][int(x)] if chart["categories"] else plain(x) for x in places]
    slant = {"rotation": 30, "ha": "right"} if len(places) > 1 else {}
    axes.set_xticks(range(len(places)), texts, **slant)


def lines(axes, chart):
    for series in chart["series"]:
        if series["level"]:
            continue
        points = [(point["x"], point["y"]) for point in series["points"]]
        line = "none" if series["printed"] or chart["kind"] == "points" else "-"
        many = len(points) > 30
        axes.errorbar(*zip(*points) if points else ([], []), yerr=deviations(series), linestyle=line,
                      marker="D" if series["printed"] else "" if many and line == "-" else "o",
                      markersize=8 if series["printed"] else 3, label=label(series), color=colours(chart)[series["name"]])
    values = sorted({point["x"] for series in chart["series"] for point in series["points"]})
    is_swept = len(values) <= 16 and not re.search("time|%", chart["x_label"])
    if is_swept and values[0] > 0 and values[-1] >= 30 * values[0]:
        axes.set_xscale("log")
        at_values(axes.xaxis, values)


def timeline(axes, chart):
    """The stages of each lane, one above the other."""
    lanes = list(dict.fromkeys(span["lane"] for span in chart["spans"]))
    for i, stage in enumerate(dict.fromkeys(span["stage"] for span in chart["spans"])):
        for lane in lanes:
            spans = [span for span in chart["spans"] if span["stage"] == stage and span["lane"] == lane]
            axes.broken_barh([(span["begin_s"], span["end_s"] - span["begin_s"]) for span in spans], (lanes.index(lane) - 0.4, 0.8),
                             color=f"C{i % 10}", edgecolor="white", linewidth=0.3)
        axes.plot([], [], color=f"C{i % 10}", linewidth=6, label=stage.replace("_", " "))
    step = math.ceil(len(lanes) / 16)
    axes.set_yticks(range(0, len(lanes), step), lanes[::step])
    axes.invert_yaxis()


def y_scale(axes, chart):
    """A logarithmic axis for numbers that are far apart, and no share of a hundred."""
    values = [point["y"] for series in chart["series"] for point in series["points"]]
    if values and min(values) > 0 and max(values) > 20 * min(values) and not chart["y_label"].endswith("%"):
        axes.set_yscale("log")
    plain_numbers(axes.yaxis)


def draw(chart, title):
    """One chart: bars, lines or a timeline."""
    height = 3.2
    if chart["kind"] == "timeline":
        height = min(6, 1.4 + 0.22 * len({span["lane"] for span in chart["spans"]}))
    picture, (axes,) = panels(1, height)
    axes.set(title=title, xlabel=chart["x_label"], ylabel=chart["y_label"])
    if chart["kind"] == "timeline":
        timeline(axes, chart)
    else:
        has_bars = chart["categories"] or chart["kind"] in ("bars", "stacked")
        (bars if has_bars else lines)(axes, chart)
        draw_levels(axes, chart)
        y_scale(axes, chart)
    beside(axes)
    picture.tight_layout()
    plt.show()
    return axes


def figure(paper, wanted):
    """Draws a figure of `gnomon reproduce PAPER all --json` and says whether its claims hold. Returns the charts' axes."""
    drawn = next(one for one in load(f"{paper}_figures")["figures"] if one["id"] == wanted)
    all_axes = []
    for chart in drawn["charts"]:
        all_axes.append(draw(chart, f"{wanted} {chart['title']}".strip()))
        if chart["measured_on"]:
            print(f"Measured on {chart['measured_on']}.")
        for why in chart["missing"]:
            print("not possible:", why)
    if drawn["given"]:
        print(f"{'Measured' if drawn['verdict'] == 'measured' else 'Given'}: {drawn['given']}.")
    print(drawn["on_claims"] or drawn["why"] or "The paper makes no claim of it in numbers.")
    return all_axes


def name_of_line(row, by):
    """The plan, and the other fields that tell lines apart, in words."""
    return ", ".join(str(row[key]) if key == "plan" else f"{FIELDS[key][0]} {row[key]}" for key in by)


def epochs(exploration, field, by=("plan",)):
    """Epochs against a swept field, a line for each of the plans (and of other fields in `by`)."""
    text, scale = FIELDS[field]
    picture, (axes,) = panels(1, 3.6)
    all_lines = {}
    for row in exploration["rows"]:
        if row["epoch_s"] is not None:
            all_lines.setdefault(name_of_line(row, by), []).append((scale * float(row[field]), row["epoch_s"]))
    for name, points in all_lines.items():
        axes.plot(*zip(*points), marker="o", label=name)
    axes.set(xlabel=text, ylabel="epoch, s", xscale="log", yscale="log")
    at_values(axes.xaxis, sorted({x for points in all_lines.values() for x, _ in points}))
    plain_numbers(axes.yaxis)
    beside(axes)
    picture.tight_layout()
    plt.show()
    best = {name: min(points, key=lambda point: point[1]) for name, points in all_lines.items()}
    fastest = "; ".join(f"{name}: {y:.4g} s at {plain(x)}" for name, (x, y) in best.items())
    print(f"Not a figure of the paper. Shortest epochs over the {text.split(',')[0]}: {fastest}.")
    for reason in sorted({row["why_not"] for row in exploration["rows"] if row["why_not"]}):
        print("not possible:", reason)
    return axes
