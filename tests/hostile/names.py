"""Names that try to do something, what bears them, and what is asked of each kind of output."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import struct
import subprocess
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from unicodedata import category
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
from markdown_it import MarkdownIt

from tests.recovery.simulator import Link, Point, Scenario, Traffic, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVIL = "\x1b]0;t\x07\x1b[2J<script>|\u202egnp\u2066\x9b31m\t\r\n\x85\u2028`x`![l](javascript:1)&lt;"
NAMES = ("=HYPERLINK(1)" + EVIL, "@SUM(1)" + EVIL, "+1" + EVIL, "-1" + EVIL)
NOT_UTF8 = os.fsdecode(b"=\xff\xfe\x1b[31m,\"'")
SEEN_FIRST, SEEN_OF_EVIL = "HYPERLINK(1)", "gnp"
FORMULA = re.compile(r"[=+\-@\t\r\uff1d\uff0b\uff0d\uff20].", re.DOTALL)
STEERING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
TEXT_TAGS = {
    *("h2", "h3", "li", "p", "strong", "ul", "table", "tbody", "td", "th", "thead", "tr", "em"),
}


def captures(folder: Path, n_packets: int = 300, seed: int = 7) -> list[Path]:
    """Three captures of one path with names of strangers, one of them not UTF-8."""
    folder.mkdir(parents=True, exist_ok=True)
    points = tuple(Point(name) for name in "abc")
    outcome = run(Scenario(points, (Link(), Link()), Traffic(n_packets=n_packets), seed=seed))
    names = (NAMES[0].replace("/", ""), NOT_UTF8, NAMES[2])
    plain = outcome.save(folder)
    return [path.rename(folder / f"{name}.pcap") for path, name in zip(plain, names, strict=True)]


def with_interfaces(target: Path, pieces: list[Path]) -> Path:
    """One pcapng of several pcap files: an interface for each, with names of strangers."""
    records: list[tuple[int, int, bytes]] = []
    body = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + _option(1, EVIL))
    for number, path in enumerate(pieces):
        data = path.read_bytes()
        options = _option(2, NAMES[number]) + _option(3, EVIL) + struct.pack("<HHI", 9, 1, 9)
        body += _block(1, struct.pack("<HHI", 1, 0, 0) + options)
        records += [(t_ns, number, frame) for t_ns, frame in _records(data)]
    for t_ns, number, frame in sorted(records):
        head = struct.pack("<IIIII", number, t_ns >> 32, t_ns % 2**32, len(frame), len(frame))
        body += _block(6, head + frame + bytes(-len(frame) % 4) + _option(1, EVIL))
    target.write_bytes(body)
    return target


def _records(data: bytes) -> list[tuple[int, bytes]]:
    found, at = [], 24
    unit_ns = 1 if data[:4] == bytes.fromhex("4d3cb2a1") else 1000
    while at < len(data):
        s, fraction, n_bytes, _ = struct.unpack_from("<IIII", data, at)
        found.append((s * 10**9 + fraction * unit_ns, data[at + 16 : at + 16 + n_bytes]))
        at += 16 + n_bytes
    return found


def _option(code: int, text: str) -> bytes:
    value = text.encode()
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def claims(path: Path, near: str, far: str) -> Path:
    """A file of claims and a table, all of whose texts are a stranger's."""
    evil = json.dumps(NAMES[0])
    path.write_text(
        f'[document]\ntitle = {evil}\npublisher = {evil}\n[[claims]]\nid = "c"\nsentence = {evil}\n'
        f'source = {{ section = {evil} }}\nmetric = "rtt"\nunit = "us"\nat_most = 100000\n'
        f'scope = {{ kind = "segment", near = {json.dumps(near)}, far = {json.dumps(far)} }}\n'
        f'[[tables]]\nid = "t"\nsource = {{ section = {evil} }}\nconclusion = {evil}\n'
        f'notes = [{evil}]\ncolumns = [{{ name = "x", unit = "us", printed = {evil} }}, '
        f'{{ name = "y", unit = "us", printed = {evil}, conventions = [{{ name = {evil}, '
        f'formula = "x * 2" }}, {{ name = {json.dumps(NAMES[1])}, formula = "x + 1" }}] }}]\n'
        f"rows = [{{ name = {evil}, x = 1, y = 2 }}]\n"
    )
    return path


def check_text(data: bytes) -> str:
    """Give a text that no terminal is steered by."""
    text = data.decode()
    assert not [c for c in text if category(c) in STEERING and c not in "\n\t"], ascii(text)
    return text


