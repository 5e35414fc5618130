"""What is captured live, as the user names it: POINT=INTERFACE, a namespace's, or a pipe."""

from collections.abc import Collection, Sequence
from pathlib import Path
from stat import S_ISFIFO

from pcaplat.errors import InputError
from pcaplat.records import dataclass
from pcaplat.text import plain_name

NAMESPACE = "netns:"
NAMED = Path("/run/netns")
"""Where `ip netns`, containerlab and Kubernetes' network plugins name namespaces."""
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class LiveSource:
    """A point and its interface, in a network namespace or not; or the pipe it comes through."""

    point: str
    text: str
    interface: str | None
    place: Path | None
    """The namespace of an interface, or the pipe."""


def parse_sources(given: Sequence[str]) -> list[LiveSource]:
    """Read POINT=INTERFACE, POINT=netns:NAME/INTERFACE, POINT=- and POINT=PIPE.

    Raises:
        InputError: A point is named twice or cannot be the name of a file, a namespace lacks its
            interface, or a file stands where an interface is needed.

    Example:
        >>> [one.point for one in parse_sources(["vnic=vnet0", "eth0", "netns:pod1/eth0", "vm=-"])]
        ['vnic', 'eth0', 'pod1-eth0', 'vm']
    """
    sources = [_source(one) for one in given]
    for one in sources:
        if sum(one.point == other.point for other in sources) > 1:
            raise InputError(
                f"{one.point}: two points have this name, and would share a file; name them with "
                "POINT=INTERFACE"
            )
    if sum(one.text == STANDARD_INPUT for one in sources) > 1:
        raise InputError("-: standard input can be one point only; give the others as named pipes")
    return sources


def _source(given: str) -> LiveSource:
    point, _, text = given.partition("=")
    if not text:
        point, text = "", given
    if text.startswith(NAMESPACE):
        where, _, interface = text.removeprefix(NAMESPACE).rpartition("/")
        if not (where and interface):
            raise InputError(f"{given}: name the namespace and its interface, like netns:pod1/eth0")
        usual = f"{Path(where).name}-{interface}"
        return LiveSource(_file_name(point or usual), text, interface, _namespace(where))
    if _is_pipe(text):
        usual = "stdin" if text == STANDARD_INPUT else Path(text).stem
        return LiveSource(_file_name(point or usual), text, None, Path(text))
    return LiveSource(_file_name(point or text), text, text, None)


def _namespace(where: str) -> Path:
    """Give the path of a namespace: its own, or that of its name, or of a process by its number."""
    if "/" in where:
        return Path(where)
    named = NAMED / where
    return Path(f"/proc/{where}/ns/net") if where.isdecimal() and not named.exists() else named


def _is_pipe(text: str) -> bool:
    if text == STANDARD_INPUT:
        return True
    path = Path(text)
    if not path.exists():
        if "/" in text:  # the name of an interface has no slash
            raise InputError(f"{text}: there is no such named pipe; make it with mkfifo")
        return False
    if S_ISFIFO(path.stat().st_mode):
        return True
    raise InputError(
        f"{text}: is a file, and no interface; give captures that are there already to merge"
    )


def _file_name(point: str) -> str:
    if "/" in point or point in {".", ".."}:
        raise InputError(f"{point}: a point's name is that of its file; it cannot have a slash")
    return plain_name(point)


def check_points(option: str, named: Collection[str], sources: Sequence[LiveSource]) -> None:
    """Refuse names that no interface among the sources has.

    Raises:
        InputError: One is unknown.
    """
    known = [one.point for one in sources if one.interface]
    for name in named:
        if name not in known:
            raise InputError.unknown_point(option, name, known)
