#!/usr/bin/env python3
"""Writes the list of the papers' figures in docs/reproduce.md: each with its verdict, its error and its claims.

    bench/figures.py [--program GNOMON] [--check]

With --check nothing is written; the program ends with 1 if the list is not what gnomon draws."""
import argparse
import json
import pathlib
import subprocess
import sys
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/reproduce.md"
BEGIN = "<!-- Written by bench/figures.py; do not edit. -->\n"
END = "<!-- End of what bench/figures.py writes. -->\n"
PAPERS = ["morphgl", "neutronorch", "a3gnn", "hanoi", "joestar", "pytorch-direct", "gnnlab", "ducati"]
VERDICTS = ["reproduced", "predicted", "measured", "not"]

Record = dict[str, Any]


def drawn(program: str, paper: str) -> Record:
    result = subprocess.run([program, "reproduce", paper, "all", "--json"], check=True, capture_output=True, text=True)
    document: Record = json.loads(result.stdout)
    return document


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


def figure_row(figure: Record) -> list[str]:
    decided = [claim for claim in figure["claims"] if "holds" in claim]
    held = f"{sum(claim['holds'] for claim in decided)} of {len(decided)}" if decided else ""
    error = f"{100 * figure['mean_error']:.1f} % of {figure['printed_numbers']}" if "mean_error" in figure else ""
    why = figure["shows"] if figure["verdict"] != "not" else f"{figure['shows']}: {figure['why']}"
    return [figure["id"], why, figure["verdict"], error, held]


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
        verdicts = [figure["verdict"] for figure in paper["figures"]]
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
    arguments = parser.parse_args()
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
