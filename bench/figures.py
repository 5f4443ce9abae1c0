#!/usr/bin/env python3
"""Writes the list of the papers' figures in docs/reproduce.md: each with its verdict, its error and its claims.

    bench/figures.py [--program GNOMON] [--check]
    bench/figures.py --measure all|PAPER[/FIGURE][,PAPER[/FIGURE]…] [--program GNOMON]

With --check nothing is written, and the exit code is 1 if the list differs from gnomon's output. With --measure the figures of these
papers are measured first, on graphs that gnomon generates for them, and recorded in bench/results/figures.json, from which the list
takes their numbers."""
import argparse
import json
import pathlib
import subprocess
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench/peers"))
from harness import origin, write_record  # noqa: E402

PAGE = ROOT / "docs/reproduce.md"
RECORD = ROOT / "bench/results/figures.json"
BEGIN = "<!-- Written by bench/figures.py; do not edit. -->\n"
END = "<!-- End of what bench/figures.py writes. -->\n"
PAPERS = ["morphgl", "neutronorch", "a3gnn", "hanoi", "joestar", "pytorch-direct", "gnnlab", "ducati"]
VERDICTS = ["reproduced", "predicted", "measured", "not"]

Record = dict[str, Any]


def gnomon(program: str, *arguments: str) -> Record:
    result = subprocess.run([program, "reproduce", *arguments, "--json"], check=True, stdout=subprocess.PIPE, text=True)
    document: Record = json.loads(result.stdout)
    return document


def recorded() -> dict[str, list[Record]]:
    papers: dict[str, list[Record]] = json.loads(RECORD.read_text(encoding="utf-8"))["papers"] if RECORD.exists() else {}
    return papers


def measured_ids(program: str, paper: str) -> list[str]:
    """The figures that --measure adds something to."""
    return [figure["id"] for figure in gnomon(program, paper, "all")["figures"] if figure["not_measured"]]


def chosen(program: str, text: str) -> dict[str, list[str]]:
    """Figures by paper: of "all", "gnnlab,ducati" or "neutronorch/F17,gnnlab"."""
    wanted: dict[str, list[str]] = {}
    for name in PAPERS if text == "all" else text.split(","):
        paper, _, one = name.partition("/")
        wanted.setdefault(paper, []).extend([one] if one else measured_ids(program, paper))
    return wanted


def measure(program: str, wanted: dict[str, list[str]], is_all: bool) -> None:
    """Measures figures, and writes the record after each; the others stay as they are recorded. Of some figures, each says when."""
    figures = recorded()
    kept = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() and not is_all else origin()
    for paper, ids in wanted.items():
        for one in ids:
            new = gnomon(program, paper, one, "--measure")["figures"][0]
            if not any(chart["measured_on"] for chart in new["charts"]):
                continue
            if not is_all:
                new |= {name: origin()[name] for name in ("recorded", "commit")}
            order = measured_ids(program, paper)
            others = [figure for figure in figures.get(paper, []) if figure["id"] != one]
            figures[paper] = sorted([*others, new], key=lambda figure: order.index(figure["id"]))
            write_record(RECORD, {**kept, "schema": "gnomon.measured_figures/1", "papers": figures})


def drawn(program: str, paper: str) -> Record:
    return gnomon(program, paper, "all", *(["--measured", str(RECORD)] if RECORD.exists() else []))


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def line(cells: list[str]) -> str:
    return "| " + " | ".join(map(cell, cells)) + " |"


def table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join([line(heads), "|" + "---|" * len(heads), *map(line, rows)]) + "\n"


def number(value: float | None, unit: str = "") -> str:
    return "" if value is None else f"{value:.3g} {unit}".strip()


def percent(share: float | None) -> str:
    return "" if share is None else f"{round(100 * share):+d} %"


def verdict_of(figure: Record) -> str:
    """A measured figure that could not be measured is not drawn."""
    return "not" if figure["verdict"] == "measured" and not figure["charts"] else str(figure["verdict"])


def command(paper: str, figure: Record) -> str:
    """What draws the figure with all of its panels; measured ones without DATA on a generated graph."""
    if verdict_of(figure) == "not":
        return ""
    is_measured = any(chart["measured_on"] for chart in figure["charts"]) or figure["not_measured"]
    return f"`gnomon reproduce {paper} {figure['id']}{' --measure' if is_measured else ''}`"


