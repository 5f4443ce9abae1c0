#!/usr/bin/env python3
"""Writes docs/results.md: one section for each record in bench/results.

    bench/results.py [--check]

With --check nothing is written, and the exit code is 1 if the page differs from the records. A record may have "recorded" (the
date), "commit", "machine", "caveats" (sentences) and "older_than" (the later change that its figures do not include)."""
import argparse
import json
import math
import pathlib
import statistics
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORDS = ROOT / "bench/results"
PAGE = ROOT / "docs/results.md"

Record = dict[str, Any]
Row = list[str]


class Table(NamedTuple):
    heads: Row
    rows: list[Row]


class Section(NamedTuple):
    record: str
    title: str
    about: str
    command: str
    table: Callable[[Record], Table]
    part: str = ""  # left out where the record has no such part


def median(values: list[float]) -> float:
    """The first number of [median, min, max]."""
    return values[0]


def fanouts(row: Record) -> str:
    return ",".join(map(str, row["fanouts"]))


def percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def signed(share: float) -> str:
    return f"{100 * share:+.1f} %"


def seconds(value: float) -> str:
    return f"{value:.2f} s"


def times(value: float) -> str:
    return f"{value:.2f} ×"


def accuracy(record: Record) -> Table:
    rows = [[row["graph"], row["job"]["model"], f"{row['mean']:.1f} ± {row['deviation']:.1f}", f"{row['published']:.1f}",
             f"{row['mean'] - row['published']:+.1f}", row["source"]] for row in record["rows"]]
    return Table(["graph", "model", "test accuracy, %", "published", "difference", "source"], rows)


def recipes(record: Record) -> Table:
    def model(row: Record) -> str:
        return row["job"][row["job"].index("--model") + 1]

    rows = [[row["graph"], model(row), row["metric"].replace("_", " "), f"{100 * row['mean']:.1f} ± {100 * row['deviation']:.1f}",
             f"{100 * row['published']:.1f}", f"{100 * (row['mean'] - row['published']):+.1f}", row["source"]]
            for row in record["rows"]]
    return Table(["graph", "model", "metric", "test, %", "published", "difference", "source"], rows)


def figures(record: Record) -> Table:
    rows = []
    for paper, drawn in record["papers"].items():
        for figure in drawn:
            measured_on = next(chart["measured_on"] for chart in figure["charts"] if chart["measured_on"])
            rows.append([f"{paper} {figure['id']}", figure["shows"], measured_on])
    return Table(["figure", "shows", "measured on"], rows)


def approximate(record: Record) -> Table:
    def figure(value: float | None, digits: int = 0) -> str:
        return "" if value is None else f"{value:,.{digits}f}"

    rows = []
    for row in record["rows"]:
        if "accuracy" in row:
            mean, exact = statistics.mean(row["accuracy"]), statistics.mean(row["exact_accuracy"])
            predicted = row.get("predicted") or {}
            saved = [figure(row.get(name)) + (f" ({figure(predicted[name])})" if name in predicted else "")
                     for name in ["vertices_not_sampled", "edges_not_aggregated", "bytes_not_gathered"]]
            rows.append([row["graph"], row["preset"], percent(mean), percent(exact), f"{100 * (mean - exact):+.1f}",
                         figure(row.get("staleness")), figure(row.get("epsilon"), 3), *saved])
    return Table(["graph", "preset", "test accuracy", "exact plan", "difference, points", "staleness, updates", "ε",
                  "vertices not sampled (predicted)", "edges not aggregated (predicted)", "bytes not gathered (predicted)"], rows)


def biased(record: Record) -> Table:
    rows = [[row["graph"], str(row["bias"]), percent(row["share"], 0), percent(statistics.mean(row["test_accuracy"]))]
            for row in record["rows"]]
    return Table(["graph", "bias", "preferred vertices", "mean test accuracy"], rows)


def other_models(record: Record) -> Table:
    groups: dict[tuple[str, str], list[Record]] = {("all", "all"): record["rows"]}
    for row in record["rows"]:
        same = row["measured"][0] == row["wanted"][0]
        groups.setdefault((row["graph"], f"{row['measured'][0]}, another width" if same else "another model"), []).append(row)

    def group_row(graph: str, kind: str, rows: list[Record]) -> Row:
        errors = [row["predicted_s"] / row["measured_s"] - 1 for row in rows]
        kept = statistics.median(abs(row["kept_s"] / row["measured_s"] - 1) for row in rows)
        within = statistics.mean(abs(row["predicted_s"] - row["measured_s"]) <= row["interval_s"] for row in rows)
        return [graph, kind, str(len(rows)), percent(statistics.median(map(abs, errors))), signed(min(errors)), signed(max(errors)),
                percent(kept), percent(within, 0)]

    return Table(["graph", "predicted", "pairs", "error, median", "lowest", "highest", "median if times are kept", "within +-"],
                 [group_row(*key, rows) for key, rows in groups.items()])


def preparation(record: Record) -> Table:
    systems = [name for name in record["rows"][0]["edges_per_s"]]
    rows = [[row["graph"], fanouts(row), str(row["threads"]), row["stage"].replace("_", " "),
             *(f"{median(row['edges_per_s'][name]) / 1e6:.1f}" if name in row["edges_per_s"] else "" for name in systems),
             f"{row['times_the_fastest_peer'][1]:.1f} × {row['times_the_fastest_peer'][0]}"]
            for row in record["rows"]]
    return Table(["graph", "fanouts", "threads", "stage", *(f"{name}, M edges/s" for name in systems),
                  "gnomon over the fastest peer"], rows)


