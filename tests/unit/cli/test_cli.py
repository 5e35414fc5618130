"""The command line: what it passes on, where it prints, how it leaves."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pcaplat.cli import COMMANDS, one_line, run
from pcaplat.cli.progress import ProgressLine
from tests.conftest import ROOT, until_it_waits
from tests.support.results import ResultByHand, document

PCAPLAT = [sys.executable, "-m", "pcaplat"]
SAMPLE = [str(path) for path in sorted((ROOT / "samples" / "vxlan").glob("*.pcap"))]


def pcaplat(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401 - as subprocess
    command = [*PCAPLAT, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, **options
    )


class Merged:
    """A stand-in for pcaplat.run.merge that remembers how it was called."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.captures: list[str] = []
        self.options: dict[str, Any] = {}
        self.failure: BaseException | None = None
        module = ModuleType("pcaplat.run.merge")
        # that is what a stand-in is
        module.merge = module.merge_to_write = self.merge  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "pcaplat.run.merge", module)

    def merge(self, captures: list[str], **options: Any) -> ResultByHand:  # noqa: ANN401 - any
        self.captures, self.options = captures, options
        if self.failure:
            raise self.failure
        return ResultByHand()


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> Merged:
    return Merged(monkeypatch)


# ---- options


def test_without_options_everything_is_found(merged: Merged) -> None:
    assert run(["merge", "a.pcap", "vnic=b.pcap", "-"]) == 0
    assert merged.captures == ["a.pcap", "vnic=b.pcap", "-"]
    # what is not asked for is left to `merge`
    assert merged.options == {
        "keep_rows": False,
        "keep_crossings": False,
        "engine": "local",
        "slices": None,
        "resume": None,
        "progress": None,
    }


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("--path a,b, c", "path", ["a", "b", "c"]),
        ("--same-clock a,b --same-clock c,d", "same_clock", [["a", "b"], ["c", "d"]]),
        ("--same-clock all", "same_clock", ["all"]),
        ("--same-clock all --same-clock a,b", "same_clock", [["all"], ["a", "b"]]),
        ("--profile ./mine.toml", "profile", "./mine.toml"),
        ("--clock-accuracy a=1.5us", "clock_accuracy", [("a", 1500)]),
        ("--reference b", "reference", "b"),
        ("--filter tcp", "bpf", "tcp"),
        ("--filter-outer udp", "bpf_outer", "udp"),
        ("--from +1.5s", "start", "+1.5s"),
        ("--to 1763640000.25", "end", "1763640000.25"),
        ("--sample 1/100", "sample", 100),
        ("--no-intervals", "intervals", False),
        ("--slowest 3", "slowest", 3),
        ("--by size --by window=1s", "by", ["size", "window=1s"]),
        ("--window 2ms", "window_ns", 2_000_000),
        ("--vxlan-port 8472 --vxlan-port 4790", "vxlan_ports", (8472, 4790)),
        (
            "--decode udp.port=9:geneve --decode ip.proto=97:eoip",
            "decode",
            ("udp.port=9:geneve", "ip.proto=97:eoip"),
        ),
        ("--strict", "strict", True),
    ],
)
def test_options_are_passed_on(merged: Merged, text: str, name: str, value: object) -> None:
    arguments = text.replace(", ", ",\0").split(" ")
    assert run(["merge", "x.pcap", *(word.replace("\0", " ") for word in arguments)]) == 0
    assert merged.options[name] == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("merge", "missing argument 'CAPTURE...'"),
        ("merge x --nope", "no such option: --nope"),
        ("merge x --format xml", "xml"),
        ("merge x --window soon", "'soon' is no duration; write it like 250ns"),
        ("merge x --from noon", "'noon' is no instant"),
        ("merge x --sample 0.1", "'0.1' is no share"),
        ("merge x --same-clock a", "one point alone"),
        ("merge x --same-clock a,a", "one point alone"),
        ("merge x --window 0s", "--window: must be longer than 0"),
        ("merge x --lost-after 0ms", "--lost-after: must be longer than 0"),
        ("merge x --path a,,b", "an empty name"),
        ("merge x --clock-accuracy 100ns", "--clock-accuracy uplink=100ns"),
        ("merge x --vxlan-port 70000", "expected a whole number from 1 to 65535"),
        ("merge x --pcapng", "--pcapng needs --output DIR"),
        ("read x -o rows.txt", "must end in .csv, .json or .parquet"),
        ("points nowhere", "there are: arista-7150, "),
        ("mrege x", "mrege"),
    ],
)
def test_a_wrong_call_is_one_line_and_2(
    merged: Merged, arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments.split(" ")) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("pcaplat: ")
    assert said.err.count("\n") == 1
    assert message in said.err
    assert not merged.captures


class Panic(BaseException):  # as those of native libraries are
    pass


