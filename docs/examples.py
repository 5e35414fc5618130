"""Runs the examples of README.md and docs/, so that what they print stays true.

`python docs/examples.py [PAGE ...]` writes what they print now; with `--check` it says which pages
are stale, and fails. A block fenced as `console` holds commands after `$ ` and what they print; one
fenced as `python` with `>>>` in it is a doctest. Both run in a folder that holds nothing but a link
to samples/, one folder a page.
"""

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 100
CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
PROMPT = "$ "


def pages() -> list[Path]:
    """Give README.md and every page that is written by hand."""
    found = (path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "reference")
    return [ROOT / "README.md", *sorted(found)]


def refreshed(text: str) -> str:
    """Give a page's text with what its examples print now."""
    with TemporaryDirectory(prefix="pcaplat-docs-") as name:
        folder = Path(name)
        (folder / "samples").symlink_to(ROOT / "samples")
        with_console = CONSOLE.sub(lambda block: _run_block(block[0], folder), text)
        with chdir(folder):
            return _run_doctests(with_console)


def _run_block(block: str, folder: Path) -> str:
    commands = [line.removeprefix(PROMPT) for line in block.splitlines() if line.startswith(PROMPT)]
    if any(not shutil.which(command.split()[0], path=_path()) for command in commands):
        return block
    return "".join(f"{PROMPT}{command}\n{run(command, folder)}" for command in commands)


def run(command: str, folder: Path) -> str:
    """Run a command as a person would in a terminal of `WIDTH` columns; give what it says."""
    environment = os.environ | {"PATH": _path(), "COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    done = subprocess.run(  # noqa: S602 - the pages' own commands, with their globs and pipes
        command,
        shell=True,
        executable="bash",
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def _path() -> str:
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"


class _Recorder(doctest.DocTestRunner):
    """Keeps what each example printed instead of reporting it."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.printed: dict[int, str] = {}

    def report_failure(
        self,
        out: Callable[[str], object],
        test: doctest.DocTest,
        example: doctest.Example,
        got: str,
    ) -> None:
        """Keep what came instead."""
        del out, test
        self.printed[example.lineno] = got

    def report_unexpected_exception(
        self, out: object, test: object, example: doctest.Example, exc_info: object
    ) -> None:
        """Refuse: an example that breaks is not to be written down."""
        del out, test
        raise RuntimeError(f"{example.source.strip()!r} fails: {exc_info}")


def _run_doctests(text: str) -> str:
    test = doctest.DocTestParser().get_doctest(text, {}, "page", None, 0)
    recorder = _Recorder()
    recorder.run(test, clear_globs=False)
    lines = text.splitlines(keepends=True)
    for example in reversed(test.examples):
        if example.lineno in recorder.printed:
            start = example.lineno + example.source.count("\n")
            wanted = slice(start, start + example.want.count("\n"))
            lines[wanted] = _quoted(recorder.printed[example.lineno], example.indent)
    return "".join(lines)


def _quoted(printed: str, indent: int) -> list[str]:
    return [" " * indent + (line.rstrip() or "<BLANKLINE>") + "\n" for line in printed.splitlines()]


def main() -> int:
    """Write the pages, or compare them."""
    stale = 0
    named = [Path(name).resolve() for name in sys.argv[1:] if name != "--check"]
    for page in named or pages():
        before = page.read_text("utf-8")
        after = refreshed(before)
        if before == after:
            continue
        stale += 1
        if "--check" in sys.argv:
            print(f"{page.relative_to(ROOT)} is stale: run `make docs`")
        else:
            page.write_text(after, "utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