def kernels(record: Record) -> Table:
    groups: dict[tuple[str, str], list[Record]] = {}
    for row in record["rows"]:
        groups.setdefault((row["operation"], row["direction"]), []).append(row)

    def range_of(rows: list[Record], peer: str) -> str:
        values = [row["times_faster_than"][peer] for row in rows if peer in row["times_faster_than"]]
        if not values:
            return ""
        return f"{statistics.median(values):.1f} × ({min(values):.1f} to {max(values):.1f})"

    rows = [[operation, direction, str(len(group)), range_of(group, "dgl"), range_of(group, "torch_sparse")]
            for (operation, direction), group in sorted(groups.items())]
    return Table(["operation", "direction", "cases", "over DGL: median (range)", "over torch.sparse: median (range)"], rows)


def orders(record: Record) -> Table:
    rows = [[row["graph"], fanouts(row), str(row["threads"]), row["stage"].replace("_", " "),
             *(times(median(row["over_none"][order])) for order in ("degree", "rcm"))] for row in record["rows"]]
    return Table(["graph", "fanouts", "threads", "stage", "degree order", "reverse Cuthill-McKee"], rows)


def presets(record: Record) -> Table:
    def over(row: Record, plan: str) -> str:
        middle, low, high = row["over_best_preset"][plan]
        return f"{middle:.2f} × ({low:.2f} to {high:.2f})"

    rows = [[row["graph"], seconds(row["profile_and_tune_s"]), row["best_preset"],
             seconds(median(row["epoch_s"][row["best_preset"]])), over(row, "tuned"), over(row, "autotuned")]
            for row in record["rows"]]
    return Table(["graph", "profile and tune", "best preset", "its epoch", "tune", "autotune"], rows)


REGRETS = {"regret": "autotune", "regret_baseline": "earlier build", "regret_random": "random order of measurements",
           "regret_full": "full profile, then tune", "regret_predicted": "prediction alone"}


def regret(record: Record) -> Table:
    counted = [row for row in record["rows"] if "nothing_trains" not in row]
    ways = [key for key in REGRETS if any(key in row for row in counted)]
    groups: dict[str, list[Record]] = {}
    for key in ("device", "model"):
        for row in counted:
            groups.setdefault(row[key], []).append(row)

    def spread(values: list[float]) -> str:
        values = sorted(values)
        figures = [statistics.median(values), values[math.ceil(0.9 * len(values)) - 1], values[-1]] if values else []
        return " / ".join(map(percent, figures))

    def cells(name: str, rows: list[Record]) -> Row:
        done = [row for row in rows if row["regret"] is not None]
        within = percent(sum(row["regret"] <= 0.02 for row in done) / len(rows), 0)
        return [name, str(len(rows)), str(len(rows) - len(done)), within, *(spread([row[way] for row in done if way in row]) for way in ways)]

    return Table(["device or model", "cases", "failed", "regret at most 2 %", *(REGRETS[way] for way in ways)],
                 [cells(*group) for group in [*groups.items(), ("all", counted)]])


def training(record: Record) -> Table:
    systems = ("gnomon", "dgl", "pyg")
    rows = [[row["graph"], fanouts(row), str(row["threads"]), *(seconds(median(row["seconds"][name])) for name in systems),
             times(row["times_the_fastest_peer"][1]), percent(row["share_of_dense_products"], 0)] for row in record["rows"]]
    return Table(["graph", "fanouts", "threads", *systems, "gnomon over the faster", "GEMM in gnomon's epoch"], rows)


def python_loaders(record: Record) -> Table:
    kinds = {"node": "NeighborLoader", "link": "LinkNeighborLoader, binary negatives",
             "epoch_loader": "training by PyG, our loader", "epoch_nn": "training by gnomon.nn, our loader"}

    def figure(row: Record, name: str) -> str:
        value = median(row[name])
        return f"{1e3 * value:.1f} ms a batch" if row.get("unit") == "s_per_batch" else f"{value:.1f} batches/s"

    def kind(row: Record) -> str:
        return kinds[row["what"]] + (", trimmed" if row.get("trims") and row["what"] == "epoch_loader" else "")

    rows = [[kind(row), row["graph"], fanouts(row), figure(row, "pyg"), figure(row, "gnomon"), times(row["ratio"]),
             percent(row["share_of_limit"], 0) if row["what"] == "epoch_loader" else "",
             f"{median(row['overhead_ms']):.2f} ms" if "overhead_ms" in row else ""] for row in record["rows"]]
    return Table(["what", "graph", "fanouts", "PyG", "gnomon", "gnomon over PyG", "share of the loader's limit",
                  "what Python adds to a batch"], rows)


def python_torch(record: Record) -> Table:
    rows = [[row["python"], row["torch"], row["torch_geometric"], row["numpy"],
             *(str(row["tests"][key]) for key in ("passed", "skipped", "failed"))] for row in record["rows"]]
    return Table(["Python", "torch", "torch-geometric", "NumPy", "passed", "skipped", "failed"], rows)


def python_examples(record: Record) -> Table:
    def accuracy(row: Record, kind: str) -> str:
        return percent(statistics.mean(row["test_accuracy"][kind])) if "test_accuracy" in row else "runs"

    rows = [[row["example"], row["graph"], accuracy(row, "pyg"), accuracy(row, "gnomon"),
             f"{signed(row['difference'])} (standard error {percent(row['standard_error'])})" if "difference" in row else ""]
            for row in record["rows"]]
    return Table(["example", "graph", "PyG's loader", "gnomon's", "difference"], rows)


