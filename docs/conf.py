"""How Sphinx makes the site of these pages: `make site`."""

import re
import sys
from importlib.metadata import version as version_of
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

project = "pcaplat"
release = version = version_of("pcaplat")
extensions = ["myst_parser", "terms"]
# what commands print is in no language of its own
suppress_warnings = ["misc.highlighting_failure"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

# options begin with two hyphens, which are no dash
smartquotes = False

html_theme = "furo"
html_title = f"pcaplat {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "search_order.js")
html_show_copyright = False
html_copy_source = False
# `text` also marks drawings and files in notations that no lexer knows
highlight_language = "text"

SHORT_CODE = 24
"""Characters that fit into the narrowest page."""

LISTED = re.compile(r"^- \[[^\]]+\]\(([^):#]+)\.md\)", re.MULTILINE)


def add_contents(_: Sphinx, page: str, source: list[str]) -> None:
    """Make the navigation from the list of pages that an index shows."""
    if page.rpartition("/")[2] in {"index", "background"}:
        listed = "\n".join(LISTED.findall(source[0]))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def keep_together(_: Sphinx, page: nodes.document, __: str) -> None:
    """Mark short code, so that no option breaks at its hyphens."""
    for code in page.findall(nodes.literal):
        if len(code.astext()) <= SHORT_CODE:
            code["classes"].append("short")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
    app.connect("doctree-resolved", keep_together)
