"""README and docs are true: what examples print, where links lead, what pages there are."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs.examples import examples

LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^ *```+(.*)$", re.MULTILINE)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
HEADINGS = ["Question", "Method", "Assumptions", "How it can mislead"]
STAGES = {path.stem for path in (ROOT / "pcaplat" / "stages").iterdir()} - {
    "__init__",
    "__pycache__",
} | {"compare", "validate"}
"""Those of a merge, and what is made of several."""


DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
SLOW_PAGE = DOCS / "prove" / "studies" / "east-west.md"
"""Its verdicts are of the whole study that ships."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page == SLOW_PAGE else [])
        for page in PAGES
        if page.parent.name != "reference"
    ],
    ids=name_of,
)
def test_examples_print_what_the_page_says(page: Path) -> None:
    text = page.read_text("utf-8")
    assert examples().refreshed(text) == text, "run `make docs`, and look at what changed"


def test_a_stale_example_is_noticed() -> None:
    console = "```console\n$ echo right\nwrong\n```\n"
    python = "```python\n>>> 6 * 7\n41\n\n```\n"
    assert examples().refreshed(console) == console.replace("wrong", "right")
    assert examples().refreshed(python) == python.replace("41", "42")


def test_an_example_that_fails_is_not_written_down() -> None:
    with pytest.raises(RuntimeError, match="no_such_name"):
        examples().refreshed("```python\n>>> no_such_name\n42\n\n```\n")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    targets = (link.split("#")[0] for link in LINK.findall(page.read_text("utf-8")))
    broken = [to for to in targets if to and "://" not in to and not (page.parent / to).exists()]
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_fences_are_closed(page: Path) -> None:
    """Or all that follows one is drawn as code."""
    fences = FENCE.findall(page.read_text("utf-8"))
    assert len(fences) % 2 == 0
    assert not any(fences[1::2])


@pytest.mark.parametrize("page", PAGES[1:], ids=name_of)
def test_every_page_is_linked_from_the_index_of_its_folder(page: Path) -> None:
    over = page.parent.parent if page.name == "index.md" else page.parent
    if not over.is_relative_to(DOCS):
        return
    indexes = [over / "index.md"] if over != DOCS else [DOCS / "index.md", DOCS / "background.md"]
    linked = {
        (index.parent / link.split("#")[0]).resolve()
        for index in indexes
        for link in LINK.findall(index.read_text("utf-8"))
    }
    assert page in linked


BAR = re.compile(r"(?<!\\)\|")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_rows_of_a_table_have_as_many_cells(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(BAR.findall(row)) for row in table.splitlines()}) == 1, table[:200]


def test_every_stage_has_a_page() -> None:
    pages = {path.stem for path in (DOCS / "method").glob("*.md")} - {"index"}
    assert pages == STAGES


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_a_stages_page_has_the_four_headings(stage: str) -> None:
    page = (DOCS / "method" / f"{stage}.md").read_text("utf-8")
    assert HEADING.findall(page) == HEADINGS


SOURCE_PATH = re.compile(r"`((?:rust|pcaplat|tests|bench)/[\w./-]+)`")


