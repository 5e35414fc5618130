"""How Sphinx makes the site of these pages: `make site`."""

import re
from importlib.metadata import version as version_of

from sphinx.application import Sphinx

project = "pcaplat"
release = version = version_of("pcaplat")
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"pcaplat {release}"
html_copy_source = False
# `text` also marks drawings and files in notations that no lexer knows
highlight_language = "text"

LISTED = re.compile(r"^- \[[^\]]+\]\(([^):#]+)\.md\)", re.MULTILINE)


def add_contents(_: Sphinx, page: str, source: list[str]) -> None:
    """Make the navigation from the list of pages that an index shows."""
    if page.rpartition("/")[2] in {"index", "background"}:
        listed = "\n".join(LISTED.findall(source[0]))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
