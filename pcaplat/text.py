"""Texts of strangers made harmless: names of files, interfaces and points, and what is quoted."""

from unicodedata import category, combining, east_asian_width

UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""Categories of characters that steer a terminal, break a line, or turn its direction."""


def printable(text: str) -> str:
    r"""Make a stranger's text harmless: nothing in it moves a cursor or hides a word.

    Example:
        >>> printable("a\x1b[31mb\n")
        'a\\x1b[31mb\\x0a'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(ord(c)) for c in text)


def plain_name(text: str) -> str:
    r"""Give a name as it stands in every table: what is seen of it stays, so names can be compared.

    Example:
        >>> plain_name("sw\xa0a"), plain_name("sw\u202ea\udcff")
        ('sw\xa0a', 'sw\\u202ea\\udcff')
    """
    if text.isprintable():
        return text
    return "".join(_escape(ord(c)) if category(c) in UNSEEN else c for c in text)


def shortened(text: str, most: int = 1_000) -> str:
    """Leave out the middle of a text that quotes too much of a stranger's file.

    Example:
        >>> shortened("abcdefgh", 4), shortened("abcd", 4)
        ('ab…gh', 'abcd')
    """
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - one byte


def n_cells(text: str) -> int:
    """How many columns of a terminal a text takes: East Asian characters take two.

    Example:
        >>> n_cells("sw-a"), n_cells("東"), n_cells("a\u0301")
        (4, 2, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "FW" else 1 for c in text)


def folded(text: str, width: int, indent: int = 0) -> list[str]:
    """Break a text between words, and a word that is wider than a line where the line ends.

    Args:
        text: One paragraph; blanks in a line stay.
        width: Of a line, in columns.
        indent: By how much all lines but the first are narrower.

    Returns:
        At least one line.

    Example:
        >>> folded("a bound of 12345678", 7)
        ['a bound', 'of', '1234567', '8']
    """
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        room = max(width - indent * bool(lines), 1)
        if n_cells(joined) <= room:
            line = joined
            continue
        if line:
            lines.append(line)
        line = word
        while n_cells(line) > (room := max(width - indent * bool(lines), 1)):
            n_fitting = _n_fitting(line, room)
            lines.append(line[:n_fitting])
            line = line[n_fitting:]
    return [*lines, line] if line or not lines else lines


def _n_fitting(text: str, width: int) -> int:
    """How many of the first characters fit, at least one."""
    n = 1
    while n < len(text) and n_cells(text[: n + 1]) <= width:
        n += 1
    return n
