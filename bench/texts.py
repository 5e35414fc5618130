"""What TOML texts of strangers cost by their length: `python bench/texts.py [KIND ...]`.

Every kind is read as claims, as a study and as a profile, with N and with 4 N of what it repeats.
Each time is the least CPU time of several reads: a row says how many times as much the longer text
takes, which is 4 where time grows as the text does, and 16 where it grows with its square. It fails
where a longer text takes more than 8 times as much and more than 50 ms.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pcaplat.errors import InputError
from pcaplat.points import load_profile
from pcaplat.published import load_published
from pcaplat.study.file import load_study

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: dict[str, Callable[[int], str]] = {
    "keys": lambda n: "".join(f"key{at} = {at}\n" for at in range(n)),
    "tables": lambda n: "".join(f"[table{at}]\nkey = 1\n" for at in range(n)),
    "items": lambda n: "[[claims]]\nid = 1\n" * n,
    "values": lambda n: f"claims = [{'1.5, ' * n}]\n",
    "lines of a text": lambda n: 'title = """' + "a line\n" * n + '"""\n' + "key = 1\n",
    "comments": lambda n: "# nothing\n" * n + "key = 1\n",
    "a long name": lambda n: f"{'a' * n} = 1\n",
    "dots": lambda n: ".".join("a" * n) + " = 1\n",
    "quoted dots": lambda n: ".".join(['"a"'] * n) + " = 1\n",
    "a header of dots": lambda n: f"[{'.'.join('a' * n)}]\nkey = 1\n",
    "lists in lists": lambda n: f"key = {'[' * n}{']' * n}\n",
    "lists that do not end": lambda n: f"key = {'[' * n}\n",
    "tables in tables": lambda n: f"key = {'{a = ' * n}1{'}' * n}\n",
    "digits": lambda n: f"key = {'7' * n}\n",
    "digits of a base": lambda n: f"key = 0x{'f' * n}\n",
    "an exponent": lambda n: f"key = 1e{n}00000\n",
    "quotes": lambda n: "key = " + '"' * n + "\n",
}
LOADERS = {"claims": load_published, "study": load_study, "profile": load_profile}
N, RUNS = 8_000, 5
MOST_TIMES, LEAST_S = 8.0, 0.05


def seconds_to_read(load: Callable[[str], object], path: Path, text: str) -> float:
    """Give the CPU time of reading it, the least of several."""
    path.write_text(text)
    taken_s = []
    for _ in range(RUNS):
        gc.collect()
        began_s = time.thread_time()
        with suppress(InputError):
            load(str(path))
        taken_s.append(time.thread_time() - began_s)
    return min(taken_s)


def main(kinds: list[str]) -> None:
    """Print the table."""
    is_kept = True
    print(f"| text | read as | {N:,}, ms | {4 * N:,}, ms | times |\n|{' --- |' * 5}")
    with tempfile.TemporaryDirectory(prefix="pcaplat-texts-") as folder:
        path = Path(folder) / "some.toml"
        for kind in kinds:
            for loader, load in LOADERS.items():
                few_s, many_s = (seconds_to_read(load, path, KINDS[kind](n)) for n in (N, 4 * N))
                times = many_s / few_s
                is_kept &= times <= MOST_TIMES or many_s <= LEAST_S
                cells = f"{few_s * 1e3:.1f} | {many_s * 1e3:.1f} | {times:.1f}"
                print(f"| {kind} | {loader} | {cells} |", flush=True)
    sys.exit(0 if is_kept else 1)


if __name__ == "__main__":
    main(sys.argv[1:] or [*KINDS])
