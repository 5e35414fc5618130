"""The site of docs/ is built without a warning, and terms link to the glossary."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytest.importorskip("sphinx", reason="the extra `docs` is not installed")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "--quiet", "-b", "html"]
    done = subprocess.run(
        [*command, ROOT / "docs", folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_navigation_and_the_search(site: Path) -> None:
    pages = {
        str(p.relative_to(ROOT / "docs").with_suffix("")) for p in (ROOT / "docs").rglob("*.md")
    }
    index = (site / "searchindex.js").read_text("utf-8")
    assert all(f'"{page}"' in index for page in pages)


def test_the_first_use_of_a_term_links_to_its_meaning(site: Path) -> None:
    html = (site / "measure" / "traffic.html").read_text("utf-8")
    links = re.findall(r'<a class="term[^"]*" href="([^"]+)" title="[^"]{10,}"', html)
    assert len(links) > 3
    assert len(links) == len(set(links))
    glossary = (site / "glossary.html").read_text("utf-8")
    assert all(f'id="{link.partition("#")[2]}"' in glossary for link in links)
    assert 'class="term' not in glossary


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = [path.read_text("utf-8") for path in site.rglob("*.html")]
    assert not [
        found
        for page in pages
        for found in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?:[^"]+"', page)
    ]
