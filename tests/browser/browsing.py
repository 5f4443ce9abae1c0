"""Chromium without a window, for the tests of pages."""

import shutil
import time
from contextlib import contextmanager

try:
    from selenium import webdriver
except ImportError:
    webdriver = None

MISSING = "skipped: needs Chromium with its driver (Debian's chromium-driver) and selenium (PyPI)"


def is_there():
    return webdriver is not None and shutil.which("chromedriver") is not None


def browser(downloads):
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,1000"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    return webdriver.Chrome(options=options, service=service)


@contextmanager
def as_wide_as(driver, width, height=900):
    """A window of that size, until the block ends."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        time.sleep(0.5)  # charts follow the width by themselves
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def save_whole_page(driver, width, path):
    """A screenshot of all of the page, and not of a window's part."""
    with as_wide_as(driver, width):
        height = driver.execute_script("return document.documentElement.scrollHeight")
    with as_wide_as(driver, width, height):
        driver.save_screenshot(str(path))
