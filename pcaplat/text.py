"""Texts of strangers made harmless: names of files, interfaces and points, and what is quoted."""

from unicodedata import category

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


def _escape(code: int) -> str:
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - one byte
