"""The line of every key of a TOML text.

tomllib, which returns the values, keeps no places: see
docs/project/decisions/0011-lines-of-a-toml-file.md.
"""

import re
import tomllib

from pcaplat.toml import STRING

Path = tuple[str | int, ...]

SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# a date may have a space before its time
SCALAR = re.compile(r"[^\s,\]}#]+(?: \d\d:[^\s,\]}#]*)?")


def key_lines(text: str) -> dict[Path, int]:
    r"""Give the line, from 1, of every table, key and list item of a valid TOML text.

    Args:
        text: What tomllib reads without complaint.

    Example:
        >>> key_lines("a = [1,\n 2]\n[[b]]\nc = 1")
        {('a',): 1, ('a', 0): 1, ('a', 1): 2, ('b',): 3, ('b', 0): 3, ('b', 0, 'c'): 4}
    """
    scan = _Scan(text)
    scan.document()
    return scan.lines


class _Scan:
    """One pass over the text; `at` is how far it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self._n_items: dict[Path, int] = {}
        self._line, self._line_at = 1, 0

    def document(self) -> None:
        """Read headers and keys to the end."""
        table: Path = ()
        self._take(SPACE)
        while self.at < len(self.text):
            table = self._header() if self._next() == "[" else self._pair(table)
            self._take(SPACE)

    def _header(self) -> Path:
        is_item = self.text.startswith("[[", self.at)
        self.at += 2 if is_item else 1
        *parents, last = self._key()
        path: Path = ()
        for part in parents:
            self._record((*path, part))
            path = self._current((*path, part))
        path = (*path, last)
        self._record(path)
        if is_item:
            self._n_items[path] = self._n_items.get(path, 0) + 1
        path = self._current(path)
        self._record(path)
        self._take(SPACE)
        self.at += 2 if is_item else 1
        return path

    def _current(self, path: Path) -> Path:
        return (*path, self._n_items[path] - 1) if path in self._n_items else path

    def _pair(self, table: Path) -> Path:
        path = table
        for part in self._key():
            path = (*path, part)
            self._record(path)
        self._take(SPACE)
        self.at += len("=")
        self._take(SPACE)
        self._value(path)
        return table

    def _key(self) -> list[str]:
        parts = []
        while True:
            self._take(SPACE)
            raw = self._take(STRING) or self._take(BARE_KEY)
            parts.append(next(iter(tomllib.loads(f"{raw} = 0"))))
            self._take(SPACE)
            if self._next() != ".":
                return parts
            self.at += len(".")

    def _value(self, path: Path) -> None:
        self._record(path)
        match self._next():
            case "[":
                self._items("]", path)
            case "{":
                self._items("}", path)
            case _:
                if not self._take(STRING):
                    self._take(SCALAR)

    def _items(self, end: str, path: Path) -> None:
        self.at += 1
        n = 0
        self._take(SPACE)
        while self.at < len(self.text) and self._next() != end:
            if end == "]":
                self._value((*path, n))
            else:
                self._pair(path)
            n += 1
            self._take(SPACE)
            self.at += self._next() == ","
            self._take(SPACE)
        self.at += 1

    def _record(self, path: Path) -> None:
        if path:
            self._line += self.text.count("\n", self._line_at, self.at)
            self._line_at = self.at
            self.lines.setdefault(path, self._line)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found[0] if found else ""