def counted(claims: list[Record], what: str) -> str:
    decided = [claim[what] for claim in claims if what in claim]
    return f"{sum(decided)} of {len(decided)}" if decided else ""


def is_computed(claim: Record) -> bool:
    return "direction" in claim or "size" in claim


def figure_row(paper: str, figure: Record) -> list[str]:
    error = f"{100 * figure['mean_error']:.1f} % of {figure['printed_numbers']}" if "mean_error" in figure else ""
    why = figure["why"] or (figure["not_measured"] if verdict_of(figure) == "not" else "")
    return [figure["id"], f"{figure['shows']}: {why}" if why else figure["shows"], verdict_of(figure), command(paper, figure), error,
            counted(figure["claims"], "direction"), counted(figure["claims"], "size")]


def printed(claim: Record) -> str:
    if "printed_to" in claim:
        return f"{claim['printed']:.3g} to {number(claim['printed_to'], claim['unit'])}"
    return number(claim.get("printed"), claim["unit"]) + (" (limit)" if claim["limit"] else "")


def claim_row(figure: Record, claim: Record) -> list[str]:
    def judged(what: str) -> str:
        return "" if what not in claim else "yes" if claim[what] else "no"

    why_not = "" if is_computed(claim) else f"not computed: {claim['why_not']}"
    return [figure["id"], claim["text"], printed(claim), number(claim.get("value"), claim["unit"]), percent(claim.get("error")),
            judged("direction") or why_not, judged("size")]


def section(paper: Record) -> str:
    claims = [claim_row(figure, claim) for figure in paper["figures"] for claim in figure["claims"]]
    return (f"### {paper['paper']}\n\n"
            + table(["figure", "shows", "verdict", "command", "mean error", "direction", "size"],
                    [figure_row(paper["paper"], row) for row in paper["figures"]])
            + "\n" + table(["figure", "the paper says", "printed", "here", "error", "direction", "size"], claims))


def summary(papers: list[Record]) -> str:
    def row(paper: Record) -> list[str]:
        verdicts = [verdict_of(figure) for figure in paper["figures"]]
        claims = [claim for figure in paper["figures"] for claim in figure["claims"]]
        return [paper["paper"], str(len(verdicts)), *(str(verdicts.count(verdict)) for verdict in VERDICTS),
                counted(claims, "direction"), counted(claims, "size"), str(sum(not is_computed(claim) for claim in claims))]

    heads = ["paper", "figures and tables", "reproduced", "predicted", "measured", "not drawn", "direction holds", "size holds",
             "claims not computed"]
    return table(heads, [row(paper) for paper in papers])


def exact_accuracies(papers: list[Record]) -> str:
    """The accuracy of exact training on the planted graphs: the first series of the panels of test accuracies."""
    rows: list[list[str]] = []
    for paper in papers:
        for figure in paper["figures"]:
            for chart in figure["charts"]:
                if chart["measured_on"].startswith("planted") and chart["y_label"] == "test accuracy, %" and chart["series"][0]["points"]:
                    point = chart["series"][0]["points"][0]
                    row = [f"{paper['paper']} {figure['id']}", chart["measured_on"].split(":")[0],
                           f"{point['y']:.1f} ± {point['deviation']:.1f}"]
                    if row not in rows:  # panels of one figure may share the training
                        rows.append(row)
    return table(["figure", "graph", "exact training here, test accuracy, %"], rows)


def text_of(papers: list[Record]) -> str:
    return "\n".join([summary(papers), exact_accuracies(papers), *(section(paper) for paper in papers)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/gnomon"), help="the program to run")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page is not up to date")
    parser.add_argument("--measure", metavar="PAPERS", help="measure the figures of these papers first, or of all")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.program, chosen(arguments.program, arguments.measure), arguments.measure == "all")
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    written = before + BEGIN + "\n" + text_of([drawn(arguments.program, paper) for paper in PAPERS]) + END + after
    if arguments.check:
        if written != page:
            print(f"{PAGE} is not what bench/figures.py writes", file=sys.stderr)
        return 0 if written == page else 1
    PAGE.write_text(written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
