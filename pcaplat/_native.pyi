from collections.abc import Callable, Sequence
from os import PathLike
from typing import TypeAlias, final

from pcaplat.model.arrays import Floats, Ints
from pcaplat.model.blocks import BlockTimes
from pcaplat.model.centre import Centre
from pcaplat.model.files.live import PointCounts
from pcaplat.model.files.row_conditions import RowCondition
from pcaplat.model.matched import Latencies, Matched
from pcaplat.model.matches.traffic import CountedTraffic, TrafficPlan
from pcaplat.model.plan import Plan
from pcaplat.model.points import PointTree
from pcaplat.model.sampled import FoundStamp, Place, Sampled
from pcaplat.model.translated import TranslatedSession

__all__ = [
    "IDENTITIES",
    "IS_DEBUG_BUILD",
    "MATCHED_BY",
    "PAIR_KINDS",
    "REASONS",
    "STATUSES",
    "TOLD_BY",
    "TRIP_KINDS",
    "ArrowTable",
    "CapturedFrame",
    "DecodedFrame",
    "Follow",
    "Formats",
    "Learned",
    "LivePoints",
    "PacketStream",
    "Settings",
    "Survey",
    "add_slices",
    "attribute",
    "attribute_round_trips",
    "autocorrelation_of",
    "beta_cdf",
    "beta_quantile",
    "decode",
    "distinct_of",
    "formats",
    "frames_at",
    "gamma_quantile",
    "learn",
    "match_files",
    "match_slice",
    "random_order",
    "read_capture",
    "resamples",
    "sample",
    "student_cdf",
    "student_quantile",
    "survey_extent",
    "write_digest",
    "write_merged",
]

_Path: TypeAlias = str | PathLike[str]
_Tell: TypeAlias = Callable[[int], None] | None

IS_DEBUG_BUILD: bool
STATUSES: tuple[str, ...]
REASONS: tuple[tuple[str, str], ...]
PAIR_KINDS: tuple[str, ...]
MATCHED_BY: tuple[str, ...]
TOLD_BY: tuple[str, ...]
IDENTITIES: tuple[str, ...]
TRIP_KINDS: tuple[str, ...]

@final
class Settings:
    def __new__(
        cls,
        *,
        filter: str | None = None,
        filter_outer: str | None = None,
        decode: list[str] = ...,
        one_in: int = 1,
        prefixes: Sequence[int] | None = None,
        libpcap: str | None = None,
        tenants: tuple[Sequence[Sequence[tuple[tuple[int, int], int]]], bool] | None = None,
        translations: Learned | None = None,
        stamp_names: list[str | None] = ...,
        stamps: Sequence[Sequence[FoundStamp | None]] | None = None,
        last_bit_bps: Sequence[int | None] = ...,
        hops: Sequence[tuple[int, bool, str, str, str, str, int, int] | None] = ...,
        extent_bytes: int = ...,
    ) -> Settings: ...
    @property
    def extent_bytes(self) -> int: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Settings: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Settings], tuple[bytes]]: ...

@final
class Survey:
    def __new__(cls, files: Sequence[_Path], settings: Settings) -> Survey: ...
    def settings(self) -> Settings: ...
    def seekable_bytes(self) -> list[int | None]: ...
    def settle(self, written: Sequence[Sequence[_Path]]) -> Sampled | None: ...

@final
class Learned:
    @property
    def left_out(self) -> tuple[int, int] | None: ...
    @property
    def n_not_followed(self) -> int: ...
    def sessions(self) -> list[TranslatedSession]: ...
    def __len__(self) -> int: ...

@final
class PacketStream:
    def __new__(
        cls,
        origins: Sequence[
            tuple[_Path, str, Sequence[str], Sequence[Centre | None], PointTree | None]
        ],
        settings: Settings,
        *,
        outcomes_in: _Path | None = None,
        batch_rows: int = 65536,
        details: bool = False,
        counting: TrafficPlan | None = None,
        columns: Sequence[str] | None = None,
        condition: RowCondition | None = None,
    ) -> PacketStream: ...
    def damage(self) -> list[tuple[str, int, str]]: ...
    def check(self) -> None: ...
    def traffic(self) -> CountedTraffic | None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class ArrowTable:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Follow:
    def __new__(
        cls, path: _Path, name: str, point: str, settings: Settings, *, details: bool = False
    ) -> Follow: ...
    def rows(self) -> PacketStream | None: ...
    def damage(self) -> list[tuple[int, str]]: ...

@final
class LivePoints:
    def __new__(
        cls,
        points: Sequence[tuple[str, str, str | None, _Path | None, bool, _Path]],
        *,
        filter: str | None = None,
        snap_bytes: int = 262144,
        buffer_bytes: int = 0,
        n_packets: int | None = None,
        duration_ns: int | None = None,
        ring: tuple[int, int] | None = None,
        libpcap: str | None = None,
    ) -> LivePoints: ...
    def counts(self) -> list[PointCounts]: ...
    def stop(self) -> None: ...
    def finish(self) -> None: ...

