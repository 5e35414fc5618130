"""What `same_outputs.py` has both builds print and write: command lines, set by set.

Paths are those of the folder that a run works in, which has `samples` and `captures` in it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TEXTS = ("table", "json", "csv", "markdown")
LINT_TEXTS = ("table", "json", "csv")
COMMANDS = ("merge", "validate", "compare", "rfc2544", "audit", "lint", "read", "points")
BREAKDOWNS = ("flow", "size", "dscp", "tunnel", "first", "window=1s")
CAPTURE = re.compile(r"\.(pcap|pcapng|cap|erf|snoop|trc)(\.(gz|zst|xz|bz2|lz4))?$")
PCAPNG_BYTES = 50_000_000
"""Larger sets are not written as pcapng."""

STUDY = "samples/east-west/study.toml"
KITS = "samples/instruments/study.toml"
PROFILES, PUBLISHED = "samples/capture_points", "samples/claims"
CLAIMS = "samples/asked.toml"
CLAIMS_TEXT = """
[[claims]]
id = "wire"
sentence = "The wire takes at most 1 µs"
source.document = "d"
metric = "rtt"
unit = "us"
scope = { kind = "segment", near = "sw-a", far = "sw-b" }
at_most = 1

[[claims]]
id = "rate"
sentence = "Some hundred packets a second & <more> pass"
source.document = "d"
metric = "packet-rate"
scope = { kind = "path" }
interval = [100, 10000]
unit = "pps"
"""


@dataclass(frozen=True)
class Asked:
    """One command line, and the set it belongs to."""

    set_name: str
    arguments: tuple[str, ...]


def everything(inputs: Path) -> Iterator[Asked]:
    """Ask all, of the samples and captures of a folder."""
    yield from once(inputs)
    yield from options_of_merge(inputs)
    yield from judged(inputs)
    for name, files in capture_sets(inputs):
        n_bytes = sum((inputs / file).stat().st_size for file in files)
        yield from of_set(name, files, has_pcapng=n_bytes <= PCAPNG_BYTES)
    for file in files_in(inputs / "captures" / "public", "**/*", inputs):
        yield from of_file(file)


def asked(set_name: str, *arguments: str | Sequence[str]) -> Asked:
    """Put a command line together."""
    flat = [[part] if isinstance(part, str) else part for part in arguments]
    return Asked(set_name, tuple(word for part in flat for word in part))


def files_in(folder: Path, pattern: str, inputs: Path) -> list[str]:
    """Give the captures of a folder, as paths from the inputs' folder."""
    found = (path for path in folder.glob(pattern) if CAPTURE.search(path.name))
    return sorted(str(path.relative_to(inputs)) for path in found)


def capture_sets(inputs: Path) -> Iterator[tuple[str, list[str]]]:
    """Give every set of captures of one path: its name and its files."""
    runs = sorted((inputs / "samples" / "east-west").glob("*/run1"))
    folders = [*sorted((inputs / "samples").iterdir()), inputs / "samples/instruments/run", *runs]
    folders += sorted((inputs / "captures" / "lab").glob("*"))
    for folder in folders:
        files = files_in(folder, "*", inputs) if folder.is_dir() else []
        if files:
            yield str(folder.relative_to(inputs)).removeprefix("captures/"), files
    index = inputs / "captures" / "INDEX.md"
    for name, files in sorted(public_sets(index.read_text() if index.exists() else "").items()):
        yield f"public/{name}", files


def public_sets(index: str) -> dict[str, list[str]]:
    """Give the sets of files that saw the same traffic, by the index of the captures."""
    found: dict[str, list[str]] = defaultdict(list)
    names = set(re.findall(r"^### (\S+)  \[", index, re.MULTILINE))
    for path, name in re.findall(r"^\| (\S+) \| \S+ \| (\S+) \|", index, re.MULTILINE):
        if name in names:
            found[name].append(f"captures/public/{path}")
    return found


def of_set(name: str, files: list[str], *, has_pcapng: bool) -> Iterator[Asked]:
    """Ask what is asked of several captures of one path."""
    for format_ in TEXTS:
        yield asked(name, "merge", files, "--format", format_)
    by = [word for what in BREAKDOWNS for word in ("--by", what)]
    pcapng = ["--pcapng", "--unmatched"] if has_pcapng else []
    yield asked(name, "merge", files, "-o", "out", "--traffic", by, "--slowest", "5", pcapng)
    yield asked(name, "merge", files, "--same-clock", "all", "--format", "json", "--traffic")
    for format_ in LINT_TEXTS:
        yield asked(name, "lint", files, "--format", format_)
    yield asked(name, "read", files, "--details", "--format", "csv")
    yield asked(name, "read", files, "--format", "json")


def of_file(file: str) -> Iterator[Asked]:
    """Ask what is asked of a capture that stands alone."""
    name = f"file/{file.removeprefix('captures/public/')}"
    yield asked(name, "lint", file)
    yield asked(name, "lint", file, "--format", "json")
    yield asked(name, "read", file, "--details")


def once(inputs: Path) -> Iterator[Asked]:
    """Ask what needs no set of captures."""
    for command in COMMANDS:
        yield asked("once/help", command, "--help")
    yield from (asked("once/help", word) for word in ("--help", "--version", "nonsense"))
    yield asked("once/points", "points")
    for name in (*stems(inputs / PROFILES), "nothing", f"{PROFILES}/lab.toml"):
        yield asked("once/points", "points", name)
    for format_ in (*TEXTS, "xml"):
        yield asked("once/audit", "audit", "--format", format_)
    for name in (*stems(inputs / PUBLISHED), "ipfix-transaction-rate", CLAIMS, "nothing"):
        yield asked("once/audit", "audit", name)


