"""The project's code as the rules of the design see it: rooms, what they use, functions, types."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

PYTHON, RUST = ROOT / "pcaplat", ROOT / "rust" / "src"
PUB = r"(?:pub(?:\(.*?\))? )?"
FN = re.compile(rf"( *){PUB}(?:const |unsafe |extern \"C\" )*fn \w+")
TYPES = {
    PYTHON: re.compile(r"^ *class (\w+)", re.MULTILINE),
    RUST: re.compile(rf"^{PUB}(?:struct|enum|trait|type) (\w+)", re.MULTILINE),
}


@cache
def sources(top: Path) -> dict[Path, str]:
    """The code of a language; in Rust without its tests."""
    files = sorted([*top.rglob("*.py"), *top.rglob("*.rs")])
    own = [path for path in files if not {"tests", "testing"} & {*path.with_suffix("").parts[-3:]}]
    return {path: path.read_text("utf-8").split("#[cfg(test)]\nmod ")[0] for path in own}


def room(path: Path) -> str:
    """The folder or module of a language's top that a file is of."""
    top = PYTHON if path.is_relative_to(PYTHON) else RUST
    return path.relative_to(top).parts[0].removesuffix(path.suffix)


def used(path: Path, text: str) -> set[str]:
    """Rooms that a file names."""
    if path.is_relative_to(RUST):
        inner = path.relative_to(RUST).with_suffix("").parts
        up = "super" + "::super" * (len(inner) - (inner[-1] == "mod") - 1)
        # a group in braces would hide its rooms: as a brace it is of no room, and refused
        return {*re.findall(rf"\b(?:crate|(?<!::){up})::(\w+|{{)", text)}
    return {*_imported(text)}


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and re.match(r"pcaplat\b", node.module or ""):
            _, *rooms = f"{node.module}".split(".")
            yield from rooms[:1] or [alias.name for alias in node.names]
        if isinstance(node, ast.Import):
            dotted = (alias.name.split(".") for alias in node.names)
            yield from (names[1] for names in dotted if names[0] == "pcaplat" and names[1:])


def function_lines(path: Path, text: str) -> list[int]:
    """Lines of each function, its docstring not counted."""
    return [*(_rust_lines(text) if path.suffix == ".rs" else _python_lines(text))]


def _python_lines(text: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            doc = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(node) else 0
            yield (node.end_lineno or 0) - node.lineno + 1 - doc


def _rust_lines(text: str) -> Iterator[int]:
    """Formatted: a body opens at the end of a line, and closes below where its function begins."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if head := FN.match(line):
            opens = next(n for n in range(at, len(lines)) if lines[n].endswith(("{", "}", ";")))
            closes = lines.index(f"{head[1]}}}", opens) if lines[opens].endswith("{") else opens
            yield closes - at + 1