def policy(record: Record) -> Table:
    workloads = len(record["rows"])
    rows = [[str(row["evaluations"]), f"{row['workloads_better']} of {workloads}", f"{100 * row['median_over_random']:+.2f} %",
             f"{row['p_better_than_random']:.3f}"] for row in record["tests"]["ppo"]]
    return Table(["simulated epochs", "workloads where ppo is faster", "median epoch over random", "p"], rows)


def scaling(record: Record) -> Table:
    rows = [[row["stage"].replace("_", " "), fanouts(row) if "fanouts" in row else "",
             "{:.2f} × ({:.2f} to {:.2f})".format(*row["speedup"])] for row in record["rows"]]
    return Table(["stage", "fanouts", "two threads over one: median (range)"], rows)


def gigabytes(value: float) -> str:
    return f"{value / 1e9:.2f} GB"


def scale(record: Record) -> Table:
    powers = {row["what"]: row for row in record["growth"]}
    largest: dict[str, Record] = {}
    for row in record["rows"]:
        what = row["what"] + (", narrow model" if "largest" in row else "")
        if row["edges"] >= largest.get(what, row)["edges"]:
            largest[what] = row

    def row_of(what: str, row: Record) -> Row:
        power = powers.get(what)
        what += f" of {row['limit_bytes'] / 2**20:.0f} MiB" if "limit_bytes" in row else ""
        return [what, f"{row['edges'] / 1e6:.0f} M", seconds(row["seconds"]), gigabytes(row["peak_bytes"]),
                gigabytes(row["expected_bytes"]) if "expected_bytes" in row else "",
                gigabytes(row["read_bytes"] + row["written_bytes"]),
                *(f"{power[key]:.2f}" if power else "" for key in ("seconds", "peak_bytes"))]

    heads = ["step", "edges", "time", "peak memory", "expected at most", "read and written", "exponent of time", "of memory"]
    return Table(heads, [row_of(what, row) for what, row in largest.items()])


def scale_formulas(record: Record) -> Table:
    """Each formula once, with the steps that it is for and how much of it they take. Older records have none."""
    steps: dict[str, list[Record]] = {}
    for row in record["rows"]:
        if "memory_formula" in row:
            steps.setdefault(row["memory_formula"], []).append(row)

    def row_of(formula: str, rows: list[Record]) -> Row:
        shares = [row["peak_bytes"] / row["expected_bytes"] for row in rows]
        return [", ".join(dict.fromkeys(row["what"] for row in rows)), formula, f"{min(shares):.2f} to {max(shares):.2f}"]

    return Table(["steps", "memory at most", "measured over it"], [row_of(*each) for each in steps.items()])


def inference(record: Record) -> Table:
    part = record["inference"]
    layer = part["one_layers_bytes"]
    rows = [[row["peer"], seconds(row["seconds"]), times(row["ours_times_as_fast"]) if "ours_times_as_fast" in row else "",
             gigabytes(row["peak_bytes"]), times(row["peak_bytes"] / layer)] for row in part["rows"]]
    floor = part["floor"]
    rows.append([f"floor: {floor['flops'] / 1e9:.0f} Gflop and {gigabytes(floor['gathered_bytes'])} of rows", seconds(floor["seconds"]),
                 "", "", ""])
    rows.append(["gnomon, validation split, within a training", seconds(part["evaluation_s"]), "", "", ""])
    if "before" in part:
        before = part["before"]
        rows.append([f"{before['version']}, validation split", seconds(before["evaluation_s"]), times(before["times_as_fast"]), "", ""])
    return Table(["system", "time", "ours as fast", "peak memory", "over one layer's values"], rows)


def oversubscribed(record: Record) -> Table:
    part = record["oversubscribed"]

    def row_of(what: str, costs: Record) -> Row:
        return [what, f"{costs['wall_ns']:,.0f} ns", f"{costs['cpu_ns']:,.0f} ns", f"{costs['sleeps']:.2f}", f"{costs['preemptions']:.2f}"]

    locked = part["critical_sections"]
    rows = [row_of(f"mini-batch, {part['workers']} workers", part["batch"]), row_of("mini-batch, one worker", part["batch_of_one_worker"]),
            row_of(f"step of a team of {part['members']}", part["step"]),
            row_of(f"step of a team of {part['cores']}", part["step_of_all_cores"]),
            ["in the machine's lock, to start a mini-batch's stages", f"{locked['start_ns']:,.0f} ns", "", "", ""],
            ["in the machine's lock, to ask for one", f"{locked['ask_ns']:,.0f} ns", "", "", ""]]
    return Table(["what", "time", "processors' time", "wake-ups", "preemptions"], rows)


def predicted_cores(record: Record) -> Table:
    def row_of(row: Record) -> Row:
        return [row["plan"], f"{row['machine.cpu.cores']:.0f}", str(row["workers"]), str(row["device_threads"]), seconds(row["epoch_s"]),
                row["bound_by"], percent(row["over_bound"], 0), row["extrapolated"] or ""]

    return Table(["plan", "cores", "workers", "device threads", "epoch", "bound by", "over its lower bound", "beyond what was measured"],
                 [row_of(row) for row in record["oversubscribed"]["predicted"]])


def out_of_core(record: Record) -> Table:
    def cells(row: Record) -> Row:
        return [row["what"].replace("_", " "), row.get("graph", ""), row["plan"], number(row["value"], ".3g"), f"{row['of']:.3g}",
                number(row["ratio"], ".2f"), row.get("why_not", row.get("peer", row.get("about", "")))]

    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    return Table(["what", "graph", "plan, reader or peer", "value", "of", "ratio", "beside"], [cells(row) for row in record["rows"]])


