"""The sentences of a Markdown page, and what the house style asks of them.

`python -m tests.docs.prose [PAGE ...]` prints the figures of each page, and each offending sentence
of the pages that are named.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

MOST_WORDS = 35
FENCE = re.compile(r"^ *(```|~~~).*?^ *\1[ \t]*$", re.MULTILINE | re.DOTALL)
GLOSSARY = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
END = re.compile(r"(?<=[.!?])[)*_\"”]*\s+(?=[\"“(*_]*(?:[A-Z0-9`∅←→⇄±≤–]|pcaplat))")
SHORT = re.compile(r"\b(e\.g|i\.e|vs|cf|etc|Fig|Sec|No|approx)\.$")
OPENING = re.compile(r"^[\"“(*_]*(What|Where|Of|Who)\b")
BLOCK_START = re.compile(r"^\s*([-*+]|\d+\.)\s|^\s*#|^\s*\||^\s*>|^\S.*:\s*$|^ {2,}\S")
DIALECT = {
    "told, tells, said, says": r"told|tells?|said|says?",
    "taken for, of which, likewise, so many, by as much": (
        r"taken for|of which|likewise|so many|(?:by )?as much as that|by as much"
    ),
    "stamp": r"stamps?|stamped|stamping",
    "sight": r"sights?|sighted|sightings?",
    "missed, jumped, not seen there": r"missed|jumped|swallowed|not seen there",
    "leave open": r"(?:clocks?|packets?) leaves? \S+ ?open|leaves? open|left open",
    "there and back": r"there and back|two-way",
    "alike": r"alike|likeness|packets' worth",
    "all points cover": r"all points cover",
    "witness": r"witness|witnesses",
    "usual time": r"usual times?|usual delays?",
}
WORDS = re.compile(rf"(?<![\w-])(?:{'|'.join(DIALECT.values())})(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True)
class Prose:
    """What one page holds against the style: sentences, by rule."""

    sentences: list[str]
    long: list[str]
    openings: list[str]
    dialect: list[str]


def sentences(text: str) -> list[str]:
    """Return the sentences of running text, list items and table cells; code is one word each."""
    entries = "\n\n".join(GLOSSARY.findall(text))
    text = COMMENT.sub("", FENCE.sub("\n\n", text)) + "\n\n" + entries
    return [sentence for block in _blocks(text) for sentence in _split(block)]


def _blocks(text: str) -> Iterator[str]:
    block: list[str] = []
    for line in text.splitlines():
        if not line.strip() or BLOCK_START.match(line):
            yield " ".join(block)
            block = []
        if line.lstrip().startswith("|"):
            yield from line.replace(r"\|", "/").split("|")
        elif not line.startswith(("#", "    ")) and "```" not in line:
            block.append(re.sub(r"^\s*([-*+]|\d+\.)\s+", "", line).strip())
    yield " ".join(block)


def _split(block: str) -> Iterator[str]:
    plain = CODE.sub("`x`", LINK.sub(r"\1", block)).strip()
    start = ""
    for piece in END.split(plain):
        if SHORT.search(piece):
            start += piece + " "
        elif re.search(r"[a-zA-Z]", piece):
            yield start + piece
            start = ""


def n_words(sentence: str) -> int:
    """Count the words of a sentence; a dash or an arrow is none."""
    return sum(1 for word in sentence.split() if re.search(r"\w", word))


def judge(text: str) -> Prose:
    """Find the sentences of a page that break a rule."""
    found = sentences(text)
    return Prose(
        found,
        [sentence for sentence in found if n_words(sentence) > MOST_WORDS],
        [s for s in found if OPENING.match(s) and not s.endswith("?")],
        [
            f"{hit[0]}: {sentence}"
            for sentence in found
            for hit in WORDS.finditer(CODE.sub("", sentence))
        ],
    )


def pages() -> list[Path]:
    """Return README, CHANGELOG and every page of docs/."""
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> None:
    """Print the figures of all pages, or the offending sentences of some."""
    named = [Path(name).resolve() for name in sys.argv[1:]]
    total = [0, 0, 0, 0]
    for page in named or pages():
        prose = judge(page.read_text("utf-8"))
        parts = (prose.sentences, prose.long, prose.openings, prose.dialect)
        total = [sum(pair) for pair in zip(total, map(len, parts), strict=True)]
        print(*(f"{len(part):6}" for part in parts), page.relative_to(ROOT))
        for rule, part in (
            ("long", prose.long),
            ("opening", prose.openings),
            ("word", prose.dialect),
        ):
            for sentence in part if named else ():
                print(f"    {rule}: {sentence}")
    print(*(f"{number:6}" for number in total), "sentences, over 35 words, What/Where/Of, dialect")


if __name__ == "__main__":
    main()
