#!/usr/bin/env python3
"""What notebooks/show.py draws, looked at through matplotlib.

    tests/notebooks/show_test.py PROGRAM

PROGRAM is bin/gnomon. Needs matplotlib; without it the script ends with code 77 (skipped).
"""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ["neutronorch", "gnnlab", "hanoi"]  # with timelines, stacked bars, levels, deviations and measured figures
PROGRAM = ""

try:
    import matplotlib

    matplotlib.use("Agg")
except ImportError:
    print("skipped: needs notebooks/requirements.txt")
    sys.exit(77)

sys.path.insert(0, str(ROOT / "notebooks"))
FOLDER = tempfile.TemporaryDirectory()
os.environ["GNOMON_FILES"] = FOLDER.name
import matplotlib.pyplot as plt  # noqa: E402
import run  # noqa: E402
import show  # noqa: E402


def said(act, *arguments, **options):
    """What the call returns, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        result = act(*arguments, **options)
    return result, text.getvalue()


def exploration(field, values):
    rows = [{"plan": plan, field: value, "epoch_s": 100 / value, "why_not": ""} for plan in ("dgl", "hanoi") for value in values]
    return {"rows": rows}


class ShowTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run.FILES = {name: command for name, command in run.FILES.items()
                     if name.removesuffix("_figures") in PAPERS}
        run.write_files(PROGRAM, Path(FOLDER.name))

    def tearDown(self):
        plt.close("all")

    def expect_legend_outside(self, axes):
        axes.figure.canvas.draw()
        self.assertGreaterEqual(axes.get_legend().get_window_extent().x0, axes.get_window_extent().x1)

    def expect_words(self, axes):
        for text in [axes.get_xlabel(), axes.get_ylabel(), *(item.get_text() for item in axes.get_legend().get_texts())]:
            self.assertNotRegex(text, r"_|plan\.|machine\.")

    def test_every_figure_is_drawn_and_judged(self):
        for paper in PAPERS:
            for figure in show.load(f"{paper}_figures")["figures"]:
                with self.subTest(paper=paper, figure=figure["id"]):
                    all_axes, text = said(show.figure, paper, figure["id"])
                    self.assertEqual(len(all_axes), len(figure["charts"]))
                    for axes, chart in zip(all_axes, figure["charts"]):
                        self.assertEqual(axes.get_ylabel(), chart["y_label"])
                        self.expect_legend_outside(axes)
                        self.expect_words(axes)
                    last = text.strip().splitlines()[-1]
                    self.assertEqual(last, figure["on_claims"] or figure["why"] or "The paper makes no claim of it in numbers.")
                    plt.close("all")

    def test_measured_charts_come_from_the_record(self):
        figure = next(one for one in show.load("neutronorch_figures")["figures"] if one["id"] == "F7")
        self.assertEqual(figure["not_measured"], "")
        self.assertIn("R-MAT like Reddit", figure["charts"][0]["measured_on"])

    def test_stacked_bars_stand_on_each_other(self):
        chart = {"kind": "stacked", "categories": ["x"], "x_label": "", "y_label": "ms", "spans": [], "title": "",
                 "series": [{"name": name, "printed": False, "level": False, "points": [{"x": 0, "y": y}]}
                            for name, y in (("a", 2), ("b", 3), ("c", 5))]}
        axes = show.draw(chart, "")
        self.assertEqual([(bar.get_y(), bar.get_height()) for bar in axes.patches], [(0, 2), (2, 3), (5, 5)])
        self.assertEqual(len({bar.get_x() for bar in axes.patches}), 1)

    def test_timelines_have_every_stage(self):
        spans = [{"lane": "worker 0", "stage": "cpu_batch", "batch": 0, "begin_s": 0, "end_s": 2},
                 {"lane": "device", "stage": "train", "batch": 0, "begin_s": 2, "end_s": 3}]
        chart = {"kind": "timeline", "categories": [], "series": [], "spans": spans, "title": "", "x_label": "s", "y_label": "engine"}
        axes = show.draw(chart, "")
        boxes = [path.get_extents() for bars in axes.collections for path in bars.get_paths()]
        self.assertEqual(sorted((box.x0, box.x1) for box in boxes), [(0, 2), (2, 3)])
        self.assertEqual([text.get_text() for text in axes.get_legend().get_texts()], ["cpu batch", "train"])

    def test_levels_cross_the_chart(self):
        chart = {"kind": "bars", "categories": ["x"], "x_label": "", "y_label": "points", "spans": [], "title": "",
                 "series": [{"name": "a", "printed": False, "level": False, "points": [{"x": 0, "y": 2}]},
                            {"name": "most", "printed": True, "level": True, "points": [{"x": 0, "y": 3}]}]}
        axes = show.draw(chart, "")
        self.assertEqual(len(axes.patches), 1)
        self.assertEqual([list(line.get_ydata()) for line in axes.lines if line.get_label() == "most, printed"], [[3, 3]])

    def test_tables_have_a_scale_for_each_data_set(self):
        for table, wanted in [("table7", ["table7, Products", "table7, Wikipedia"]), ("table6", ["table6, Products", "table6, Wikipedia"])]:
            all_axes, text = said(show.printed_and_predicted, show.load("neutronorch"), table)
            self.assertEqual([axes.get_title() for axes in all_axes], wanted)
            self.assertEqual([axes.get_xlabel() for axes in all_axes], ["s", "s"])
            for axes in all_axes:
                self.expect_legend_outside(axes)
            self.assertRegex(text, r"Off by [0-9.]+ % in the mean of \d printed numbers\. .*: holds\.")
        all_axes, text = said(show.printed_and_predicted, show.load("gnnlab"), "tableVI")
        self.assertEqual(len(all_axes), 4)
        all_axes, text = said(show.printed_and_predicted, show.load("gnnlab"), "tableVI, cache hits")
        self.assertIn("points in the mean", text)

    def test_explorations_name_fields_in_words(self):
        values = [250000000, 1000000000]
        axes, text = said(show.epochs, exploration("machine.disk.bandwidth_bytes_per_s", values), "machine.disk.bandwidth_bytes_per_s")
        self.expect_words(axes)
        self.expect_legend_outside(axes)
        self.assertEqual(axes.get_xlabel(), "disk bandwidth, GB/s")
        self.assertEqual([tick.get_text() for tick in axes.get_xticklabels()], ["0.25", "1"])
        self.assertIn("hanoi: 1e-07 s at 1", text)


if __name__ == "__main__":
    PROGRAM = str(Path(sys.argv[1]).resolve())
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