def partitions(record: Record) -> Table:
    def cells(row: Record) -> Row:
        return [row["graph"], row["method"], f"{row['edges'] / 1e6:.0f} M", seconds(row["seconds"]), f"{row['peak_bytes'] / 1e6:.0f} MB",
                percent(row["cut_share"]), f"{row['label_imbalance']:.2f}", percent(row["edges_within"]),
                "{:.2f} to {:.2f}".format(*row["read_over_simulated"])]

    return Table(["graph", "method", "edges", "cores' time", "peak memory", "edges cut", "label imbalance", "neighbours in memory",
                  "bytes read over simulated"], [cells(row) for row in record["rows"]])


def bounds(record: Record) -> Table:
    rows = [[row["schedule"], *(f"{row[key]:.3f}" for key in ("median", "p90", "most")),
             str(row["cases_under_their_lower_bound"]), str(row["cases_over_three_times_the_lower_bound"])]
            for row in record["runs"][0]["epoch_over_lower_bound"]]
    return Table(["schedule", "median", "90th percentile", "maximum", "cases below the bound", "cases above 3 × the bound"],
                 rows)


def surrogates(record: Record) -> Table:
    rows = [[name, f"{value:.2f}"] for name, value in record["held_out_r2"].items()]
    return Table(["predicted", "R² of logarithms on held-out graphs"], rows)


def searches(record: Record) -> Table:
    names = list(record["rows"][0]["evaluations_to_1_percent"])
    budget = record["budget"]

    def row_of(name: str) -> Row:
        runs = [run for row in record["rows"] for run in row["evaluations_to_1_percent"].get(name, [])]
        counts = sorted(budget + 1 if run is None else run for run in runs)

        def quantile(share: float) -> str:
            value = counts[min(len(counts) - 1, int(share * len(counts)))]
            return f"over {budget}" if value > budget else str(value)

        return [name, str(len(runs)), quantile(0.5), quantile(0.95), str(sum(run is None for run in runs))]

    return Table(["search", "runs", "median", "95th percentile", "not within the budget"], [row_of(name) for name in names])


def benchmarks(record: Record) -> Table:
    rows = [[row["name"].split("/process_time")[0], f"{row['real_time']:.1f} {row['time_unit']}"] for row in record["benchmarks"]]
    return Table(["benchmark", "time"], rows)


def errors(plans: list[Record], graph: Row) -> list[Row]:
    def cells(row: Record) -> Row:
        plan = row["plan"] if isinstance(row["plan"], dict) else {"name": row["plan"], **row}
        return [*graph, plan["name"], str(plan["workers"]), str(plan["device_threads"]), seconds(row["predicted_s"]),
                seconds(row["measured_s"]), signed(row["error"])]

    return [cells(row) for row in plans]


def validation(record: Record) -> Table:
    mean = ["mean absolute error", "", "", "", "", percent(record["mean_absolute_error"])]
    return Table(["plan", "workers", "device threads", "predicted", "measured", "error"],
                 [*errors(record["plans"], []), mean])


def validations(record: Record) -> Table:
    rows: list[Row] = []
    for graph in record["rows"]:
        rows += errors(graph["plans"], [graph["graph"]])
        rows.append([graph["graph"], "mean absolute error", "", "", "", "", percent(graph["mean_absolute_error"])])
    return Table(["graph", "plan", "workers", "device threads", "predicted", "measured", "error"], rows)


def first_contact(record: Record) -> Table:
    def gigabytes(value: float) -> str:
        return f"{value / 1e9:.2f} GB"

    rows = [[row["graph"], row["model"], row["plan"], seconds(row["predicted_s"]), seconds(row["measured_s"]),
             signed(row["predicted_s"] / row["measured_s"] - 1), gigabytes(row["predicted_bytes"]),
             gigabytes(row["measured_bytes"]), signed(row["predicted_bytes"] / row["measured_bytes"] - 1)]
            for row in record["rows"]]
    rows.append(["median of absolute errors", "", "", "", "", percent(record["time_median_error"]), "", "",
                 percent(record["memory_median_error"])])
    return Table(["graph", "model", "plan", "predicted", "measured", "error", "memory", "measured", "error"], rows)


def cores(record: Record) -> Table:
    rows = [[row["graph"], row["model"], row["plan"], seconds(row["kept_s"]), seconds(row["predicted_s"]),
             seconds(row["predicted_interval_s"]) if row["predicted_interval_s"] else "-", seconds(row["measured_s"]),
             signed(row["predicted_s"] / row["measured_s"] - 1)] for row in record["rows"]]
    rows.append(["median of absolute errors", "", "", percent(record["median_error_if_kept"]), "", "", "", percent(record["median_error"])])
    return Table(["graph", "model", "plan", "predicted for one core", "for two", "+-", "measured on two", "error"], rows)


def lessons(record: Record) -> Table:
    rows = [[of["device"], stage["stage"], str(stage["groups"]), str(stage["rows"]), percent(stage["error_before"]),
             percent(stage["error_after"]), "yes" if stage["helps"] else "no"] for of in record["devices"] for stage in of["stages"]]
    return Table(["device", "stage", "graphs", "times", "error", "corrected", "used"], rows)


