"""`pcaplat merge`: captures of one path → matched packets, per-segment latency."""

import sys
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option

from pcaplat.cli import need_standard_output, note, progress_bar, refuse_replacing, standard_output
from pcaplat.errors import InputError, OptionError
from pcaplat.model.stamping import parse_clock_accuracy, parse_link_rate, parse_stamped_at
from pcaplat.outputs import RESULTS, check_directory, output, replaced, write
from pcaplat.units import parse_duration_ns, parse_instant, parse_share

if TYPE_CHECKING:
    from pcaplat.run.merge import Result

Captures = Annotated[
    list[str],
    Argument(
        metavar="CAPTURE...",
        show_default=False,
        help="PATH, POINT=PATH, - for stdin; or a study file, STUDY.toml or STUDY.toml:SCENARIO.",
    ),
]
Inner = Annotated[
    str | None, Option("--filter", metavar="BPF", help="Only these packets: on the innermost one.")
]
Outer = Annotated[
    str | None, Option("--filter-outer", metavar="BPF", help="Likewise, on the frame as captured.")
]
Ports = Annotated[
    list[int] | None,
    Option("--vxlan-port", min=1, max=65535, help="A further UDP port of VXLAN. Repeatable."),
]
Decode = Annotated[
    list[str] | None,
    Option(metavar="KIND=N:LAYER", help="What is what, as udp.port=8472:vxlan. Repeatable."),
]
Strict = Annotated[bool, Option("--strict", help="Damage in a capture is an error.")]
OutputDir = Annotated[
    Path | None, Option("--output", "-o", metavar="DIR", help="Write the result's files there.")
]
Overwrite = Annotated[bool, Option("--overwrite", help="Replace an earlier result in DIR.")]
Engine = Annotated[Literal["local"], Option(help="Where it runs.")]
Quiet = Annotated[bool, Option("--quiet", help="Nothing on stderr but errors.")]
NoProgress = Annotated[bool, Option("--no-progress", help="No progress bar.")]


def _asked(
    *,
    path: Annotated[
        str | None,
        Option(metavar="A,B,C", help="The points in forward order. Default: found."),
    ] = None,
    same_clock: Annotated[
        list[str] | None,
        Option(metavar="A,B", help="Points that share one clock, or: all. Repeatable."),
    ] = None,
    clock_accuracy: Annotated[
        list[str] | None,
        Option(metavar="POINT=100ns", help="How far a clock may be off. Repeatable."),
    ] = None,
    stamped_at: Annotated[
        list[str] | None,
        Option(metavar="POINT=first-bit", help="Or last-bit, or host: when it stamps. Repeatable."),
    ] = None,
    link_rate: Annotated[
        list[str] | None,
        Option(metavar="POINT=10Gbit/s", help="Takes last bits back to first ones. Repeatable."),
    ] = None,
    reference: Annotated[
        str | None, Option(metavar="POINT", help="Whose clock times are given in.")
    ] = None,
    bpf: Inner = None,
    bpf_outer: Outer = None,
    start: Annotated[
        str | None, Option("--from", metavar="T", help="From here on, e.g. +1.5s or a date (UTC).")
    ] = None,
    end: Annotated[str | None, Option("--to", metavar="T", help="Up to here.")] = None,
    sample: Annotated[
        str | None, Option(metavar="1/N", help="The same N-th of the packets at every point.")
    ] = None,
    window: Annotated[
        str | None,
        Option(metavar="DURATION", help="How far a packet may be from its usual time."),
    ] = None,
    vxlan_port: Ports = None,
    decode: Decode = None,
    profile: Annotated[
        str | None, Option(metavar="NAME", help="A capture-point profile, or a file: see points.")
    ] = None,
    strict: Strict = False,
) -> dict[str, Any]:
    """Give what is asked of `merge` as its arguments; what is not, not at all."""
    given = {
        "path": names(path, "--path") if path is not None else None,
        "same_clock": clock_groups(same_clock or ()),
        "clock_accuracy": [*map(parse_clock_accuracy, clock_accuracy or ())],
        "stamped_at": [*map(parse_stamped_at, stamped_at or ())],
        "link_rate": [*map(parse_link_rate, link_rate or ())],
        "reference": reference,
        "bpf": bpf,
        "bpf_outer": bpf_outer,
        "start": _checked(parse_instant, start),
        "end": _checked(parse_instant, end),
        "sample": None if sample is None else parse_share(sample),
        "window_ns": None if window is None else window_of(window),
        "vxlan_ports": tuple(vxlan_port or ()),
        "decode": tuple(decode or ()),
        "profile": profile,
        "strict": strict,
    }
    return {name: value for name, value in given.items() if value or value == ""}


def merging(
    command: Callable[..., None], *, but: Collection[str] = frozenset()
) -> Callable[..., None]:
    """Give a subcommand the options of `merge` in place of its parameter `options`.

    It gets them as arguments of `pcaplat.merge`; those of `but` it has not.

    Example:
        >>> @merging
        ... def show(*, options):
        ...     print(options)
        >>> show(path="vnic, uplink", sample="1/8")
        {'path': ['vnic', 'uplink'], 'sample': 8}
    """
    of_merge = signature(_asked, eval_str=True).parameters
    shared = {name: each for name, each in of_merge.items() if name not in but}
    own = signature(command, eval_str=True)

    @wraps(command)
    def with_options(*given: Any, **named: Any) -> None:  # noqa: ANN401 - whatever it takes
        asked = {name: named.pop(name) for name in shared if name in named}
        command(*given, **named, options=_asked(**asked))

    parameters = [
        each
        for parameter in own.parameters.values()
        for each in (shared.values() if parameter.name == "options" else [parameter])
    ]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(with_options)["__signature__"] = own.replace(parameters=parameters)
    return with_options


