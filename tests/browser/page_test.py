#!/usr/bin/env python3
"""The live page of gnomon serve in a real browser, as a user moves through it.

    tests/browser/page_test.py PROGRAM [--screenshots DIRECTORY]

PROGRAM is bin/gnomon. Needs Chromium with its driver, and selenium; without them the script ends with code 77 (skipped).
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from contextlib import contextmanager
from pathlib import Path

import browsing
from browsing import as_wide_as, browser, save_whole_page

try:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:  # and then the script is skipped
    pass

PATIENCE = 60  # seconds until what is waited for counts as missing
PROGRAM = ""
SCREENSHOTS = None


def gnomon(folder, *arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, f"gnomon {' '.join(map(str, arguments))}: {done.stderr}"
    return done.stdout


@contextmanager
def serving(folder, *arguments):
    """The address that `gnomon serve` prints. It must end on Ctrl-C."""
    process = subprocess.Popen([PROGRAM, "serve", *arguments, "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE) in (0, 130), process.returncode
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def shown_seconds(text):
    """The seconds that a cell of the table tells, and half of its last digit."""
    number, unit = text.split()
    factor = {"s": 1, "ms": 1e-3, "\u00b5s": 1e-6}[unit]
    digits = len(number.split(".")[1]) if "." in number else 0
    return float(number) * factor, 0.5 * 10**-digits * factor


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        job = ["--fanouts", "5,5", "--batch-size", "256", "--hidden", "16"]
        gnomon(cls.folder, "generate", "sbm", "graph", "--vertices", "3000", "--classes", "3")
        gnomon(cls.folder, "profile", "graph", "-o", "p.json", "--interval", "0.3", "--time-limit", "10", *job)
        gnomon(cls.folder, "train", "graph", *job, "--plan", "gnomon", "--epochs", "3", "--run", "runs/first")
        gnomon(cls.folder, "machine", "-o", "there.json", "--time-limit", "1", "--name", "there")
        cls.server = serving(cls.folder, "p.json", "there.json")
        cls.address = cls.server.__enter__()
        (cls.folder / "downloads").mkdir()
        cls.driver = browser(cls.folder / "downloads")

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.server.__exit__(None, None, None)
        cls.place.cleanup()

    def setUp(self):
        self.driver.set_window_size(1200, 1000)
        self.open(self.address)

    def tearDown(self):
        errors = [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        self.assertEqual(errors, [])

    def open(self, address):
        self.driver.get("about:blank")  # else an address that differs in its fragment alone loads nothing
        self.driver.get(address)
        self.wait_until(self.is_simulated)

    def element(self, name):
        return self.driver.find_element(By.ID, name)

    def text(self, name):
        return self.element(name).text

    def options(self, name):
        """The texts of a list's choices, read in one step: the page may replace them at any moment."""
        return self.driver.execute_script(f"return [...document.getElementById('{name}').options].map((option) => option.text)")

    def wait_until(self, holds):
        begin = time.monotonic()
        while not holds():
            self.assertLess(time.monotonic() - begin, PATIENCE, f"{holds}; message: {self.text('message')}")
            time.sleep(0.05)

    def is_simulated(self):
        return self.text("status") == "Simulated."

    def change(self, act):
        """Does something that moves the state of the page, and waits until its rows are simulated."""
        before = self.driver.current_url
        act()
        self.wait_until(lambda: self.driver.current_url != before)
        self.wait_until(self.is_simulated)

    def table(self, name):
        """The texts of a table's cells, line by line."""
        return self.driver.execute_script(
            f"return [...document.querySelectorAll('#{name} tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"
        )

    def rows(self):
        """The texts of the table of plans by plan and column."""
        lines = self.table("rows")
        return {line[0]: dict(zip(lines[0], line)) for line in lines[1:]}

    def expect_rows_of(self, *arguments):
        """The table must tell what `gnomon explore` says of the same question."""
        explored = json.loads(gnomon(self.folder, "explore", "p.json", *arguments, "--json"))["rows"]
        shown = self.rows()
        self.assertEqual(sorted(row["plan"] for row in explored), sorted(shown))
        for row in explored:
            text = shown[row["plan"]]["epoch_s"]
            if row["epoch_s"] is None:
                self.assertEqual(text, "-")
            else:
                seconds, precision = shown_seconds(text)
                self.assertAlmostEqual(seconds, row["epoch_s"], delta=1.01 * precision, msg=row["plan"])

    def plans(self):
        return ",".join(box.get_attribute("value") for box in self.driver.find_elements(By.CSS_SELECTOR, "#plans input:checked"))

    def slider(self, label):
        return self.driver.find_element(By.XPATH, f"//label[span[starts-with(., '{label}')]]/input")

    def shown_beside(self, label):
        return self.driver.find_element(By.XPATH, f"//label[span[starts-with(., '{label}')]]//output").text

    def test_tells_what_explore_prints(self):
        self.expect_rows_of("--plan", self.plans())

    def test_sliders_move_by_the_keyboard(self):
        def move():
            self.slider("Cores").send_keys(Keys.HOME)
            self.slider("Mini-batches waiting on the device").send_keys(Keys.END)

        self.change(move)
        self.wait_until(self.is_simulated)
        self.assertEqual(self.shown_beside("Cores"), "1")
        self.expect_rows_of("--plan", self.plans(), "--set", "machine.cpu.cores=1", "--set", "plan.device_buffer=64")
        self.change(lambda: self.element("reset").click())
        self.expect_rows_of("--plan", self.plans())

    def test_machines_of_the_catalog(self):
        self.change(lambda: Select(self.element("machine")).select_by_visible_text("aws-g5.2xlarge"))
        self.expect_rows_of("--plan", self.plans(), "--machine", "aws-g5.2xlarge")

    def test_measured_machines_are_on_offer(self):
        self.change(lambda: Select(self.element("machine")).select_by_value("there.json"))
        self.expect_rows_of("--plan", self.plans(), "--machine", "there.json")

    def test_tells_how_long_it_took(self):
        row_times = "const rows = document.getElementById('rows').dataset; return [rows.elapsedMs, rows.shownMs]"
        times = []
        for key in [Keys.ARROW_RIGHT, Keys.ARROW_LEFT] * 3:
            self.change(lambda: self.slider("Cores").send_keys(key))
            answered = self.driver.execute_script(row_times)
            times.append(float(answered[1]))
            self.assertGreater(float(answered[0]), 0)
        plans = len(self.table("rows")) - 1
        print(f"computed epochs of {plans} plans were shown after {', '.join(f'{each:.0f}' for each in times)} ms", file=sys.stderr)

    def test_runs_that_begin_later_appear(self):
        job = ["--fanouts", "5,5", "--batch-size", "256", "--hidden", "16"]
        gnomon(self.folder, "train", "graph", *job, "--plan", "device", "--epochs", "2", "--run", "runs/later")
        self.wait_until(lambda: "later" in self.options("run"))
        self.assertEqual(Select(self.element("run")).first_selected_option.text, "first")
        shutil.rmtree(self.folder / "runs/later")

    def test_a_run_is_opened_by_its_directory(self):
        with serving(self.folder, "runs/first", "--runs", "nowhere") as address:
            self.driver.get(address)
            self.wait_until(lambda: "3 epochs, ended" in self.text("run-status"))
            self.assertEqual(self.options("run"), ["runs/first"])
            self.driver.get("about:blank")

    def test_two_plans_side_by_side(self):
        self.change(lambda: Select(self.element("first")).select_by_visible_text("salient"))
        self.assertEqual(Select(self.element("second")).first_selected_option.text, "device")
        for name, plan in [("first", "salient"), ("second", "device")]:
            self.assertIn("Epoch " + self.rows()[plan]["epoch_s"], self.text(name + "-epoch"))
        ends = self.driver.execute_script(
            "return ['first', 'second'].map((name) => charts[name + '-timeline'].options.scales.x.max)"
        )
        self.assertEqual(ends[0], ends[1])
        self.assertGreater(ends[0], 0)

    def test_an_address_holds_its_state(self):
        self.change(lambda: self.slider("Cores").send_keys(Keys.HOME))
        self.change(lambda: self.driver.find_element(By.CSS_SELECTOR, "#plans input[value=dgl]").click())
        rows, address = self.rows(), self.driver.current_url
        self.assertNotIn("dgl", rows)
        self.open(address)
        self.assertEqual(self.rows(), rows)
        self.assertEqual(self.shown_beside("Cores"), "1")

    def test_searches_are_cancelled_and_found(self):
        budget = self.element("budget")
        budget.clear()
        budget.send_keys("1000")
        self.element("tune").click()
        self.wait_until(lambda: self.element("cancel").is_displayed())
        self.element("cancel").click()
        self.wait_until(lambda: self.text("tuned") == "Cancelled.")
        budget.clear()
        budget.send_keys("20")
        self.change(lambda: self.element("tune").click())
        self.assertTrue(self.text("tuned").startswith("Found"), self.text("tuned"))
        rows = self.rows()
        same_bits = [row for row in rows.values() if row["runs_here"] == "yes" and row["exact"] == "bits"]
        fastest = min(shown_seconds(row["epoch_s"])[0] for row in same_bits)
        self.assertLessEqual(shown_seconds(rows["tuned"]["epoch_s"])[0], 1.05 * fastest)

    def test_files_are_saved(self):
        for button, name in [("csv", "exploration.csv"), ("json", "exploration.json"), ("trace", "trace.json")]:
            self.element(button).click()
            file = self.folder / "downloads" / name
            self.wait_until(file.exists)
        rows = json.loads((self.folder / "downloads" / "exploration.json").read_text())["rows"]
        self.assertEqual(rows, json.loads(gnomon(self.folder, "explore", "p.json", "--plan", self.plans(), "--json"))["rows"])
        self.assertIn("traceEvents", json.loads((self.folder / "downloads" / "trace.json").read_text()))

    def test_runs_are_shown_beside_their_prediction(self):
        self.wait_until(lambda: "3 epochs, ended" in self.text("run-status"))
        self.assertRegex(self.text("run-status"), r"took \d+\.\d % (more|less) than predicted")
        stages = self.table("run-stages")
        names = [line[0] for line in stages]
        self.assertEqual(names[0], "stage")
        self.assertIn("train", names)
        self.assertIn("device busy", names)
        measured = json.loads((self.folder / "runs/first/log.jsonl").read_text().splitlines()[-1])["stages"]["train"]["mean_s"]
        seconds, precision = shown_seconds(stages[names.index("train")][1])
        self.assertAlmostEqual(seconds, measured, delta=1.01 * precision)

    def test_fits_narrow_and_wide_windows(self):
        self.wait_until(lambda: "ended" in self.text("run-status"))
        for width in [400, 1200]:
            with as_wide_as(self.driver, width):
                wide = self.driver.execute_script("return document.documentElement.scrollWidth")
            if SCREENSHOTS:
                save_whole_page(self.driver, width, SCREENSHOTS / f"page-{width}.png")
            self.assertLessEqual(wide, width)

    def test_every_control_has_a_name(self):
        nameless = self.driver.execute_script(
            "return [...document.querySelectorAll('input, select, button, progress, canvas')]"
            ".filter((e) => !e.ariaLabel && !(e.labels && e.labels.length) && !e.textContent.trim()).map((e) => e.outerHTML)"
        )
        self.assertEqual(nameless, [])

    def test_loads_nothing_from_elsewhere(self):
        names = self.driver.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
        self.assertGreater(len(names), 4)
        for name in names:
            self.assertTrue(name.startswith((self.address, "data:")), name)


class TokenTest(unittest.TestCase):
    def test_is_needed_beyond_this_machine_and_leaves_the_address(self):
        with tempfile.TemporaryDirectory() as folder, serving(folder, "--host", "0.0.0.0", "--token", "secret") as address:
            self.assertIn("token=secret", address)
            driver = browser(folder)
            try:
                page = address.replace("0.0.0.0", "127.0.0.1")
                driver.get(page)
                self.wait_until(driver, lambda: driver.find_element(By.ID, "status").text == "Simulated.")
                self.assertNotIn("secret", driver.current_url)
                driver.refresh()
                self.wait_until(driver, lambda: driver.find_element(By.ID, "status").text == "Simulated.")
                driver.switch_to.new_window("window")
                driver.get(page.split("?")[0])
                self.wait_until(driver, lambda: "token" in driver.find_element(By.ID, "message").text)
            finally:
                driver.quit()

    def wait_until(self, driver, holds):
        begin = time.monotonic()
        while not holds():
            self.assertLess(time.monotonic() - begin, PATIENCE, driver.page_source)
            time.sleep(0.05)


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