def machines(record: Record) -> Table:
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for row in record["rows"]:
        kind = "epochs" if row["stage"].startswith("epoch") else row["stage"]
        groups.setdefault((row["from"].split("/")[0], row["to"].split("/")[0], kind), []).append(row)

    def error(row: Record, key: str) -> float:
        return abs(row[key] / row["measured_s"] - 1)

    def cells(key: tuple[str, str, str], rows: list[Record]) -> Row:
        inside = sum(abs(row["predicted_s"] - row["measured_s"]) <= row["interval"] * row["predicted_s"] for row in rows)
        errors = [error(row, "predicted_s") for row in rows]
        return [key[0].replace("_", " "), key[1].replace("_", " "), key[2].replace("_", " "), percent(statistics.median(errors)),
                percent(max(errors)), percent(statistics.median(error(row, "kept_s") for row in rows)), f"{inside} of {len(rows)}"]

    def medians(name: str, of: Record) -> list[Row]:
        return [[name, "", what, percent(of[f"{what}_median_error"]), "", percent(of[f"{what}_median_error_if_kept"]),
                 f"{round(of[f'{what}_within_interval']['all'] * of[what])} of {of[what]}"] for what in ["stages", "epochs"]]  # fmt: skip

    def orders(name: str, of: Record) -> list[Row]:
        ties = f"; {of['orders_without_order']} left out, whose plans are equal within the noise" if "orders_without_order" in of else ""
        share = f"Spearman at least 0.9 in {of['orders_in_order']} of {of['orders']}{ties}" if "orders_in_order" in of else ""
        return [[name, "", "order of plans", f"median {of['spearman_median']:.2f}", f"least {of['spearman_min']:.2f}", share,
                 f"{of['pairs_in_order']} of {of['pairs_of_plans']} pairs in order"]]  # fmt: skip

    rows = [cells(key, rows) for key, rows in sorted(groups.items(), key=lambda item: (item[0][0] == item[0][1], item[0]))]
    rows += [row for name, of in record["summary"].items() for row in [*medians(name, of), *orders(name, of)]]
    return Table(["measured on", "predicted for", "what", "median error", "largest", "if times were kept", "within the interval"], rows)


def moved_papers(record: Record) -> Table:
    cells: dict[tuple[str, str, str], dict[str, Record]] = {}
    for row in record["rows"]:
        cells.setdefault((row["what"], row["model"], row["dataset"]), {})[row["from"]] = row

    def line(key: tuple[str, str, str], of: dict[str, Record]) -> Row:
        unit = "" if key[0] == "first ratio" else " s"
        told = [[f"{row['predicted']:.2f}{unit}", signed(row["predicted"] / row["printed"] - 1)] for row in of.values()]
        return [*key, f"{next(iter(of.values()))['printed']:.2f}{unit}", *(cell for pair in told for cell in pair)]

    sources = list(record["median_error"])
    rows = [line(key, of) for key, of in sorted(cells.items(), key=lambda item: (item[0][0] == "first ratio", item[0]))]
    for what in dict.fromkeys(row["what"] for row in record["rows"]):
        medians = [["", percent(record["median_error"][source][what])] for source in sources]
        rows.append([what, "median of absolute errors", "", "", *(cell for pair in medians for cell in pair)])
    heads = [head for source in sources for head in (f"from {source}", "error")]
    return Table(["what", "model", "data set", "printed for C", *heads], rows)


def replanning(record: Record) -> Table:
    names = {None: "none", "compute": "a process that computes on one core", "memory": "a process that copies memory on one core",
             "core": "one core is lost"}

    def changes(row: Record) -> str:
        last = [run[-1]["to"] for run in row["comparisons"] if run]
        return ", ".join(f"{plan} ({last.count(plan)} of {len(row['comparisons'])})" for plan in dict.fromkeys(last)) or "as before"

    return Table(["from the middle of an epoch on", "training alone", "beside it", "beside it with --replan", "ratio", "plan at the end"],
                 [[names[row["load"]], seconds(row["alone_s"]), seconds(row["training_s"]), seconds(row["replanned_s"]),
                   times(statistics.median(row["ratios"])), changes(row)] for row in record["rows"]])


def every_plan(record: Record) -> Table:
    def cells(row: Record) -> Row:
        if not row["runs"]:
            return [row["preset"], row["device"], "", "", "", "", "", row["why_not"]]
        error = row["predicted_s"] / row["measured_s"] - 1
        return [row["preset"], row["device"], row["exact"], seconds(row["predicted_s"]), seconds(row["measured_s"]), signed(error),
                percent(row["accuracy"]), ""]

    return Table(["preset", "device", "exact", "predicted", "measured", "error", "accuracy", "does not run"],
                 [cells(row) for row in record["rows"]])


def compare_plans(record: Record) -> Table:
    groups: dict[tuple[str, str], list[float]] = {}
    for row in record["rows"]:
        error = abs(row["predicted_s"] / row["measured_s"] - 1)
        groups.setdefault((row["graph"], row["device"]), []).append(error)
    rows = [[graph, device, str(len(errors)), percent(statistics.median(errors)), percent(max(errors))]
            for (graph, device), errors in groups.items()]
    rows.append(["all", "", str(len(record["rows"])), percent(record["median_error"]),
                 f"{percent(record['p90_error'])} at the 90th percentile; Spearman {record['spearman']:.3f}"])
    return Table(["graph", "device", "plans", "median error", "maximum"], rows)


GPU_UNITS = {"copy_to_device": 1e9, "zero_copy_gather": 1e9, "cached_gather": 1e9, "device_sampling_edges_per_s": 1e6,
             "zero_copy_sampling_edges_per_s": 1e6}


