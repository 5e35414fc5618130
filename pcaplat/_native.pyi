from collections.abc import Callable
from os import PathLike
from typing import Any, final

_Path = str | PathLike[str]
_Knots = tuple[list[int], list[int], float]
_Tell = Callable[[int], None] | None

IS_DEBUG_BUILD: bool

@final
class Settings:
    def __new__(
        cls,
        *,
        filter: str | None = None,
        filter_outer: str | None = None,
        udp_ports: list[tuple[int, str]] = ...,
        one_in: int = 1,
        prefixes: list[int] | None = None,
        libpcap: str | None = None,
    ) -> Settings: ...

@final
class PacketStream:
    def __new__(
        cls,
        origins: list[tuple[_Path, str, list[str], list[_Knots | None]]],
        settings: Settings,
        *,
        outcomes_in: _Path | None = None,
        batch_rows: int = 65536,
    ) -> PacketStream: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

def sample(
    files: list[_Path] | list[str], settings: Settings, limit: int, tell: _Tell = None
) -> dict[str, Any]: ...
def match_files(
    files: list[_Path] | list[str],
    settings: Settings,
    plan: dict[str, Any],
    directory: _Path,
    keep_rows: bool,
    n_partitions: int = 0,
    tell: _Tell = None,
) -> dict[str, Any]: ...
def attribute(
    spills: list[_Path] | list[str], is_reverse: bool, clock: _Knots
) -> dict[str, Any]: ...
def write_merged(
    points: list[tuple[str, list[_Path] | list[str], int | None, list[tuple[int, int]]]],
    out: _Path,
    tell: _Tell = None,
) -> int: ...
def decode(frame: bytes, link: int) -> dict[str, Any]: ...
