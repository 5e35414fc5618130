"""File names of captures: which pattern a name matches, and whether two patterns can meet."""

import re

from pcaplat.records import dataclass

HOST = r"(?:(?P<host>.+?)[-_.])??"
PART = r"(?P<part>(?:(?:[-_.]|\.pcap|\.pcapng)[0-9]+)+)"
"""What tcpdump -C, dumpcap -b and the like put behind the name of each file of one capture."""


@dataclass(frozen=True)
class Found:
    """What a file's name says besides the point: the host before it, the number behind it."""

    host: str
    part: str


def find(pattern: str, stem: str) -> Found | None:
    """Match a file's stem, upper and lower case alike, with a pattern (`*` and `?` as in a shell).

    Example:
        >>> find("VnicTx*", "esx1-vnictx"), find("VnicTx", "VnicRx")
        (Found(host='esx1', part=''), None)
        >>> find("uplink", "uplink_00002")
        Found(host='', part='_00002')
    """
    inner = "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern)
    for tail in ("", PART):
        found = re.fullmatch(f"{HOST}(?:{inner}){tail}", stem, re.IGNORECASE | re.DOTALL)
        if found:
            named = found.groupdict(default="")
            return Found(named["host"], named.get("part", ""))
    return None


def overlap(one: str, other: str) -> bool:
    """Tell whether some name matches both patterns.

    Example:
        >>> overlap("vm*", "*-tx"), overlap("vnic-?x", "vnic-port")
        (True, False)
    """
    reached = {(0, 0)}
    todo = [(0, 0)]
    one, other = one.lower(), other.lower()
    while todo:
        at = todo.pop()
        if at == (len(one), len(other)):
            return True
        fresh = _steps(one, other, *at) - reached
        reached |= fresh
        todo += fresh
    return False


def _steps(one: str, other: str, i: int, j: int) -> set[tuple[int, int]]:
    """Where two patterns can be after at most one further character of a common name."""
    a, b = one[i : i + 1], other[j : j + 1]
    steps = set()
    if a == "*":
        steps.add((i + 1, j))
    if b == "*":
        steps.add((i, j + 1))
    if a and b and (a == b or {a, b} & {"*", "?"}):
        steps.add((i if a == "*" else i + 1, j if b == "*" else j + 1))
    return steps
