"""A Sphinx extension: the first use of a glossary's term on a page links to the glossary."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

GLOSSARY = "glossary"
ENTRY = re.compile(r"^(?P<terms>[^\s`#:].*)\n  (?P<meaning>.+)", re.MULTILINE)
BLOCK = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SEE = re.compile(r"^See \*(.+)\*\.$")
QUIET = (nodes.literal, nodes.literal_block, nodes.reference, nodes.title, nodes.raw)
"""Nothing is linked inside these."""


@cache
def terms() -> dict[str, str]:
    """Return the meaning of each term, read from the glossary's page."""
    page = (Path(__file__).parent / f"{GLOSSARY}.md").read_text("utf-8")
    block = BLOCK.search(page)
    found = {
        entry["terms"]: entry["meaning"] for entry in ENTRY.finditer(block[1] if block else "")
    }
    return {term: found.get(SEE.sub(r"\1", meaning), meaning) for term, meaning in found.items()}


@cache
def pattern() -> re.Pattern[str]:
    """Match any term, singular or plural; the longest where one holds another."""
    words = "|".join(re.escape(term) for term in sorted(terms(), key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?P<term>{words})(?:s|es)?(?![\w-])", re.IGNORECASE)


def split(text: str, seen: set[str]) -> Iterator[tuple[str, str | None]]:
    """Cut a text into pieces, each with the term that it is the first use of."""
    done = 0
    for found in pattern().finditer(text):
        term = next(name for name in terms() if name.lower() == found["term"].lower())
        if term in seen:
            continue
        seen.add(term)
        yield text[done : found.start()], None
        yield found[0], term
        done = found.end()
    yield text[done:], None


def link_first_uses(app: Sphinx, document: nodes.document, page: str) -> None:
    """Replace the first use of each term by a link that shows its meaning."""
    if page == GLOSSARY or page.startswith(("reference/", "project/")):
        return
    labels = {name: label for (kind, name), (_, label) in _objects(app) if kind == "term"}
    seen: set[str] = set()
    target = app.builder.get_relative_uri(page, GLOSSARY)
    for text in list(document.findall(nodes.Text)):
        if _is_quiet(text):
            continue
        pieces = list(split(text.astext(), seen))
        if len(pieces) > 1:
            text.parent.replace(text, list(_nodes(pieces, target, labels)))


def _objects(app: Sphinx) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    return list(app.env.domains.standard_domain.objects.items())


def _is_quiet(node: nodes.Node) -> bool:
    above = node.parent
    while above is not None:
        if isinstance(above, QUIET):
            return True
        above = above.parent
    return False


def _nodes(
    pieces: list[tuple[str, str | None]], target: str, labels: dict[str, str]
) -> Iterator[nodes.Node]:
    for words, term in pieces:
        if term is None:
            yield nodes.Text(words)
            continue
        meaning = terms()[term].replace("*", "").replace("`", "")
        yield nodes.reference(
            "",
            words,
            internal=True,
            refuri=f"{target}#{labels[term]}",
            reftitle=meaning,
            classes=["term"],
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("doctree-resolved", link_first_uses)
    return {"parallel_read_safe": True}
