"""The site of docs/ in a real browser: no page wider than its window, and a search that answers."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

import pytest

from tests.browser.browser import CHROMIUM, DRIVER, browser, complaints
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome

pytest.importorskip("sphinx", reason="the extra `docs` is not installed")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no browser with its driver is here"),
]
WIDE, NARROW = 1440, 390
PATIENCE_S = 30
# what people ask in forums, and the page that answers it
QUESTIONS = {
    "compare two captures": "measure/two-captures.html",
    "one-way delay from two pcaps": "measure/one-way-delay.html",
    "where are packets lost": "measure/lost-packets.html",
    "packet loss between two pcaps": "measure/lost-packets.html",
    "latency of a VXLAN hop": "measure/tunnel-latency.html",
    "latency of tunneled traffic": "measure/tunnel-latency.html",
    "follow one packet": "measure/trace.html",
    "clocks not synchronised": "measure/clocks.html",
    "hardware timestamps": "capture/timestamps.html",
    "TSO GRO": "measure/nat-tunnels-offload.html",
    "jitter": "wrong/faq.html",
    "negative latency": "wrong/faq.html",
}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and prints no line for each."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "-b", "html"]
    subprocess.run([*command, ROOT / "docs", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The search reads pages by script, which a browser allows only from a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with browser() as one:
        yield one


def widen(driver: Chrome, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == NARROW}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_no_page_is_wider_than_its_window(
    driver: Chrome, site: Path, address: str, width: int
) -> None:
    widen(driver, width)
    complaints(driver)
    pages = [p.relative_to(site) for p in site.rglob("*.html") if "_static" not in p.parts]
    too_wide = []
    for page in pages:
        driver.get(f"{address}/{page}")
        if driver.execute_script("return document.documentElement.scrollWidth") > width:
            too_wide.append(f"{page}")
    assert len(pages) > 80
    assert too_wide == []
    assert [one for one in complaints(driver) if "favicon" not in one["message"]] == []


def test_an_output_of_100_columns_fits_into_a_wide_page(
    driver: Chrome, site: Path, address: str
) -> None:
    widen(driver, WIDE)
    n_outputs, cut = 0, {}
    for page in ("start/first.html", "measure/clocks.html", "method/compare.html"):
        assert (site / page).exists()
        driver.get(f"{address}/{page}")
        outputs = driver.execute_script(OUTPUTS)
        n_outputs += sum(columns > 80 for columns, _ in outputs)
        cut[page] = [columns for columns, is_cut in outputs if columns <= 100 and is_cut]
    assert n_outputs > 3
    assert not any(cut.values()), cut


@pytest.mark.parametrize(("question", "answer"), QUESTIONS.items())
def test_the_search_shows_the_answer_among_the_first_three(
    driver: Chrome, address: str, question: str, answer: str
) -> None:
    driver.get(f"{address}/search.html?q={quote_plus(question)}")
    end = time.monotonic() + PATIENCE_S
    found: list[str] = []
    while not found:
        assert time.monotonic() < end, "nothing was found"
        time.sleep(0.2)
        if driver.execute_script(SEARCH_IS_DONE):
            found = driver.execute_script(FOUND)
    assert answer in found[:3]


OUTPUTS = """
return [...document.querySelectorAll("article pre")].map((one) => [
  Math.max(...one.textContent.split("\\n").map((line) => [...line].length)),
  one.scrollWidth > one.clientWidth]);
"""
SEARCH_IS_DONE = """
const summary = document.querySelector("#search-results .search-summary");
return Boolean(summary) && summary.textContent.includes("finished");
"""
FOUND = """
return [...document.querySelectorAll("#search-results ul.search li > a")]
  .map((one) => one.getAttribute("href").split(/[?#]/)[0]);
"""