@pytest.mark.parametrize("page", sorted((DOCS / "method").glob("*.md")), ids=name_of)
def test_files_that_a_page_names_are_there(page: Path) -> None:
    named = SOURCE_PATH.findall(page.read_text("utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


PROMISE = re.compile(r"^- \*\*(.+?)\*\*(.*?)(?=^- |^## |\Z)", re.MULTILINE | re.DOTALL)


def test_every_promise_against_hostile_input_names_its_tests() -> None:
    page = (DOCS / "evaluation" / "robustness.md").read_text("utf-8").partition("\n## ")[0]
    promises = {name: SOURCE_PATH.findall(text) for name, text in PROMISE.findall(page)}
    assert len(promises) == page.count("\n- ")
    assert [name for name, paths in promises.items() if not paths] == []
    named = {path for paths in promises.values() for path in paths}
    assert [path for path in sorted(named) if not _has_tests(ROOT / path)] == []


def _has_tests(place: Path) -> bool:
    files = [place] if place.is_file() else sorted(place.glob("test_*.py"))
    return any(re.search(r"^def test_", one.read_text("utf-8"), re.MULTILINE) for one in files)


def test_why_a_pair_was_matched_leads_to_a_file() -> None:
    page = (DOCS / "method" / "match.md").read_text("utf-8")
    section = page.partition("### Why a pair was matched\n")[2].partition("\n### ")[0]
    rows = [line.split("|")[2:4] for line in section.splitlines() if line.startswith("| ")][2:]
    matching = ROOT / "rust" / "src" / "matching"
    named = [path for files, _ in rows for path in re.findall(r"`([\w/]+\.rs)`", files)]
    assert named
    assert [path for path in named if not (matching / path).exists()] == []
    rules = re.search(r"MATCHED_BY: .* = \[(.*)\];", (matching / "evidence.rs").read_text("utf-8"))
    assert rules
    assert {rule.strip(" `") for _, rule in rows} - {""} == {*re.findall(r'"(.*?)"', rules[1])}


def test_decisions_are_numbered_and_dated() -> None:
    pages = sorted((DOCS / "project" / "decisions").glob("0*.md"))
    # engineers who work at once are given numbers ahead, so that there may be gaps
    assert len({int(page.name[:4]) for page in pages}) == len(pages)
    for page in pages:
        text = page.read_text("utf-8")
        assert text.startswith(f"# {int(page.name[:4])}. ")
        assert re.search(r"^\d{4}-\d\d-\d\d$", text, re.MULTILINE), page
        for part in ("Context", "Decision", "Consequence"):
            assert f"**{part}.**" in text, page


CONSTANTS = [
    ("read", "up to 32 layers deep", "MAX_LAYERS", "32"),
    ("survey", "8,192 packets", "SAMPLE_PACKETS", "8_192"),
    ("survey", "up to twice as many packets", "MORE_TIMES", "2"),
    ("survey", "At least three changes of direction", "ENOUGH_CHANGES", "3"),
    ("survey", "medians of blocks of 31", "BLOCK", "31"),
    ("survey", "median of its 101 neighbours", "BLOCK", "101"),
    ("survey", "at most 512", "MOST_KNOTS", "512"),
    ("survey", "fewer than 2 %", "LEAST_SHARE", "0.02"),
    ("survey", "raw difference if that is less than 10 ms", "SYNCHRONISED_NS", "10_000_000"),
    ("survey", "below 10 s", "RELATED_WITHIN_NS", "10_000_000_000"),
    ("survey", "30 median deviations", "OUTLIER_DEVIATIONS", "30"),
    ("match", "within 2 ms of an earlier one", "COPIES_WITHIN_NS", "2_000_000"),
    ("match", "2 ms + 20 × the widest band", "WIDTHS", "20"),
    ("match", "have **0.9995** of the", "ACCEPTED", "0.9995"),
    ("match", "(at least 10⁻⁴)", "LEAST_LOST", "1e-4"),
    ("match", "(at least 10⁻⁵)", "LEAST_PHANTOM", "1e-5"),
    ("match", "longer than 1480 bytes", "USUAL_TCP_BYTES", "1480"),
    ("align", "each of 2048 bins", "N_BINS", "2048"),
    ("align", "evaluated at 257 knots", "N_KNOTS", "257"),
    ("align", "at least 1 ppm", "LEAST_DRIFT", "1e-6"),
    ("align", "windows of about 120 packets", "PACKETS", "120"),
    ("align", "more than two resolutions and 200 ns", "LEAST_STEP_NS", "200.0"),
    ("align", "fewer than 12 bounds", "FEWEST", "12"),
    ("summarize", "exact below 2¹¹ ns", "PRECISION_BITS", "11"),
    ("summarize", "1.96 √", "Z_95", "1.96"),
]
CODE = "\n".join(
    path.read_text("utf-8")
    for folder, kind in (("pcaplat", "*.py"), ("rust/src", "*.rs"))
    for path in (ROOT / folder).rglob(kind)
)


@pytest.mark.parametrize(("stage", "words", "name", "value"), CONSTANTS)
def test_numbers_in_the_pages_are_those_of_the_code(
    stage: str, words: str, name: str, value: str
) -> None:
    page = (DOCS / "method" / f"{stage}.md").read_text("utf-8")
    assert " ".join(words.split()) in " ".join(page.split())
    assert re.search(rf"\b{name}\b[^=\n]* = {re.escape(value)}\b", CODE)
