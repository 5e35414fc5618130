"""report.html in a real browser: drawn, quiet, offline, usable without script, for everybody."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pcaplat
from pcaplat.cli import run
from tests.browser.browser import (
    CHROMIUM,
    DRIVER,
    browser,
    complaints,
    overlaps,
    requests,
    screenshot,
    show,
)
from tests.conftest import ROOT
from tests.hostile import names as hostile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium.webdriver import Chrome

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no browser with its driver is here"),
]
AXE = Path(os.environ.get("PCAPLAT_AXE", ROOT / "out" / "axe" / "axe.min.js"))
SHOTS = os.environ.get("PCAPLAT_SCREENSHOTS")
TITLES = (
    "return [...document.querySelectorAll('.live .role-axis-title text')]"
    ".map((one) => one.textContent)"
)
UNIT = re.compile(r", (ns|µs|ms|s|min|%)$")


def written(folder: Path, captures: list[Path], **options: Any) -> Path:  # noqa: ANN401 - of merge
    with pcaplat.merge(captures, **options) as result:
        pcaplat.write(result, folder)
    return folder / "report.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    captures = sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))
    return written(tmp_path_factory.mktemp("report") / "out", captures, by=["flow"])


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with browser() as one:
        yield one


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "light"), (1200, "dark")])
def test_every_drawing_is_drawn_in_silence(
    driver: Chrome, page: Path, width: int, scheme: str
) -> None:
    complaints(driver)
    requests(driver)
    show(driver, page, width, scheme)
    if SHOTS:
        screenshot(driver, Path(SHOTS) / f"report-{width}-{scheme}.png")
    n = driver.execute_script("return document.querySelectorAll('.drawing').length")
    marks = driver.execute_script(
        "return [...document.querySelectorAll('.live svg')].map((one) => "
        "one.querySelectorAll('.mark-group path, .mark-group text').length)"
    )
    assert n > 5
    assert len(marks) == n
    assert min(marks) > 5
    assert complaints(driver) == []
    assert requests(driver) == {page.resolve().as_uri()}
    assert overlaps(driver) == []
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_every_axis_has_its_unit(driver: Chrome, page: Path) -> None:
    show(driver, page)
    titles = driver.execute_script(TITLES)
    assert titles
    assert [title for title in titles if not UNIT.search(title)] == []


def test_the_answer_is_on_the_first_screen(driver: Chrome, page: Path) -> None:
    show(driver, page)
    foot = driver.execute_script(
        "return document.querySelector('.answer').getBoundingClientRect().bottom"
    )
    assert foot < 700


def test_tooltips_tell_what_is_under_the_pointer(driver: Chrome, page: Path) -> None:
    from selenium.webdriver import ActionChains  # noqa: PLC0415 - may be missing

    show(driver, page)
    bar = driver.find_element("css selector", "#figure-0 .live .mark-rect.role-mark path")
    ActionChains(driver).move_to_element(bar).perform()
    tooltip = driver.find_element("id", "tooltip")
    assert tooltip.is_displayed()
    assert "host1-vm → host1-up" in tooltip.text
    assert "p50" in tooltip.text
    assert "1.32 µs" in tooltip.text


def test_the_filter_leaves_one_direction(driver: Chrome, page: Path) -> None:
    show(driver, page)
    drawn = "return document.querySelectorAll('#figure-0 .live .mark-rect.role-mark path').length"
    both = driver.execute_script(drawn)
    driver.find_element("css selector", "input[value=reverse]").click()
    figures = driver.find_elements("css selector", "figure[data-direction]")
    shown = {one.get_attribute("data-direction") for one in figures if one.is_displayed()}
    assert shown == {"reverse"}
    assert driver.execute_script(drawn) == both / 2


def test_flows_are_found_by_what_is_typed(driver: Chrome, page: Path) -> None:
    show(driver, page)
    driver.find_element("css selector", "[data-filters]").send_keys("icmp")
    rows = driver.find_elements("css selector", "#table-flows tbody tr")
    shown = [row.text for row in rows if row.is_displayed()]
    assert 0 < len(shown) < len(rows)
    assert all("icmp" in text.lower() for text in shown)


def test_zooming_is_done_by_buttons_too(driver: Chrome, page: Path) -> None:
    show(driver, page)
    labels = (
        "return [...document.querySelectorAll('#distribution figure:first-of-type .live text')]"
        ".map((one) => one.textContent).sort()"
    )
    before = driver.execute_script(labels)
    driver.find_element("css selector", "#distribution [data-zoom='0.5']").click()
    nearer = driver.execute_script(labels)
    assert nearer != before
    driver.find_element("css selector", "#distribution [data-zoom='0']").click()
    assert driver.execute_script(labels) == before


def test_it_is_read_without_scripts_and_on_paper(page: Path) -> None:
    with browser(has_scripts=False) as driver:
        driver.get(page.resolve().as_uri())
        stills = driver.find_elements("css selector", ".still svg")
        assert len(stills) > 5
        assert all(one.is_displayed() for one in stills)
        hidden = driver.find_elements("css selector", ".needs-script")
        assert not any(one.is_displayed() for one in hidden)
        tables = driver.find_elements("css selector", "figure:has(.drawing) table")
        assert len(tables) >= len(stills) - 4  # clocks have one together
        if SHOTS:
            screenshot(driver, Path(SHOTS) / "report-still.png")
        paper = driver.print_page()
    assert len(paper) > 10_000


def judged(folder: Path, *given: str) -> Path:
    assert run([*given, "--quiet", "-o", str(folder)]) in {0, 3}
    return folder / "report.html"


@pytest.mark.parametrize("width", [1200, 390])
def test_comparisons_and_claims_are_drawn_in_silence(
    driver: Chrome, tmp_path: Path, width: int
) -> None:
    both = ["samples/east-west/l2", "samples/east-west/vxlan", "--same-clock", "all"]
    claims = ["samples/east-west/claims.toml", "--claim", "vxlan-loss"]
    for page in (
        judged(tmp_path / "compared", "compare", *both),
        judged(tmp_path / "claimed", "validate", *claims, "vxlan=samples/east-west/vxlan"),
    ):
        complaints(driver)
        show(driver, page, width)
        if SHOTS:
            screenshot(driver, Path(SHOTS) / f"{page.parent.name}-{width}.png")
        assert complaints(driver) == []
        assert overlaps(driver) == []
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        titles = driver.execute_script(TITLES)
        assert titles
        assert [one for one in titles if not UNIT.search(one) and one != "run, by start"] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nobody_is_left_out(driver: Chrome, page: Path, scheme: str) -> None:
    """Contrast, names and roles, by axe-core."""
    if not AXE.exists():
        pytest.skip("axe-core is not here")
    show(driver, page, scheme=scheme)
    driver.execute_script(AXE.read_text("utf-8"))
    found = driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    told = [
        (one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]
    ]
    assert told == []
    assert len(found["passes"]) > 10


def test_hostile_names_stay_text(driver: Chrome, tmp_path: Path) -> None:
    captures = hostile.captures(tmp_path / "in")
    page = written(tmp_path / "out", captures)
    complaints(driver)
    show(driver, page)
    assert complaints(driver) == []
    assert (
        driver.find_elements("css selector", "main script, main img, main a[href^=javascript]")
        == []
    )
    for place in ("h1", "#figure-0 .live", "#table-path"):
        assert hostile.SEEN_FIRST in driver.find_element("css selector", place).text
    assert "<script>" in driver.find_element("id", "made").text