def check_json(data: bytes) -> None:
    """JSON, of one document or one a line, in ASCII."""
    text = check_text(data)
    assert text.isascii()
    rows = [json.loads(line) for line in text.splitlines()] if "\n{" in text else json.loads(text)
    assert SEEN_OF_EVIL in text
    assert rows


def check_csv(data: bytes) -> None:
    """CSV in which no cell is a formula."""
    text = check_text(data)
    rows = list(csv.reader(io.StringIO(text), strict=True))
    assert len({len(row) for row in rows}) == 1
    assert SEEN_OF_EVIL in text
    for cell in (cell for row in rows for cell in row):
        assert not FORMULA.match(cell) or _is_number(cell), cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, str([name for name, _ in attrs if name != "style"])))


def check_markdown(data: bytes) -> None:
    """Markdown that renders, HTML allowed, without a tag or link of a stranger's."""
    text = check_text(data)
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    tags = _Tags()
    tags.feed(page)
    assert {tag for tag, _ in tags.found} <= TEXT_TAGS, page
    assert {attributes for _, attributes in tags.found} <= {"[]"}
    assert SEEN_OF_EVIL in page


def check_xml(data: bytes) -> None:
    """XML without an element of a stranger's."""
    root = ET.fromstring(check_text(data))  # noqa: S314 - our own
    known = {"testsuites", "testsuite", "testcase", "failure", "skipped", "system-out"}
    assert {element.tag for element in root.iter()} <= known
    assert SEEN_OF_EVIL in "".join(root.itertext())


def check_html(path: Path) -> None:
    """A page without an element, or an attribute, of a stranger's."""
    text = check_text(path.read_bytes())
    tags = _Tags()
    tags.feed(text)
    names = [tag for tag, _ in tags.found]
    # its data, and its own two scripts, which its policy knows by their digests
    assert names.count("script") == 3
    assert not {"a", "img", "iframe", "object", "link", "base", "form"} & {
        tag for tag, attributes in tags.found if "href" not in attributes or tag != "a"
    }
    assert not [attributes for _, attributes in tags.found if "'on" in attributes]
    # long names lose their middle
    assert SEEN_FIRST in text


def check_table(data: bytes) -> None:
    """What a person reads."""
    # narrow columns fold names
    assert SEEN_OF_EVIL in "".join(check_text(data).split())


def check_parquet(path: Path) -> None:
    """Parquet: every text in it, metadata too."""
    table = pq.read_table(path)
    for column in table.columns:
        for text in column.to_pylist():
            if isinstance(text, str):
                check_text(text.encode())


def check_pcapng(path: Path) -> None:
    """A capture that tshark reads without a complaint, and whose interfaces are harmless."""
    if shutil.which("tshark") is None:
        return
    done = subprocess.run(
        ["tshark", "-n", "-r", path, "-T", "fields", "-e", "frame.interface_name"],
        capture_output=True,
        check=True,
    )
    names = set(check_text(done.stdout).splitlines())
    assert any(SEEN_OF_EVIL in name for name in names)
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", b"\n".join(done.stdout.splitlines()))


def check_binary(text: bytes) -> None:
    """Fields of a binary message have lengths: nothing in them is taken for anything else."""
    assert text


def check_openmetrics(text: bytes) -> None:
    """A name is a label's value: quoted, on one line."""
    lines = text.decode().splitlines()
    assert lines[-1] == "# EOF"
    assert all(re.fullmatch(r"#.*|\w+(\{.*\})? \S+", line) for line in lines)
    assert not set(text) & {0x1B, 0x07}


SHOWN: dict[str, Callable[[bytes], None]] = {
    "table": check_table,
    "json": check_json,
    "csv": check_csv,
    "markdown": check_markdown,
    "junit": check_xml,
    "perfetto": check_binary,
    "otlp": check_json,
    "openmetrics": check_openmetrics,
}
"""By format: what is asked of a text of it. A new format needs a line here, or its test fails."""
WITHOUT_NAMES = {"interfaces": {"provenance.json"}}
"""Files that name no point, by what bears the names."""
SAVED: dict[str, Callable[[Path], None]] = {
    ".parquet": check_parquet,
    ".pcapng": check_pcapng,
    ".html": check_html,
    ".json": lambda path: check_json(path.read_bytes()),
    ".xml": lambda path: check_xml(path.read_bytes()),
    ".csv": lambda path: check_csv(path.read_bytes()),
}
"""By suffix: what is asked of a file that is written."""