def gpu(record: Record) -> Table:
    """What a GPU does, one row each; the case is all that tells rows of a kind apart."""
    if record.get("rehearsal"):
        raise SystemExit("bench/results.py: gpu.json is of a rehearsal, which has no figures of a GPU")

    def figure(what: str, value: float | None) -> str:
        if value is None:
            return ""
        if what == "launches_per_batch":
            return f"{value:.0f}"
        if what == "kernel_time":
            return f"{1e6 * value:.0f} µs"
        if what not in GPU_UNITS:
            return seconds(value)
        return f"{value / GPU_UNITS[what]:.1f} {'GB/s' if GPU_UNITS[what] == 1e9 else 'M edges/s'}"

    def case(row: Record) -> str:
        told = {"plan": "", "kernel": "", "peer": "", "prepare_share": "share for preparing ", "memory": "memory ", "workers": "workers ",
                "scale": "R-MAT 2^", "batch": "batch ", "best": "beside ", "share": "share of the slots ", "table_mib": "a table of MiB ",
                "by": "by "}
        words = [f"{prefix}{row[key]}" for key, prefix in told.items() if row.get(key) is not None]
        words += [text for key, text in (("graphs", "recorded steps"), ("by_place", "by place")) if row.get(key)]
        return ", ".join(words + ([] if row.get("shifted", True) else ["not shifted to lines"]))

    def cells(row: Record) -> Row:
        return [row["what"].replace("_", " "), case(row), str(row["row_bytes"] or ""), figure(row["what"], row["value"]),
                figure(row["what"], row["of"]), "" if row["ratio"] is None else f"{row['ratio']:.2f}", row.get("why_not", "")]

    return Table(["what", "case", "bytes a row", "measured", "beside", "ratio", "why not"], [cells(row) for row in record["rows"]])


def gpu_kit(record: Record) -> Table:
    rows = [["packed", f"{record['packed_bytes'] / 1e6:.1f} MB", "", "", ""], ["unpacked", f"{record['unpacked_bytes'] / 1e6:.1f} MB", "", "", ""]]
    rows += [[f"kernels for {row['architecture']}", str(row["kernels"]), str(row["max_registers"]), str(len(row["spilling"])), str(row["warnings"])]
             for row in record["architectures"]]
    return Table(["what", "size or number", "registers at most", "kernels with spills", "sources with warnings"], rows)


def builds(record: Record) -> Table:
    weights = [row for row in record["rows"] if row["what"] == "weights"]
    equal = sum(row["equal"] for row in weights)
    rows = [["final weights, pairs of plan and job", "", "", f"{equal} of {len(weights)} bit-identical"]]
    rows += [[row["what"].replace("_", " "), fanouts(row), str(row["threads"]), f"{row['ratio']:.3f}"]
             for row in record["rows"] if "ratio" in row]
    return Table(["what", "fanouts", "threads", "time after over before"], rows)


