"""Whether this build prints and writes what another checkout's build does, to the character.

`python bench/same_outputs.py OTHER_CHECKOUT [--captures DIR] [--keep DIR] [--only GLOB]` runs the
commands of `outputs/asked.py` with both, two at a time, and prints a line for every difference.
What the other one gives is kept by its commit, so it runs once; both read its samples. Text is
compared without the names of scratch folders, Parquet by schema and rows, the rest by bytes. The
exit status is 1 if anything differs that does not differ between two runs of the other build.
Runs begin with every module imported, to save time: a module that is imported too late, or slowly,
is not found here.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from outputs.asked import CLAIMS, CLAIMS_TEXT, PROFILES, PUBLISHED, Asked, everything
from outputs.compared import GIVEN, META, differences
from outputs.forked import TIMED_OUT

HERE = Path(__file__).parent
N_AT_ONCE = 2
LIMIT_S = 120
N_AGAIN = 2
"""Runs of the other build that decide whether it differs from itself, where something differs."""


class Build:
    """A checkout that was built, its program ready to run a few times at once."""

    def __init__(self, checkout: Path) -> None:
        """Take the programs from its environment."""
        programs = checkout / ".venv" / "bin"
        self._command = [programs / "python", HERE / "outputs" / "forked.py", programs / "pcaplat"]
        self._idle: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()
        self._started: list[subprocess.Popen[str]] = []

    def start(self) -> None:
        """Start what runs it, unless that was done."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        env = kept | {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
        for _ in range(N_AT_ONCE - len(self._started)):
            server = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env
            )
            self._started.append(server)
            self._idle.put(server)

    def run(self, asked: Asked, scratch: Path, inputs: Path) -> None:
        """Run a command and leave in a folder all that it gave."""
        given = scratch / GIVEN
        (given / "tmp").mkdir(parents=True)
        links = [given / name for name in ("samples", "captures")]
        for link in links:
            link.symlink_to(inputs / link.name)
        meta = {"arguments": asked.arguments, "folder": str(given)}
        server = self._idle.get()
        print(json.dumps(meta | {"limit_s": LIMIT_S}), file=server.stdin, flush=True)
        meta |= json.loads(server.stdout.readline())
        self._idle.put(server)
        for link in links:
            link.unlink()
        shutil.rmtree(given / "tmp", ignore_errors=True)
        (given / "status").write_text(f"{meta['status']}\n")
        (scratch / META).write_text(json.dumps(meta))

    def stop(self) -> None:
        """Let what runs it end."""
        for server in self._started:
            server.stdin.close()
            server.wait()


@dataclass(frozen=True)
class Shelf:
    """What a build gave, kept until it is asked for again."""

    folder: Path
    build: Build

    @property
    def inputs(self) -> Path:
        """The folder with the samples and captures that are read."""
        return self.folder / "inputs"

    def given(self, asked: Asked) -> Path:
        """Where the outputs of a command are; runs it if need be."""
        paths = [self.inputs / word for word in asked.arguments]
        sizes = [path.stat().st_size for path in paths if path.is_file()]
        key = json.dumps([asked.arguments, sizes])
        place = self.folder / "outputs" / hashlib.sha256(key.encode()).hexdigest()[:20]
        self._fill(place, asked)
        return place

    def again(self, asked: Asked) -> list[Path]:
        """Where the outputs of further runs of a command are, for what is never twice alike."""
        places = [self.given(asked) / f"again-{at}" for at in range(N_AGAIN)]
        for place in places:
            self._fill(place, asked)
        return places

    def _fill(self, place: Path, asked: Asked) -> None:
        if (place / META).exists():
            return
        self.build.start()
        scratch = scratch_folder(self.folder)
        self.build.run(asked, scratch, self.inputs)
        try:
            scratch.rename(place)
        except OSError:  # another run of this program was faster
            shutil.rmtree(scratch)


def scratch_folder(beside: Path) -> Path:
    """Make a folder for one run; all names are equally long, and so are columns with them."""
    return Path(tempfile.mkdtemp(prefix="run-", dir=beside))


