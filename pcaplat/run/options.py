"""Options of a merge: each is one field, and whatever takes options is made of these.

`pcaplat.merge` and `pcaplat.lint` take their arguments from here, with types, defaults, checks and
documentation; the command line takes its options and their help from here, study files their keys.
A new option is a field of the group that it belongs to.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from datetime import datetime
from functools import wraps
from inspect import getdoc
from os import PathLike
from textwrap import fill
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from pcaplat.records import dataclass, signature_of
from pcaplat.run.engines import Executor
from pcaplat.run.values import (
    BREAKDOWNS,
    CLOCK_ACCURACIES,
    COUNT,
    DURATION,
    FLAG,
    GROUPS,
    INSTANT,
    LINK_RATES,
    MOST_SLICES,
    NAMES,
    NO_FLAG,
    PORTS,
    SHARE,
    STAMPED_AT,
    TEXT,
    TEXTS,
    WAIT,
    ValueKind,
    check_slices,
    take_captures,
)

Files = str | PathLike[str] | Sequence[str | PathLike[str]]
Groups = str | Sequence[Sequence[str] | str]
NsByPoint = Mapping[str, int | str] | Sequence[tuple[str, int | str]]
"""Nanoseconds, or a duration as text, by point; bit/s likewise."""
Moments = Mapping[str, str] | Sequence[tuple[str, str]]
Instants = str | datetime | None

COLUMNS = 95
"""Of a docstring, without its own indentation."""

REST = "    options: One by one in pcaplat.run.options."
"""The line of a docstring in whose place all options are listed."""


@dataclass(frozen=True)
class Option:
    """What is known of an option besides type and default.

    `meaning` is told in Python, `help` on the command line. Without a `name` the option is of
    Python alone; `key` is its key in a study file, if it has one there; a result that is written
    has chosen its packets, so what `chooses` them can be said no more.
    """

    meaning: str
    name: str | None = None
    kind: ValueKind = FLAG
    help: str = ""
    metavar: str | None = None
    key: str | None = None
    chooses: bool = False


def option(default: object, **known: Any) -> Any:  # noqa: ANN401 - a field of any type
    """Make a field of an option; `known` is what `Option` takes."""
    return field(default=default, metadata={"option": Option(**known)})


def options_of(group: type) -> dict[str, Option]:
    """Give all options of a group, or of several put together, by their arguments' names.

    Example:
        >>> [option.name for option in options_of(FilterOptions).values()]
        ['--filter', '--filter-outer']
    """
    every = {each.name: each.metadata.get("option") for each in fields(group)}
    return {name: option for name, option in every.items() if option}


def given_options(group: Any) -> dict[str, object]:  # noqa: ANN401 - of any class of options
    """Give the options that change what a result says, and are not as they are by default."""
    asked = {each.name: (getattr(group, each.name), each.default) for each in fields(group)}
    told = {name for name, option in options_of(type(group)).items() if option.name}
    return {
        name: value for name, (value, usual) in asked.items() if name in told and value != usual
    }


class Progress(Protocol):
    """Told how far the reading is."""

    def update(self, done_bytes: int, total_bytes: int, stage: str) -> None:
        """Say how many of how many bytes a stage has read."""


@dataclass(frozen=True)
class CaptureOptions:
    """Captures, and options, each checked by its kind."""

    captures: Files

    def __post_init__(self) -> None:
        object.__setattr__(self, "captures", take_captures(self.captures))
        for argument, option in options_of(type(self)).items():
            if option.name:
                given = option.kind.take(option.name, getattr(self, argument))
                option.kind.check(option.name, given)
                object.__setattr__(self, argument, given)


@dataclass(frozen=True, kw_only=True)
class PointOptions:
    """Where the points lie, and what is known of their clocks and stamps."""

    path: Sequence[str] | None = option(
        None,
        name="--path",
        kind=NAMES,
        meaning="The points in forward order; found from the captures by default.",
        help="Points in forward order. Default: found from the packets.",
        metavar="A,B,C",
        key="path",
    )
    same_clock: Groups = option(
        (),
        name="--same-clock",
        kind=GROUPS,
        meaning='Groups of points that share a clock ([["a", "b"]]), or "all".',
        help="Points that one clock timestamped, or all. Repeatable.",
        metavar="A,B",
        key="same_clock",
    )
    clock_accuracy: NsByPoint = option(
        (),
        name="--clock-accuracy",
        kind=CLOCK_ACCURACIES,
        meaning='How far clocks may be off at most, as {"a": "100ns"} or [("a", 100)]; tested '
        "against the packets.",
        help="Largest error of the clock of POINT; two points or more.",
        metavar="POINT=100ns",
        key="clock_accuracy",
    )
    stamped_at: Moments = option(
        (),
        name="--stamped-at",
        kind=STAMPED_AT,
        meaning='Moment that timestamps mark: {"a": "first-bit"}, "last-bit" or "host".',
        help="Timestamps mark first-bit, last-bit or host. Repeatable.",
        metavar="POINT=first-bit",
        key="stamped_at",
    )
    link_rate: NsByPoint = option(
        (),
        name="--link-rate",
        kind=LINK_RATES,
        meaning='Rates of links, as {"a": "10Gbit/s"} or [("a", 10**10)]; they move '
        "timestamps of the last bit to the first.",
        help="Rate of the link; moves last-bit times (--stamped-at) to first-bit.",
        metavar="POINT=10Gbit/s",
        key="link_rate",
    )


@dataclass(frozen=True, kw_only=True)
class ReferenceOptions:
    """What times are told by."""

    reference: str | None = option(
        None,
        name="--reference",
        kind=TEXT,
        meaning="The point whose clock times are given in; the path's first by default.",
        help="Point whose clock all times are given in. Default: the first.",
        metavar="POINT",
        key="reference",
    )


@dataclass(frozen=True, kw_only=True)
class FilterOptions:
    """Which packets there are at all."""

    bpf: str | None = option(
        None,
        name="--filter",
        kind=TEXT,
        meaning="Only packets whose innermost packet passes, in libpcap's filter language.",
        help="Keep frames whose innermost packet passes the tcpdump filter.",
        metavar="BPF",
        key="filter",
        chooses=True,
    )
    bpf_outer: str | None = option(
        None,
        name="--filter-outer",
        kind=TEXT,
        meaning="Only frames that pass as captured.",
        help="Keep frames that pass the tcpdump filter as captured.",
        metavar="BPF",
        key="filter_outer",
        chooses=True,
    )


@dataclass(frozen=True, kw_only=True)
class MatchingOptions:
    """Which of the packets are matched, and how."""

    start: Instants = option(
        None,
        name="--from",
        kind=INSTANT,
        meaning='Only from this time on the reference clock on: a datetime, or text ("+1.5s", a '
        "date, seconds since 1970).",
        help="Start time: +1.5s after the first frame, or a date (UTC).",
        metavar="T",
        chooses=True,
    )
    end: Instants = option(
        None,
        name="--to",
        kind=INSTANT,
        meaning="Only up to this time.",
        help="End time, written as --from is.",
        metavar="T",
        chooses=True,
    )
    sample: int = option(
        1,
        name="--sample",
        kind=SHARE,
        meaning="Use one in this many packets, the same at every point.",
        help="Use one in N packets, the same at every point.",
        metavar="1/N",
        chooses=True,
    )
    window_ns: int | None = option(
        None,
        name="--window",
        kind=DURATION,
        meaning="How wide the first look for a packet is; found by default. It may change the "
        "cost, and never the answer.",
        help="Width of the first search for a packet; changes cost, not the answer.",
        metavar="DURATION",
        key="window",
    )
    lost_after: str | None = option(
        None,
        name="--lost-after",
        kind=WAIT,
        meaning='Waiting time after which a packet is lost (RFC 7680), as "10ms"; by default the '
        "slowest delay that was found on the segment.",
        help="Waiting time after which a packet is lost. Default: the slowest found.",
        metavar="DURATION",
        key="lost_after",
    )


@dataclass(frozen=True, kw_only=True)
class DecodingOptions:
    """What bytes mean."""

    vxlan_ports: Sequence[int] = option(
        (),
        name="--vxlan-port",
        kind=PORTS,
        meaning="UDP ports that carry VXLAN, besides 4789 and 8472.",
        help="A further UDP port of VXLAN. Repeatable.",
        metavar="PORT",
        key="vxlan_ports",
    )
    decode: Sequence[str] = option(
        (),
        name="--decode",
        kind=TEXTS,
        meaning="What is decoded as what, as in `udp.port=8472:vxlan`; goes before what is built "
        "in.",
        help="Decode a port as a layer, e.g. udp.port=8472:vxlan. Repeatable.",
        metavar="KIND=N:LAYER",
        key="decode",
    )


@dataclass(frozen=True, kw_only=True)
class ProfileOptions:
    """What the captures' names say."""

    profile: str | None = option(
        None,
        name="--profile",
        kind=TEXT,
        meaning="A capture-point profile that names the points, or the path of a file.",
        help="Capture-point profile that names points and clocks (pcaplat points).",
        metavar="NAME",
        key="profile",
    )


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a result holds; on the command line, `merge` alone is asked for it."""

    slowest: int = option(
        0,
        name="--slowest",
        kind=COUNT,
        meaning="How many of the slowest packets of each segment to list.",
        help="List the N slowest packets of each segment.",
        metavar="N",
    )
    keep_rows: bool = option(
        default=True, meaning="Keep what `matches`, `packets` and merged captures need."
    )
    keep_crossings: bool = option(
        default=True,
        meaning="Keep what `Result.by` needs, though `by` is not given now.",
    )
    traffic: bool = option(
        default=False,
        name="--traffic",
        kind=FLAG,
        meaning="Count rates, transactions and overhead too (`traffic_rows`), into the summary.",
        help="Add rates, transactions and encapsulation overhead.",
    )
    by: Sequence[str] = option(
        (),
        name="--by",
        kind=BREAKDOWNS,
        meaning="Break figures down by flow, size, dscp, tunnel, first, window=1s, into the "
        "summary.",
        help="Break down by flow, size, dscp, tunnel, first or window=1s. Repeatable.",
        metavar="WHAT",
    )
    intervals: bool = option(
        default=True,
        name="--no-intervals",
        kind=NO_FLAG,
        meaning="Resample blocks of time for the 95 % intervals of every figure.",
        help="Leave out 95 % intervals; a little faster.",
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How the work is done."""

    strict: bool = option(
        default=False,
        name="--strict",
        kind=FLAG,
        meaning="Damage in a capture is an error.",
        help="Treat damage in a capture as an error.",
    )
    engine: str = option(
        "local",
        meaning="Where the work runs: `local`, or `spark` with a master behind a colon, if any.",
        help="Engine that runs the work.",
    )
    progress: Progress | None = option(
        None, meaning="Its `update` is called with the progress of reading."
    )