SECTIONS = [
    Section("compare_training", "Training epochs beside DGL and PyG",
            "GraphSAGE, three layers, 256 hidden features, batches of 1,024, 20 mini-batches an epoch; each system with its "
            "fastest setting. Medians of the rounds.", "bench/compare_training.py", training),
    Section("compare_python", "Python: loaders and layers beside PyTorch Geometric's",
            "One Python process, the same data, batches of 1,024, each loader with its best number of workers. The limit of a "
            "loader is an epoch that takes as long as training alone. Medians of the rounds.", "bench/compare_python.py",
            python_loaders),
    Section("python_examples", "Python: PyTorch Geometric's examples with its loaders and with ours",
            "Test accuracy at the end of the example, means of three seeds; only imports are replaced.",
            "bench/python_examples.py --examples DIR", python_examples),
    Section("python_torch", "Python: the oldest and the newest torch",
            "The package's tests with the same library.", "bench/python_torch.py", python_torch),
    Section("compare_peers", "Mini-batch preparation beside other systems",
            "Sampling and compaction (sample), and with the feature rows gathered (sample gather). DGL, GraphBolt and gnomon "
            "expand in each hop every vertex seen so far; pyg-lib and torch-sparse expand each vertex once, hence edges per "
            "second. Medians of the rounds.", "bench/compare_peers.py", preparation),
    Section("compare_weighted", "Weighted sampling beside DGL and GraphBolt",
            "Neighbours drawn without replacement in proportion to edge weights. Medians of the rounds.",
            "bench/compare_peers.py --weighted --graphs rmat20", preparation),
    Section("compare_kernels", "Sparse kernels beside DGL and torch.sparse",
            "SpMM, SDDMM, edge softmax and fused gather and aggregate on sampled blocks: how many times faster gnomon is, over "
            "all graphs, fanouts, widths and thread counts of the record.", "bench/compare_kernels.py", kernels),
    Section("scaling", "Two threads over one", "Each thread prepares mini-batches of its own; the first row is random reads of "
            "memory.", "bench/scaling.py --graphs rmat20 --threads 2 --rounds 9", scaling),
    Section("scale", "How time and memory grow with the graph",
            "Whole processes on R-MAT graphs with 16 fp32 features a vertex, the largest of each step; exponents are those of "
            "powers of the number of edges, over all sizes of the record. Read and written is what reached the disk.",
            "bench/scale.py", scale),
    Section("scale", "What memory the steps take at most", "Of the formulas' bytes, over all sizes of the record.", "bench/scale.py",
            scale_formulas),
    Section("scale", "Inference beside PyTorch Geometric and DGL",
            "GraphSAGE, three layers, 256 hidden features, all vertices of R-MAT 2^20 with 128 features. Ours is the whole process of "
            "`gnomon evaluate`, the others only the second of two inferences. The floor is the time of GEMMs and of gathers of rows at the "
            "rates of `gnomon machine`.", "bench/scale.py", inference, "inference"),
    Section("scale", "Threads beyond the cores", "Mini-batches without work, and steps of a thread team without work: what each costs.",
            "bench/scale.py", oversubscribed, "oversubscribed"),
    Section("scale", "Epochs predicted for more cores",
            "R-MAT 2^18, GraphSAGE, fanouts 15,10,5, 256 hidden features, from a profile on this machine.", "bench/scale.py", predicted_cores, "oversubscribed"),
    Section("out_of_core", "Plans that read the disk, in less memory than the graph takes",
            "R-MAT with 128 fp16 features in a memory control group: ns-ext, mariusgnn, hanoi and the peers in a quarter of the graph's "
            "size, ginex with half of the features' size beside the topology. Epochs beside those of ns-mem without a limit, reads "
            "beside the disk as measured before and after, peak memory beside the limit, predicted beside measured epochs, our reader beside as many "
            "threads that call pread. Bytes, seconds, and reads per second. joestar-1 and joestar-2 train from a graph in memory, "
            "of 2^23 vertices.",
            "bench/out_of_core.py", out_of_core),
    Section("partition", "Partitions",
            "32 parts, of which 8 are a macro-batch. Label imbalance: training vertices in the parts that have most of each class, over "
            "those of a perfect division. Neighbours in memory: of the vertices of a macro-batch, those in its parts, without hubs. "
            "Bytes read for a macro-batch beside the simulated ones: the fewest and the most. The peak has the pages of the program and "
            "of the store's row pointers and splits.",
            "bench/partition.py", partitions),
    Section("compare_builds", "The last two builds beside each other",
            "A build before a change and one after it take turns; medians of the rounds' ratios.",
            "bench/compare_builds.py BEFORE AFTER", builds),
    Section("compare_orders", "Vertex orders", "Edges per second in a reordered store over those in the original order.",
            "bench/compare_orders.py --graphs rmat20,planted,slashdot,twitter --rounds 5 --seconds 0.4", orders),
    Section("validate", "Predicted and measured epochs", "The demo's graph, GraphSAGE, fanouts 10,10, 118 mini-batches an "
            "epoch; medians of three epochs at real-time priority.", "gnomon validate", validation),
    Section("first_contact", "Predicted and measured epochs and memory on real graphs",
            "Each graph imported and profiled by default settings; medians of several profiles and validations, and the peak of a "
            "process's resident memory. Nothing is fitted.", "bench/first_contact.py", first_contact),
    Section("cores", "Two cores, predicted from profiles on one",
            "Epochs on two cores, predicted by the law of cores from profiles of processes that were limited to one. Nothing is fitted.",
            "bench/cores.py", cores),
    Section("lessons", "What earlier runs teach",
            "Root mean square errors of a stage's time on graphs that were held out: as predicted by profiles of three seconds, and "
            "corrected by what runs on the other graphs teach. A correction is used where it lowers the error significantly.",
            "bench/lessons.py", lessons),
    Section("machines", "Jobs on other machines, from their profiles on one",
            "Five jobs; stages of a mini-batch, and epochs of five plans. Each kind of machine is measured as it is and restricted: to one "
            "core, beside a process that copies memory on one of its cores, or without huge pages; rows between machines of one kind "
            "compare these. The few constants of the counts, and the two of the intervals, were chosen by these rows.",
            "bench/machines.py", machines),
    Section("moved_papers", "MorphGL's machine C, from its machines A and B",
            "Epochs that the paper prints for SALIENT and DUCATI, and the dispatcher's first ratios, predicted by "
            "`explore --machine morphgl-C` from the cores and the bandwidths of data sheets: C is half of A's GPU (MIG), with half of its "
            "cores. GNNLab and DUCATI print the epochs of one machine each, so that nothing of theirs can be predicted for another.",
            "bench/moved_papers.py", moved_papers),
    Section("validate_threads", "Predicted and measured epochs with more threads than cores",
            "Presets as they are, and with two device threads beside a worker on two cores.", "gnomon validate", validations),
    Section("gpu", "On a GPU",
            "R-MAT 2^21 unless the case says otherwise, GraphSAGE, fanouts 15,10,5, 256 hidden features, batches of 1,024. What is measured stands beside: copies over the "
            "link or within device memory; sampling in device memory; the fastest preset with that memory; the measured epoch; gnomon's best preset; "
            "the launches that a double of a GPU counts.", "kit/run.sh PHASE OUT", gpu),
    Section("gpu_h100", "On an H100",
            "The same by another card, without what the memories and the link alone do, and with half of the memory and evaluation.",
            "kit/run.sh PHASE OUT", gpu),
    Section("gpu_kit", "What is packed for a GPU",
            "The kit of bench/gpu/pack.sh, and its kernels compiled for the architectures of LibTorch's CUDA wheel; registers and spills "
            "of each kernel are in the record.", "bench/gpu/kit_record.py", gpu_kit),
    Section("every_plan", "Every preset on every kind of device",
            "A planted graph, GraphSAGE, fanouts 10,10, batches of 512. The emulated device has the memory and the link of a machine "
            "of the catalog and computes on the host's cores.", "bench/every_plan.py", every_plan),
    Section("compare_plans", "Predicted and measured epochs on emulated devices",
            "Caches of every policy and several budgets, data in either memory, routes and links; a core for each worker and each "
            "device thread.", "bench/compare_plans.py", compare_plans),
    Section("compare_presets", "Chosen plans beside the fastest preset",
            "Measured epochs of the plans from `tune` (prediction alone) and `autotune` (verified by real runs) over those of "
            "the fastest preset; medians and ranges of the quotients within a round.", "bench/compare_presets.py", presets),
    Section("regret", "Regret of the chosen plan",
            "Epoch time of the chosen plan relative to the fastest known plan of the same exactness, minus 1: median / 90th percentile / "
            "maximum. The chosen plan is that of `autotune` by default, of an earlier build, with a random order of measurements, of "
            "`tune` after a full profile, and the one that `autotune` predicts to be the best before it verifies plans by real runs. Small "
            "negative values are noise.", "bench/regret.py", regret),
    Section("tuner", "Simulated epochs until the search is within 1 % of the optimum",
            "Random workloads whose optimum is known by exhaustion. `gnomon` (`--strategy auto`) also ranks plans by lower "
            "bounds and arithmetic estimates, which are not counted.", "build/release/bench/bench_tuner; bench/compare_tuners.py",
            searches),
    Section("replanning", "Training beside other processes, with and without re-planning",
            "One training with the tuned plan; all end with the same bits.", "bench/replanning.py", replanning),
    Section("tuner_speed", "Time of the tuner's parts", "", "build/release/bench/bench_tuner_speed", benchmarks),
    Section("policy", "PPO beside random search", "One-sided Wilcoxon test over workloads, ten seeds each.",
            "build/release/bench/bench_policy --optima bench/results/tuner.json", policy),
    Section("surrogates", "Surrogates on unseen graphs",
            "Throughput and memory of plans, learned from the simulator's predictions on other graphs; folds leave whole graphs "
            "out.", "bench/surrogates.py", surrogates),
    Section("accuracy", "Test accuracy beside published values", "Means and standard deviations over the seeds.",
            "build/release/bench/bench_accuracy FOLDER -o bench/results/accuracy.json", accuracy),
    Section("recipes", "Published recipes",
            "Tolokers and minesweeper: normalisation, skip connections and a cosine schedule, means over the given masks; Cora "
            "and Citeseer: weight decay, means over seeds.", "bench/recipes.py", recipes),
    Section("figures", "Papers' figures that are measured",
            "On graphs that are generated in the shape of the papers'; the numbers, and which claims hold, are in "
            "[reproduce.md](reproduce.md#measured-figures).", "bench/figures.py --measure all", figures),
    Section("approximate", "Approximate plans beside the exact one",
            "Mean test accuracy over the seeds. Vertices, edges and bytes are means of an epoch on the device that trains.",
            "bench/approximate.py", approximate),
    Section("other_models", "Training of other models than measured",
            "Epochs that `gnomon explore --set workload.job.model=… --set workload.job.hidden=…` predicts from the profile of one model, "
            "beside predictions from the other model's own profile, for all pairs of GraphSAGE, GCN and GAT with 16, 64 and 256 hidden "
            "channels (fanouts 10,10). The deviation that `+-` contains is fitted to these rows.",
            "bench/other_models.py", other_models),
    Section("biased_accuracy", "Test accuracy with biased sampling", "GraphSAGE, fanouts 5,5, six epochs.",
            "bench/biased_accuracy.py", biased),
    Section("schedule_bounds", "Schedules over their lower bound",
            "Makespans of epochs of 1,000 mini-batches on random machines over the bound that no schedule can beat.",
            "build/release/bench/schedule_bounds --cases 20000 --spread 0", bounds),
]


