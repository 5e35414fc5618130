"""Names and texts that try to do something: harmless in every output of every command."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING

import pytest

from pcaplat.cli import run
from pcaplat.outputs import formats
from pcaplat.text import plain_name
from tests.hostile import names as hostile

if TYPE_CHECKING:
    from pathlib import Path

OK = (0, 1, 3)


def pcaplat(*arguments: str | Path) -> bytes:
    """What a command prints; what it says on standard error is harmless, and no bug."""
    printed, said = BytesIO(), BytesIO()
    out, err = (TextIOWrapper(one, encoding="utf-8", newline="") for one in (printed, said))
    with redirect_stdout(out), redirect_stderr(err):
        status = run([str(one) for one in arguments])
    out.flush()
    err.flush()
    assert status in OK, said.getvalue()
    hostile.check_text(said.getvalue())
    return printed.getvalue()


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return hostile.captures(tmp_path_factory.mktemp("names") / hostile.NAMES[3])


@pytest.fixture(scope="module")
def divided(captures: list[Path]) -> Path:
    return hostile.with_interfaces(captures[0].parent.parent / "two.pcapng", captures[:2])


@pytest.mark.parametrize("name", formats("merge"))
def test_merge_shows_them(captures: list[Path], name: str) -> None:
    given: list[str | Path] = [*captures[:2], f"{hostile.NAMES[1]}={captures[2]}"]
    said = pcaplat("merge", *given, "--format", name, "--traffic", "--slowest", "2")
    hostile.SHOWN[name](said)


@pytest.mark.parametrize("kind", ["files", "interfaces"])
def test_merge_writes_them(captures: list[Path], divided: Path, tmp_path: Path, kind: str) -> None:
    given = captures if kind == "files" else [divided]
    pcaplat("merge", *given, "-o", tmp_path / "out", "--pcapng", "--quiet")
    written = sorted((tmp_path / "out").iterdir())
    assert {".parquet", ".pcapng", ".json", ".html"} <= {path.suffix for path in written}
    for path in written:
        if path.name not in hostile.WITHOUT_NAMES.get(kind, ()):
            hostile.SAVED[path.suffix](path)
    document = json.loads((tmp_path / "out" / "summary.json").read_text())
    for text in _texts(document):
        hostile.check_text(text.encode())


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in (*value, *value.values()) for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [value] if isinstance(value, str) else []


def test_points_are_found_by_the_names_that_they_have(captures: list[Path]) -> None:
    names = [hostile.NAMES[1], hostile.NOT_UTF8.replace("=", "").replace(",", ""), "c"]
    given = [f"{name}={path}" for name, path in zip(names, captures, strict=True)]
    said = pcaplat("merge", *given, "--path", ",".join(names), "--format", "json")
    assert json.loads(said)["path"] == [plain_name(name) for name in names]


@pytest.mark.parametrize("suffix", [".csv", ".json", ".parquet"])
def test_read_gives_them(captures: list[Path], tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"rows{suffix}"
    pcaplat("read", "--details", *captures, "-o", target)
    if suffix != ".parquet":
        said = pcaplat("read", "--details", *captures, "--format", suffix[1:])
        assert said == target.read_bytes()
        hostile.SHOWN[suffix[1:]](said)
    else:
        hostile.check_parquet(target)


@pytest.mark.parametrize("name", formats("read"))
def test_follow_gives_them(captures: list[Path], name: str) -> None:
    with captures[0].open("rb") as stream:
        command = [sys.executable, "-m", "pcaplat", "read", "--follow", "--format", name]
        command += [f"{hostile.NAMES[1]}=-"]
        done = subprocess.run(command, stdin=stream, capture_output=True, check=True, timeout=60)
    hostile.SHOWN[name](done.stdout)


@pytest.mark.parametrize("name", formats("audit"))
def test_audit_shows_them(tmp_path: Path, name: str) -> None:
    path = hostile.claims(tmp_path / f"{hostile.NAMES[0]}.toml", "a", "b")
    hostile.SHOWN[name](pcaplat("audit", path, "--format", name))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    folders = [folder / hostile.NAMES[0], folder / hostile.NOT_UTF8]
    for seed, one in enumerate(folders):
        hostile.captures(one, seed=seed)
    return folders


@pytest.mark.parametrize("name", formats("compare"))
def test_compare_shows_them(runs: list[Path], tmp_path: Path, name: str) -> None:
    said = pcaplat("compare", *runs, "--format", name, "-o", tmp_path / "out")
    hostile.SHOWN[name](said)
    for path in (tmp_path / "out").iterdir():
        hostile.SAVED[path.suffix](path)


@pytest.mark.parametrize("name", formats("lint"))
def test_lint_shows_them(captures: list[Path], name: str) -> None:
    hostile.SHOWN[name](pcaplat("lint", *captures, "--format", name))


@pytest.mark.parametrize("name", formats("rfc2544"))
def test_rfc2544_shows_them(runs: list[Path], tmp_path: Path, name: str) -> None:
    files = sorted(runs[0].iterdir())
    said = pcaplat("rfc2544", *files, "--format", name, "-o", tmp_path / "out")
    hostile.SHOWN[name](said)
    for path in (tmp_path / "out").iterdir():
        hostile.SAVED[path.suffix](path)


@pytest.mark.parametrize("name", formats("validate"))
def test_validate_shows_them(runs: list[Path], tmp_path: Path, name: str) -> None:
    ends = [plain_name(one) for one in (hostile.NAMES[0], hostile.NAMES[2])]
    path = hostile.claims(tmp_path / f"{hostile.NAMES[0]}.toml", *ends)
    scenario = f"{hostile.NAMES[1]}={runs[0]}"
    said = pcaplat("validate", path, scenario, "--format", name, "-o", tmp_path / "out")
    hostile.SHOWN[name](said)
    for file in (tmp_path / "out").iterdir():
        hostile.SAVED[file.suffix](file)


@pytest.mark.parametrize(
    "arguments",
    [
        ["points", hostile.NAMES[0]],
        ["merge", hostile.NAMES[0], hostile.NOT_UTF8],
        ["merge", "a", "b", "--profile", hostile.NAMES[0]],
        ["merge", "a", "b", "--path", hostile.EVIL],
        ["merge", "a", "b", "--clock-accuracy", hostile.EVIL],
        ["merge", "a", "b", "--from", hostile.EVIL],
        ["merge", f"{hostile.EVIL}.toml:{hostile.EVIL}"],
        ["merge", f"--{hostile.EVIL}"],
        ["merge", "samples/l2", "--format", hostile.EVIL],
        ["read", hostile.NOT_UTF8],
        ["read", "samples/l2/sw-a.pcap.gz", "--decode", hostile.EVIL],
        ["read", "samples/l2/sw-a.pcap.gz", "--filter", hostile.EVIL],
        ["read", "samples/l2/sw-a.pcap.gz", "-o", hostile.EVIL],
        ["validate", hostile.EVIL, f"{hostile.EVIL}=x"],
        ["audit", hostile.EVIL],
        ["rfc2544", hostile.EVIL, "b"],
        ["rfc2544", "a", "b", "--tolerance", hostile.EVIL],
        ["compare", hostile.EVIL, f"{hostile.EVIL}.toml:a"],
        [hostile.EVIL],
    ],
    ids=lambda arguments: "-".join(a for a in arguments if a.isalpha()),
)
def test_mistakes_are_one_harmless_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    said = capsys.readouterr()
    hostile.check_text(said.err.encode())
    assert said.err.startswith("pcaplat: ")
    assert said.err.count("\n") == 1
    assert "bug" not in said.err
    assert not said.out
