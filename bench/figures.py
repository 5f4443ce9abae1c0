#!/usr/bin/env python3
"""Writes the list of the papers' figures in docs/reproduce.md: each with its verdict, its error and its claims.

    bench/figures.py [--program GNOMON] [--check]
    bench/figures.py --measure all|PAPER[,PAPER…] [--program GNOMON]

With --check nothing is written; the program ends with 1 if the list is not what gnomon draws. With --measure the measured figures
of these papers are measured first, on the graphs that gnomon generates for them, and kept in bench/results/figures.json, from which
the list has their numbers."""
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


def measure(program: str, papers: list[str]) -> None:
    """Measures the papers' figures; those of other papers stay as they are recorded."""
    figures = recorded()
    for paper in papers:
        ids = measured_ids(program, paper)
        figures[paper] = [gnomon(program, paper, one, "--measure")["figures"][0] for one in ids]
        figures[paper] = [figure for figure in figures[paper] if not figure["not_measured"]]
        write_record(RECORD, {"schema": "gnomon.measured_figures/1", **origin(), "papers": figures})


def with_measured(figure: Record, measured: list[Record]) -> Record:
    """A figure that is drawn without measuring, with the recorded numbers of what it leaves out."""
    found = next((one for one in measured if one["id"] == figure["id"]), None)
    if found is None:
        return figure
    known = {claim["text"]: claim for claim in found["claims"]}
    claims = [claim if "holds" in claim else known.get(claim["text"], claim) for claim in figure["claims"]]
    error = {name: found[name] for name in ("mean_error", "printed_numbers") if name in found and not figure["charts"]}
    return {**figure, **error, "claims": claims, "not_measured": ""}


def drawn(program: str, paper: str) -> Record:
    document = gnomon(program, paper, "all")
    measured = recorded().get(paper, [])
    return {**document, "figures": [with_measured(figure, measured) for figure in document["figures"]]}


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def line(cells: list[str]) -> str:
    return "| " + " | ".join(map(cell, cells)) + " |"


def table(heads: list[str], rows: list[list[str]]) -> str:
    return "\n".join([line(heads), "|" + "---|" * len(heads), *map(line, rows)]) + "\n"


def number(value: float | None, unit: str = "") -> str:
    return "" if value is None else f"{value:.3g} {unit}".strip()


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:+.0f} %"


def verdict_of(figure: Record) -> str:
    """A measured figure that could not be measured is not drawn."""
    return "not" if figure["verdict"] == "measured" and figure["not_measured"] else str(figure["verdict"])


def figure_row(figure: Record) -> list[str]:
    decided = [claim for claim in figure["claims"] if "holds" in claim]
    held = f"{sum(claim['holds'] for claim in decided)} of {len(decided)}" if decided else ""
    error = f"{100 * figure['mean_error']:.1f} % of {figure['printed_numbers']}" if "mean_error" in figure else ""
    why = figure["why"] or (figure["not_measured"] if verdict_of(figure) == "not" else "")
    return [figure["id"], f"{figure['shows']}: {why}" if why else figure["shows"], verdict_of(figure), error, held]


def claim_row(figure: Record, claim: Record) -> list[str]:
    holds = ("yes" if claim["holds"] else "no") if "holds" in claim else f"not computed: {claim['why_not']}"
    return [figure["id"], claim["text"], number(claim.get("printed"), claim["unit"]), number(claim.get("value"), claim["unit"]),
            percent(claim.get("error")), holds]


def section(paper: Record) -> str:
    claims = [claim_row(figure, claim) for figure in paper["figures"] for claim in figure["claims"]]
    return (f"### {paper['paper']}\n\n`gnomon reproduce {paper['paper']} FIGURE`\n\n"
            + table(["figure", "shows", "verdict", "mean error", "claims that hold"], [figure_row(row) for row in paper["figures"]])
            + "\n" + table(["figure", "the paper says", "printed", "here", "error", "holds"], claims))


def summary(papers: list[Record]) -> str:
    def row(paper: Record) -> list[str]:
        verdicts = [verdict_of(figure) for figure in paper["figures"]]
        claims = [claim for figure in paper["figures"] for claim in figure["claims"]]
        decided = [claim for claim in claims if "holds" in claim]
        return [paper["paper"], str(len(verdicts)), *(str(verdicts.count(verdict)) for verdict in VERDICTS),
                f"{sum(claim['holds'] for claim in decided)} of {len(decided)}", str(len(claims) - len(decided))]

    heads = ["paper", "figures and tables", "reproduced", "predicted", "measured", "not drawn", "claims that hold", "claims not computed"]
    return table(heads, [row(paper) for paper in papers])


def text_of(papers: list[Record]) -> str:
    return "\n".join([summary(papers), *(section(paper) for paper in papers)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/bin/gnomon"), help="the program to run")
    parser.add_argument("--check", action="store_true", help="check the page, and write nothing")
    parser.add_argument("--measure", metavar="PAPERS", help="measure the figures of these papers first, or of all")
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.program, PAPERS if arguments.measure == "all" else arguments.measure.split(","))
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