@merging
def command(
    captures: Captures,
    output_dir: OutputDir = None,
    overwrite: Overwrite = False,
    format_: Annotated[
        Literal["table", "json", "csv", "markdown"], Option("--format", help="What stdout gets.")
    ] = "table",
    *,
    options: dict[str, Any],
    slowest: Annotated[
        int, Option(metavar="N", min=0, help="List the N slowest packets of each segment.")
    ] = 0,
    traffic: Annotated[
        bool, Option("--traffic", help="Rates, transactions and encapsulation overhead too.")
    ] = False,
    by: Annotated[
        list[str] | None,
        Option(metavar="WHAT", help="By flow, size, dscp, tunnel, first, window=1s. Repeatable."),
    ] = None,
    no_intervals: Annotated[
        bool, Option("--no-intervals", help="Leave out the 95 % intervals: a little faster.")
    ] = False,
    pcapng: Annotated[bool, Option("--pcapng", help="With -o: merged.pcapng too.")] = False,
    unmatched: Annotated[
        bool, Option("--unmatched", help="With -o: the frames matched nowhere too, as captured.")
    ] = False,
    engine: Engine = "local",
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> None:
    """Match the packets of several captures of one path, and time every segment."""
    if output_dir:
        check_directory(output_dir, overwrite=overwrite, files=RESULTS)
        refuse_replacing(replaced(output_dir, RESULTS), captures)
    elif pcapng or unmatched:
        option = "pcapng" if pcapng else "unmatched"
        raise OptionError(f"--{option} needs --output DIR, the folder to write into")
    else:
        need_standard_output()
    options |= {
        "slowest": slowest,
        "traffic": traffic,
        "by": by or [],
        "intervals": not no_intervals,
        "keep_rows": output_dir is not None,
        "keep_crossings": False,
        "engine": engine,
    }
    kept = {"overwrite": overwrite, "pcapng": pcapng, "unmatched": unmatched}
    jobs = _jobs(captures, options, output_dir)
    with progress_bar(is_wanted=not (quiet or no_progress)) as bar:
        for name, files, chosen in jobs:
            result = _merge(files, chosen | {"progress": bar})
            if output_dir:
                write(result, output_dir / name, **kept)
            if name:
                result.close()
                note(f"{output_dir}/{name}: written", is_quiet=quiet)
    if name or (output_dir and sys.stdout is None):
        return
    with standard_output() as stream:
        output(format_).show(result, stream)
    for warning in result.document["warnings"] if format_ == "csv" else ():
        note(f"{warning['code']}: {warning['text']}", is_quiet=quiet)


def _jobs(
    captures: Sequence[str], options: dict[str, Any], output_dir: Path | None
) -> list[tuple[str, Sequence[str], dict[str, Any]]]:
    """Give what to merge: the captures, or each run of a study file, and its folder's name."""
    if not is_study(captures):
        return [("", captures, options)]
    from pcaplat.study.scenarios import runs_at

    where = captures[0]
    found = runs_at(where, options)
    several = len(found) > 1
    if several and output_dir is None:
        raise OptionError(f"{where}: has {len(found)} runs; write them with --output DIR")
    return [
        (f"{name}/{run.name}" if several else "", run.captures, own) for name, run, own in found
    ]


def is_study(captures: Sequence[str]) -> bool:
    """Tell whether what was given is STUDY.toml or STUDY.toml:SCENARIO.

    Example:
        >>> is_study(["study.toml:baseline"]), is_study(["a.pcap", "b.pcap"])
        (True, False)
    """
    return len(captures) == 1 and (captures[0].endswith(".toml") or ".toml:" in captures[0])


def _merge(captures: Sequence[str], options: dict[str, Any]) -> "Result":
    from pcaplat.run.merge import merge

    return merge(captures, **options)


def names(text: str, option: str) -> list[str]:
    """Read "A,B,C".

    Example:
        >>> names("vnic, uplink", "--path")
        ['vnic', 'uplink']
    """
    found = [name.strip() for name in text.split(",")]
    if not all(found):
        raise OptionError(f"{option} {text}: an empty name; write it like {option} vnic,uplink")
    return found


def clock_groups(texts: Sequence[str]) -> list[list[str]] | list[str]:
    """Read every "A,B", or "all", which stands for all groups.

    Example:
        >>> clock_groups(["a,b", "c,d"]), clock_groups(["all"])
        ([['a', 'b'], ['c', 'd']], ['all'])
    """
    groups = [names(text, "--same-clock") for text in texts]
    if ["all"] in groups:
        return ["all"]
    for group in groups:
        if len(set(group)) == 1:
            raise InputError.clock_of_nobody(",".join(group))
    return groups


def window_of(text: str) -> int:
    """Read a duration that is not 0."""
    window_ns = parse_duration_ns(text)
    if not window_ns:
        raise InputError.no_window()
    return window_ns


def _checked(parse: Callable[[str], object], text: str | None) -> str | None:
    """Refuse what cannot be read before any work is done."""
    if text is not None:
        parse(text)
    return text