@final
class DecodedFrame:
    @property
    def layers(self) -> str: ...
    @property
    def starts(self) -> list[int]: ...
    @property
    def tunnel_id(self) -> int | None: ...
    @property
    def ttl(self) -> int: ...
    @property
    def ip_id(self) -> int: ...
    @property
    def transport(self) -> bytes: ...
    @property
    def stop(self) -> str | None: ...

@final
class CapturedFrame:
    @property
    def number(self) -> int: ...
    @property
    def link(self) -> int: ...
    @property
    def wire_bytes(self) -> int: ...
    @property
    def data(self) -> bytes: ...
    @property
    def layers(self) -> str: ...
    @property
    def starts(self) -> list[int]: ...

@final
class Formats:
    @property
    def files(self) -> list[tuple[str, str, list[str]]]: ...
    @property
    def codecs(self) -> list[str]: ...
    @property
    def layers(self) -> list[tuple[str, str, list[str]]]: ...
    @property
    def stamps(self) -> list[tuple[str, str]]: ...

def sample(
    files: Sequence[_Path],
    settings: Settings,
    limit: int,
    tell: _Tell = None,
    *,
    n_parts: Sequence[int] = ...,
) -> Sampled: ...
def learn(
    files: Sequence[_Path],
    settings: Settings,
    point_of: Sequence[Sequence[int | None]],
    trees: Sequence[PointTree | None],
    centres: Sequence[Centre],
    window_ns: int,
    sequences: Sequence[Sequence[int]],
    tell: _Tell = None,
    most_sessions: int = 1048576,
) -> Learned: ...
def match_files(
    files: Sequence[_Path],
    settings: Settings,
    plan: Plan,
    directory: _Path,
    keep_rows: bool,
    keep_crossings: bool = False,
    n_partitions: int = 0,
    tell: _Tell = None,
    *,
    seed: int | None = None,
) -> Matched: ...
def read_capture(
    path: str,
    settings: Settings,
    plan: Plan,
    directory: str,
    keep_rows: bool,
    file: int,
    n_slices: int,
    seed: int,
    place: Place | None,
    until_byte: int | None,
) -> bytes: ...
def survey_extent(
    path: str,
    settings: Settings,
    to: str,
    file: int,
    limits: tuple[int, int],
    start: tuple[int, int | None] | None,
    until_byte: int | None,
) -> tuple[Place, Place, bool, bool, bool]: ...
def match_slice(
    folders: Sequence[Sequence[str]],
    plan: Plan,
    directory: str,
    kept: tuple[bool, bool],
    slice: int,
) -> bytes: ...
def add_slices(
    slices: Sequence[bytes],
    n_files: int,
    plan: Plan,
    directory: _Path,
    kept: tuple[bool, bool],
) -> Matched: ...
def attribute(
    spills: Sequence[_Path],
    is_reverse: bool,
    clock: Centre,
    usual: Centre,
    blocks: BlockTimes,
) -> Latencies: ...
def attribute_round_trips(
    files: Sequence[tuple[_Path, _Path, _Path]],
    clock: Centre,
    usual: Centre,
    blocks: BlockTimes,
) -> list[Latencies]: ...
def write_merged(
    points: Sequence[
        tuple[
            str,
            str,
            int | None,
            Sequence[tuple[int, _Path, int | None, PointTree | None]],
            Sequence[tuple[int, int]],
        ]
    ],
    settings: Settings,
    out: _Path,
    unmatched_in: _Path | None = None,
    lost: tuple[_Path, Sequence[str]] | None = None,
    found: tuple[_Path, Sequence[_Path]] | None = None,
    tell: _Tell = None,
) -> int: ...
def decode(frame: bytes, link: int) -> DecodedFrame: ...
def frames_at(path: _Path, numbers: Sequence[int], settings: Settings) -> list[CapturedFrame]: ...
def formats() -> Formats: ...
def autocorrelation_of(floats: bytes) -> tuple[float, float]: ...
def distinct_of(values: bytes) -> tuple[Floats, Ints]: ...
def beta_cdf(a: float, b: float, x: float) -> float: ...
def beta_quantile(a: float, b: float, chance: float) -> float: ...
def gamma_quantile(shape: float, chance: float) -> float: ...
def student_cdf(df: float, t: float) -> float: ...
def student_quantile(df: float, chance: float) -> float: ...
def resamples(n_blocks: int, n: int) -> Floats: ...
def random_order(n: int) -> Ints: ...
def write_digest(
    path: _Path,
    settings: Settings,
    out: _Path,
    secret: bytes,
    *,
    keep_addresses: bool = False,
    tell: _Tell = None,
) -> tuple[int, int, int]: ...