def kept_by_commit(checkout: Path, keep: Path, captures: Path) -> Shelf:
    """Prepare the folder that keeps what a checkout's build gives."""
    git = ["git", "-C", str(checkout)]
    commit = subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()
    changes = subprocess.check_output([*git, "diff", "HEAD"])
    changed = f"-{hashlib.sha256(changes).hexdigest()[:8]}" if changes else ""
    shelf = Shelf(keep.resolve() / f"{commit[:12]}{changed}", Build(checkout))
    (shelf.folder / "outputs").mkdir(parents=True, exist_ok=True)
    if not shelf.inputs.exists():
        scratch = scratch_folder(shelf.folder)
        shutil.copytree(checkout / "samples", scratch / "samples")
        for name in (PROFILES, PUBLISHED):
            shutil.copytree(checkout / Path(name).name, scratch / name)
        (scratch / CLAIMS).write_text(CLAIMS_TEXT)
        (scratch / "captures").symlink_to(captures.resolve())
        scratch.rename(shelf.inputs)
    return shelf


def compared(asked: Asked, old: Shelf, new: Build) -> tuple[Counter[str], list[str]]:
    """Run a command with both; count its outputs and list what differs."""
    before, after = old.given(asked), scratch_folder(old.folder)
    new.run(asked, after, old.inputs)
    found, n_outputs = differences(before, after)
    unsteady: set[str] = set()
    if found:
        more = old.again(asked)
        unsteady = {name for place in more for name in differences(before, place)[0]}
        for place in more:
            still = differences(place, after)[0]
            found = {name: text for name, text in found.items() if name in still}
    shutil.rmtree(after)
    status = json.loads((before / META).read_text())["status"]
    counts = Counter(commands=1, outputs=n_outputs)
    counts["unsteady"] = len(found.keys() & unsteady)
    counts["different"] = len(found.keys() - unsteady)
    counts["errors"] = "status" not in found and status not in {0, TIMED_OUT}
    counts["stopped"] = "status" not in found and status == TIMED_OUT
    about = f"{asked.set_name}: {' '.join(asked.arguments)}"
    alike = (" (so do two runs of the other build)" * (name in unsteady) for name in found)
    return counts, [
        f"{about}: {name}: {text}{note}"
        for (name, text), note in zip(found.items(), alike, strict=True)
    ]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=Path, help="a checkout that was built")
    default = os.environ.get("PCAPLAT_CAPTURES") or HERE.parent.parent / "shared" / "captures"
    parser.add_argument("--captures", type=Path, default=default, help="captures beside samples/")
    parser.add_argument("--keep", type=Path, default=HERE / "results" / "outputs")
    parser.add_argument("--only", default="*", help="sets whose names are like that")
    return parser.parse_args()


def main() -> None:
    """Compare, print, end with 1 if anything differs."""
    given, start_s = arguments(), time.monotonic()
    old = kept_by_commit(given.other.resolve(), given.keep, given.captures)
    new = Build(HERE.parent)
    new.start()
    wanted = [one for one in everything(old.inputs) if fnmatch.fnmatch(one.set_name, given.only)]
    total: Counter[str] = Counter(sets=len({one.set_name for one in wanted}))
    with ThreadPoolExecutor(N_AT_ONCE) as pool:
        runs = [pool.submit(compared, one, old, new) for one in wanted]
        for at, run in enumerate(runs, 1):
            counts, lines = run.result()
            total += counts
            print(*lines, sep="\n", end="\n" * bool(lines), flush=True)
            if not at % 200:
                print(f"{at} of {len(wanted)} commands", file=sys.stderr, flush=True)
    for build in (old.build, new):
        build.stop()
    print(summary(total), f"({time.monotonic() - start_s:.0f} s)")
    sys.exit(bool(total["different"]))


def summary(total: Counter[str]) -> str:
    """Put the counts into words."""
    n_equal = total["outputs"] - total["different"] - total["unsteady"]
    return (
        f"{total['sets']} sets, {total['commands']} commands, {total['outputs']} outputs: "
        f"{n_equal} equal, {total['different']} different, {total['unsteady']} differ from run to "
        f"run; {total['errors']} commands end with the same error, {total['stopped']} were "
        f"stopped in both after {LIMIT_S} s"
    )


if __name__ == "__main__":
    main()