def origin(record: Record) -> str:
    """When and where a record was made, as far as it says."""
    machine = record.get("machine", {})
    words = [f"recorded {record['recorded']}" if "recorded" in record else "date unknown"]
    if "commit" in record:
        words.append(f"commit {record['commit']}")
    if "cores" in machine:
        words.append(f"{machine.get('cpu', machine.get('processor', 'unknown processor'))}, {machine['cores']} cores")
    return "; ".join(words)


def is_recorded(section: Section) -> bool:
    path = RECORDS / f"{section.record}.json"
    return path.exists() and (not section.part or section.part in json.loads(path.read_text()))


def section_text(section: Section) -> str:
    """Empty if the record has no rows for the section."""
    name = f"{section.record}.json"
    record = json.loads((RECORDS / name).read_text())
    heads, rows = section.table(record)
    if not rows:
        return ""
    lines = [f"## {section.title}", ""]
    if section.about:
        lines += [section.about, ""]
    lines += [f"Record: [`{name}`](../bench/results/{name}) ({origin(record)}). Command: `{section.command}`.", ""]
    if "older_than" in record:
        lines += [f"**Older than the code**: {record['older_than']}", ""]
    for caveat in record.get("caveats", []):
        lines += [caveat, ""]
    lines += ["| " + " | ".join(cells) + " |" for cells in (heads, ["---"] * len(heads), *rows)]
    return "\n".join(lines)


def page() -> str:
    files = {path.stem for path in RECORDS.glob("*.json")}
    described = {section.record for section in SECTIONS}
    unknown = sorted(files - described)
    if unknown:
        raise SystemExit(f"bench/results.py: no section for {', '.join(unknown)}")
    head = ("# Results\n\n<!-- Written by bench/results.py from bench/results/*.json; do not edit. -->\n\n"
            "Every table is generated from the record that it names. What is measured and how is described in\n"
            "[bench/README.md](../bench/README.md).\n")
    texts = [section_text(section) for section in SECTIONS if is_recorded(section)]
    return head + "\n" + "\n\n".join(filter(None, texts)) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/results.md from the records in bench/results.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is not up to date")
    arguments = parser.parse_args()
    text = page()
    if not arguments.check:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(text)
        return 0
    if PAGE.exists() and PAGE.read_text() == text:
        return 0
    print("bench/results.py: docs/results.md is not up to date; run bench/results.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
