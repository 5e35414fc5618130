"""A browser without a screen, driven by the driver that Debian packages with it."""

from __future__ import annotations

import base64
import json
import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PATIENCE_S = 60
WITHOUT_SCRIPTS = {"profile.managed_default_content_settings.javascript": 2}


@contextmanager
def browser(*, has_scripts: bool = True) -> Iterator[Chrome]:
    """Start one, and end it."""
    from selenium import webdriver  # noqa: PLC0415 - may be missing where no browser is
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415 - likewise

    options = webdriver.ChromeOptions()
    options.binary_location = f"{CHROMIUM}"
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if not has_scripts:
        options.add_experimental_option("prefs", WITHOUT_SCRIPTS)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def show(driver: Chrome, page: Path, width: int = 1200, scheme: str = "light") -> None:
    """Open a page, so wide and light or dark, and wait until its drawings move."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    driver.get(page.resolve().as_uri())
    end = time.monotonic() + PATIENCE_S
    while driver.execute_script("return document.body.dataset.drawn") != "true":
        assert time.monotonic() < end, complaints(driver)
        time.sleep(0.1)


def complaints(driver: Chrome) -> list[Any]:
    """What the console holds since the last question."""
    return list(driver.get_log("browser"))  # type: ignore[no-untyped-call]


def requests(driver: Chrome) -> set[str]:
    """Addresses that were asked for since the last question."""
    messages = [json.loads(row["message"])["message"] for row in _performance(driver)]
    sent = [one for one in messages if one["method"] == "Network.requestWillBeSent"]
    return {one["params"]["request"]["url"] for one in sent}


def _performance(driver: Chrome) -> list[Any]:
    return list(driver.get_log("performance"))  # type: ignore[no-untyped-call]


def screenshot(driver: Chrome, path: Path) -> None:
    """Keep the whole page as a picture."""
    asked = {"captureBeyondViewport": True, "format": "png"}
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", asked)
    path.write_bytes(base64.b64decode(shot["data"]))


def overlaps(driver: Chrome) -> list[Any]:
    """Texts of one drawing that lie over each other, each pair once."""
    return list(driver.execute_script(OVERLAPS))


OVERLAPS = """
const found = [];
for (const drawing of document.querySelectorAll(".drawing")) {
  const svg = [...drawing.querySelectorAll("svg")].find((each) => each.getClientRects().length);
  const texts = [...svg.querySelectorAll("text")].filter((each) => each.textContent.trim()
    && getComputedStyle(each).opacity !== "0" && each.getAttribute("opacity") !== "0");
  const boxes = texts.map((each) => [each.textContent, each.getBoundingClientRect()]);
  boxes.forEach(([text, a], at) => boxes.slice(at + 1).forEach(([other, b]) => {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 2 && high > 3) found.push([drawing.id, text, other]);
  }));
}
return found;
"""