def stems(folder: Path) -> list[str]:
    """Give the names of the TOML files of a folder."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def options_of_merge(inputs: Path) -> Iterator[Asked]:
    """Ask every option, and mistakes in them, of one sample."""
    files = files_in(inputs / "samples" / "vxlan", "*", inputs)
    for option in OPTIONS:
        yield asked("once/options", "merge", files, option.split(), "--format", "json")
    for option in OPTIONS:
        yield asked("once/options", "lint", files, option.split())
    for mistake in MISTAKES:
        yield asked("once/mistakes", mistake.split())
    yield asked("once/mistakes", "merge", files, "--strict", "samples/vxlan/README.md")
    yield asked("once/options", "read", files, "--filter", "tcp", "-o", "rows.parquet")
    yield asked("once/options", "read", files, "--filter-outer", "udp", "-o", "rows.csv")
    yield asked("once/options", "merge", "a=" + files[0], "b=" + files[1], "-o", "out")


def judged(inputs: Path) -> Iterator[Asked]:
    """Ask the commands that judge: validate, compare and rfc2544."""
    delayed = files_in(inputs / "samples" / "vxlan-delay200", "*", inputs)
    for format_ in (*TEXTS, "junit"):
        yield asked("once/validate", "validate", KITS, "--format", format_)
        yield asked("once/validate", "validate", CLAIMS, delayed, "--format", format_)
        few = ["l2=samples/east-west/l2", "dfw=samples/east-west/dfw"]
        yield asked("once/validate", "validate", "nsx-dfw-latency", few, "--format", format_)
    yield asked("once/validate", "validate", STUDY, "-o", "out", "--format", "junit")
    yield asked("once/validate", "validate", CLAIMS, delayed, "--sample", "1/4", "-o", "out")
    sides = [f"{STUDY}:l2", f"{STUDY}:vxlan"]
    for format_ in TEXTS:
        yield asked("once/compare", "compare", "samples/l2", "samples/vxlan", "--format", format_)
        yield asked("once/compare", "compare", sides, "-o", "out", "--format", format_)
    for option in COMPARED:
        yield asked("once/compare", "compare", "samples/l2", "samples/vxlan", option.split())
    trials = files_in(inputs / "samples" / "rfc2544", "*", inputs)
    for format_ in TEXTS:
        here = ["rfc2544", *trials, "--same-clock", "all", "--tolerance", "0.5%"]
        yield asked("once/rfc2544", here, "-o", "out", "--format", format_)
    yield asked("once/rfc2544", "rfc2544", STUDY + ":l2")
    yield asked("once/study", "merge", STUDY + ":dfw", "-o", "out", "--format", "csv")
    yield asked("once/study", "merge", KITS, "--format", "json")
    yield asked("once/study", "lint", STUDY + ":l2")
    yield asked("once/study", "read", KITS)


OPTIONS = """--same-clock host1-vm,host1-up --same-clock host2-vm,host2-up
--clock-accuracy sw-a=500ns --clock-accuracy sw-b=500ns
--stamped-at sw-a=last-bit --link-rate sw-a=10Gbit/s
--path host2-vm,host2-up,sw-b,sw-a,host1-up,host1-vm
--filter tcp
--filter-outer udp
--vxlan-port 8472
--decode udp.port=4789:vxlan
--profile lab
--profile linux-vxlan
--strict
--quiet
--reference sw-a
--from +0.1s --to +0.2s
--sample 1/4
--window 1ms
--window 5s --traffic
--slowest 3
--no-intervals
--by flow --by first
--no-progress --same-clock all --traffic
--format xml""".splitlines()

COMPARED = """--confidence 0.99
--confidence 95
--warm-up 0s
--same-clock all
--path host1-vm,sw-a,host2-vm
--sample 1/4
--from +10ms --to +200ms
--reference sw-a
--filter nonsense[""".splitlines()

MISTAKES = """merge
merge samples/vxlan/sw-a.pcap
merge samples/vxlan/sw-a.pcap samples/l2/sw-b.pcap.gz
merge samples/vxlan/README.md samples/vxlan/sw-a.pcap
merge samples/vxlan
merge nowhere.pcap samples/vxlan/sw-a.pcap
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --path sw-a,sw-c
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --same-clock sw-c
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --clock-accuracy sw-a=5parsec
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --stamped-at sw-a=never
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --link-rate sw-a=fast
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --reference sw-z
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --sample 4
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --window wide
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --decode nonsense
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --decode udp.port=1:nonsense
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --filter tcp[
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --profile nothing
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --by color
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --from yesterday
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --from +100s
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --pcapng
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap --engine cluster
merge samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap -o samples/vxlan/README.md
merge samples/east-west/study.toml:nothing
lint samples/vxlan/README.md
lint --format xml samples/vxlan/sw-a.pcap
read nowhere.pcap
read samples/vxlan/README.md
read samples/vxlan/sw-a.pcap -o rows.xml
points a b
audit samples/vxlan/README.md
validate nsx-dfw-latency
validate nsx
validate nsx samples/l2
validate nsx-dfw-latency samples/l2 --claim nsx-dfw
validate nsx-dfw-latency samples/l2 samples/l2
validate nsx-dfw-latency samples/l2 samples/l2/sw-a.pcap.gz
compare samples/l2
compare samples/l2 nowhere
compare samples/l2 samples/vxlan/sw-a.pcap
compare samples/l2 samples/rfc2544
rfc2544 samples/l2
rfc2544 samples/vxlan/sw-a.pcap samples/vxlan/sw-b.pcap
rfc2544 samples/rfc2544/a.pcap.zst samples/rfc2544/b.pcap.zst --tolerance much
rfc2544 samples/rfc2544/a.pcap.zst samples/rfc2544/b.pcap.zst --sample 1/4""".splitlines()
