#!/usr/bin/env python3
"""The pages of the papers' figures in a real browser, without a network.

    tests/browser/figures_test.py PROGRAM [--screenshots DIRECTORY]

PROGRAM is bin/gnomon. Needs Chromium with its driver, and selenium; without them the script ends with code 77 (skipped).
"""

import argparse
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import browsing
from browsing import as_wide_as, browser, save_whole_page

RECORD = Path(__file__).resolve().parents[2] / "bench/results/figures.json"
PAPERS = ["morphgl", "neutronorch", "a3gnn", "hanoi", "joestar", "pytorch-direct", "gnnlab", "ducati"]
WIDTHS = [1200, 400]
MIN_CHART_HEIGHT = 90  # of the part of a chart between its axes, in pixels, so that legends and names leave room for it
PROGRAM = ""
SCREENSHOTS = None

# What Chart.js holds and has drawn, by chart.
DRAWN = """
return Object.values(charts).map((chart) => {
  const canvas = chart.canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return {
    numbers: chart.data.datasets.flatMap((dataset) => dataset.data).filter((value) => value !== null).length,
    inked: pixels.some((value, i) => i % 4 === 3 && value > 0),
    height: chart.chartArea.bottom - chart.chartArea.top,
  };
});
"""
CLAIMS = "return [...document.querySelectorAll('#claims tr')].slice(1).map((row) => [...row.cells].map((cell) => cell.textContent))"


def page_of(paper, folder):
    """The page, and the document that it shows."""
    page = folder / f"{paper}.html"
    command = [PROGRAM, "reproduce", paper, "--measured", str(RECORD), "--html", str(page), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return page, json.loads(done.stdout)


def numbers_in(chart):
    """How many numbers a chart shows; a level has one for each of a bar chart's places."""
    if chart["kind"] == "timeline":
        return len(chart["spans"])
    is_bars = chart["categories"] or chart["kind"] in ("bars", "stacked")
    places = len({point["x"] for series in chart["series"] for point in series["points"]})
    return sum(places if series["level"] and is_bars else len(series["points"]) for series in chart["series"])


def judged(claim, what):
    return "-" if what not in claim else "yes" if claim[what] else "no"


class FiguresPageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        cls.driver = browser(cls.folder)
        cls.driver.execute_cdp_cmd("Network.enable", {})
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        cls.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.place.cleanup()

    def open(self, paper):
        page, document = page_of(paper, self.folder)
        self.driver.get(page.as_uri())
        return document

    def expect_claims_of(self, document):
        """The table must have every claim, with what was decided."""
        expected = [[claim["text"], figure["id"], judged(claim, "direction"), judged(claim, "size")]
                    for figure in document["figures"] for claim in figure["claims"]]
        self.assertEqual([row[:4] for row in self.driver.execute_script(CLAIMS)], expected)

    def expect_charts_of(self, document, width):
        charts = [(figure["id"], chart) for figure in document["figures"] for chart in figure["charts"]]
        drawn = self.driver.execute_script(DRAWN)
        self.assertEqual(len(drawn), len(charts))
        for (figure, chart), shown in zip(charts, drawn):
            name = f"{figure} {chart['title']}, {width} px wide"
            self.assertEqual(shown["numbers"], numbers_in(chart), name)
            self.assertTrue(shown["inked"], name)
            self.assertGreater(shown["height"], MIN_CHART_HEIGHT, name)

    def test_pages_show_all_without_a_network(self):
        for paper in PAPERS:
            with self.subTest(paper=paper):
                document = self.open(paper)
                self.expect_claims_of(document)
                headings = self.driver.execute_script("return [...document.querySelectorAll('#figures h2')].map((h) => h.textContent)")
                self.assertEqual(headings, [f"{figure['id']}: {figure['shows']}" for figure in document["figures"]])
                for width in WIDTHS:
                    with as_wide_as(self.driver, width):
                        wide = self.driver.execute_script("return document.documentElement.scrollWidth")
                        self.assertLessEqual(wide, width)
                        self.expect_charts_of(document, width)
                    if SCREENSHOTS:
                        save_whole_page(self.driver, width, SCREENSHOTS / f"{paper}-{width}.png")
                self.assertEqual(self.driver.execute_script("return performance.getEntriesByType('resource').length"), 0)
                self.assertEqual([entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"], [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--screenshots", type=Path)
    arguments, rest = parser.parse_known_args()
    if not browsing.is_there():
        print(browsing.MISSING)
        sys.exit(77)
    PROGRAM, SCREENSHOTS = str(Path(arguments.program).resolve()), arguments.screenshots
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