@pytest.mark.parametrize(
    ("failure", "status", "message"),
    [
        (ValueError("x"), 2, "a bug in pcaplat, ValueError: x"),
        (
            FileNotFoundError(2, "No such file or directory", "a\x1b.pcap"),
            2,
            "a\\x1b.pcap: no such",
        ),
        (PermissionError(13, "Permission denied", "a"), 2, "a: permission denied; check its perm"),
        (
            IsADirectoryError(21, "Is a directory", "a"),
            2,
            "a: is a directory; give the files in it",
        ),
        (MemoryError(), 2, "out of memory"),
        (Panic("index out of bounds"), 2, "a bug in pcaplat, Panic: index out of bounds; please"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_are_one_line(
    merged: Merged,
    failure: BaseException,
    status: int,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    merged.failure = failure
    assert run(["merge", "x"]) == status
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == (1 if message else 0)
    assert said.out == ""


def test_a_folder_with_something_in_it_is_refused_before_any_work(
    merged: Merged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").touch()
    assert run(["merge", "x", "-o", str(tmp_path)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert not merged.captures


# ---- where results go


def test_results_go_to_stdout_and_files(
    merged: Merged, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["merge", "x", "--format", "json", "-o", str(out), "--pcapng"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == document() == json.loads((out / "summary.json").read_text())
    assert said.err == ""
    assert merged.options["keep_rows"]
    assert (out / "merged.pcapng").exists()


@pytest.mark.usefixtures("merged")
def test_csv_leaves_warnings_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["merge", "x", "--format", "csv"]) == 0
    said = capsys.readouterr()
    assert len(list(csv.DictReader(io.StringIO(said.out)))) == len(document()["segments"])
    assert "clock-assumed-common" in said.err
    assert run(["merge", "x", "--format", "csv", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_message_is_one_harmless_line() -> None:
    assert one_line("a\x1b[2J\nb") == "a\\x1b[2J b"


# ---- the program itself


def test_version_and_help() -> None:
    shown = pcaplat("--version")
    assert shown.returncode == 0
    assert shown.stdout.split()[0] == "pcaplat"
    assert "--same-clock" in pcaplat("merge", "--help").stdout


def test_help_as_a_command_is_the_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    for asked in (["help"], ["--help"], ["help", "merge"], ["merge", "--help"]):
        assert run(asked) == 0
        assert ("Points that one clock" in capsys.readouterr().out) == ("merge" in asked)


@pytest.mark.parametrize("arguments", ["--version", "merge --help"])
def test_version_and_help_import_nothing_heavy(arguments: str) -> None:
    asked = arguments.split()
    code = f"import sys; from pcaplat.cli import run; run({asked}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"polars", "pyarrow", "numpy", "rich"} & set(done.stdout.split())


def test_the_first_reading_begins_without_numpy() -> None:
    code = "import sys, pcaplat.run.merge; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pcaplat._native" in done.stdout.split()
    assert not {"polars", "pyarrow", "numpy"} & set(done.stdout.split())


@pytest.mark.parametrize("command", ["merge", "read"])
def test_unusable_files_are_one_line_and_2(command: str, tmp_path: Path) -> None:
    (tmp_path / "empty.pcap").touch()
    (tmp_path / "text.pcap").write_text("This is a shopping list, and no capture at all.\n" * 9)
    for name in ("missing.pcap", "empty.pcap", "text.pcap", "."):
        done = pcaplat(command, tmp_path / name)
        assert done.returncode == 2, (name, done)
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1, done.stderr
        assert str(tmp_path) in done.stderr


def test_a_reader_that_has_had_enough_is_no_mistake(tmp_path: Path) -> None:
    said = tmp_path / "said"
    line = f"{' '.join(PCAPLAT)} points lab 2>{said} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
    assert said.read_text() == ""


def test_a_terminal_gets_no_traceback_on_interrupt() -> None:
    holder, terminal = pty.openpty()
    command = [*PCAPLAT, "read", "-"]
    with subprocess.Popen(
        command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as p:
        os.close(terminal)
        until_it_waits(p.pid)
        os.write(holder, b"\x03")
        p.send_signal(2)
        _, said = p.communicate(timeout=20)
    os.close(holder)
    assert p.returncode == 130
    assert b"Traceback" not in said


# ---- help, and what is misspelt


def test_alone_it_prints_a_page_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Examples:\n  pcaplat lint" in said.err
    assert len(said.err.splitlines()) <= 40


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_one_screen_in_groups_with_examples(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with suppress(SystemExit):
        run([command, "--help"])
    lines = capsys.readouterr().out.splitlines()
    assert f"  pcaplat {command}" in "\n".join(lines)
    assert lines.index("Examples:") < lines.index("Options:")
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 60
    assert not any("list[" in line or "<str>" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["megre"], "merge"),
        (["merge", "x", "--sameclock", "all"], "--same-clock"),
        (["merge", *SAMPLE, "--path", "host1-vn,sw-a"], "did you mean host1-vm?"),
        (["merge", *SAMPLE, "--by", "flows"], "did you mean flow?"),
        (["points", "esxi-nsxt"], "did you mean esxi-nsx-t?"),
    ],
)
def test_what_is_misspelt_gets_a_hint(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert hint in capsys.readouterr().err


def test_shells_complete_commands_options_and_values() -> None:
    def completed(words: str, at: int) -> list[str]:
        asked = {"COMP_WORDS": words, "COMP_CWORD": str(at), "_PCAPLAT_COMPLETE": "complete_bash"}
        done = subprocess.run(
            PCAPLAT, env=os.environ | asked, capture_output=True, text=True, check=True
        )
        return done.stdout.split()

    assert completed("pcaplat mer", 1) == ["merge"]
    assert "--same-clock" in completed("pcaplat merge --sa", 2)
    assert "markdown" in completed("pcaplat merge --format ", 3)


def test_progress_is_one_line_that_leaves_nothing() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream)
    for phase in ("matching", "intervals", "writing"):
        line.update(1, 2, phase)
    line.clear()
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
    assert [stream.getvalue().count(phase) for phase in ("matching", "intervals", "writing")] == [
        1
    ] * 3