@dataclass(frozen=True, kw_only=True)
class SliceOptions:
    """Where the second reading runs, which matches all frames."""

    executor: Executor | None = option(
        None,
        meaning="A `concurrent.futures.Executor` whose workers match, each a slice of the flows.",
    )
    slices: int | None = option(
        None,
        meaning="In how many slices of the flows workers match; by default one for each worker, "
        f"at most {MOST_SLICES:,}. "
        "The answer does not depend on it.",
        help="Number of Spark tasks. Default: one per core.",
    )
    resume: str | PathLike[str] | None = option(
        None,
        meaning="A folder that keeps the tasks that are done. After an interruption the same merge "
        "goes on there; the folder is removed when the result is closed without an error.",
        help="Keep finished tasks; after an interruption go on from them.",
    )


@dataclass(frozen=True, kw_only=True)
class LintOptions(
    RunOptions, ProfileOptions, DecodingOptions, FilterOptions, PointOptions, CaptureOptions
):
    """What `lint` takes. Groups stand from the last to the first, as dataclasses collect them."""

    engine: str = option("local", meaning="Where the reading runs.")


@dataclass(frozen=True, kw_only=True)
class MergeOptions(
    SliceOptions,
    RunOptions,
    ReportOptions,
    ProfileOptions,
    DecodingOptions,
    MatchingOptions,
    FilterOptions,
    ReferenceOptions,
    PointOptions,
    CaptureOptions,
):
    """What `merge` takes, all groups of it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_slices("--slices", self.slices)


Arguments = ParamSpec("Arguments")
Taken = TypeVar("Taken")
Returned = TypeVar("Returned")


def taking(
    options: Callable[Arguments, Taken],
) -> Callable[[Callable[[Taken], Returned]], Callable[Arguments, Returned]]:
    """Let a function of options be called with each of them as an argument of its own.

    Args:
        options: The class of options, whose arguments, defaults and meanings the function gets.

    Example:
        >>> @taking(LintOptions)
        ... def n_captures(options: LintOptions) -> int:
        ...     return len(options.captures)
        >>> n_captures(["a.pcap", "b.pcap"], same_clock=["all"])
        2
    """

    def with_arguments(verb: Callable[[Taken], Returned]) -> Callable[Arguments, Returned]:
        @wraps(verb)
        def call(*given: Arguments.args, **named: Arguments.kwargs) -> Returned:
            try:
                asked = options(*given, **named)
            except TypeError as problem:
                # what is misspelt is told of the function that was called
                own = cast("Any", options).__qualname__
                raise TypeError(str(problem).replace(own, verb.__qualname__)) from None
            return verb(asked)

        returned = verb.__annotations__["return"]
        own_signature = signature_of(cast("Any", options)).replace(return_annotation=returned)
        vars(call)["__signature__"] = own_signature
        named_parameters = own_signature.parameters.items()
        call.__annotations__ = {name: each.annotation for name, each in named_parameters}
        call.__annotations__["return"] = returned
        call.__doc__ = (getdoc(verb) or "").replace(REST, _listed(options))
        return call

    return with_arguments


def _listed(options: Any) -> str:  # noqa: ANN401 - a class of options
    """List options as the docstring of a function lists its arguments."""
    return "\n".join(
        fill(
            f"{name}: {each.meaning}",
            COLUMNS,
            initial_indent="    ",
            subsequent_indent="        ",
            break_on_hyphens=False,
        )
        for name, each in options_of(options).items()
    )
