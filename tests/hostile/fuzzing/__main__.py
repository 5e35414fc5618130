"""Fuzzes merge for so many seconds: python -m tests.hostile.fuzzing SECONDS [SEED].

Without SECONDS the corpus is made anew, of it and of what was found: of each kind the smallest.

What is new about a result (its warnings, statuses, kinds of clocks) takes the place of coverage:
octets that show something new are mutated on. What breaks a law is kept.
"""

from __future__ import annotations

import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conftest import ROOT
from tests.hostile.fuzzing.captures import HEAD_BYTES, MOST_MUTATIONS, MUTATION_BYTES, captures_of
from tests.hostile.fuzzing.laws import features_of

if TYPE_CHECKING:
    from types import FrameType

FUZZ = ROOT / "rust" / "fuzz"
CORPUS = FUZZ / "corpus" / "merge"
PATIENCE_S = 60
"""What takes longer hangs."""

MOST_BYTES = HEAD_BYTES + MOST_MUTATIONS * MUTATION_BYTES


def mutated(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Change some octets, or mutations, or put two together."""
    found = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        place = chance.randrange(len(found) + 1)
        match chance.randrange(4):
            case 0:
                found[place : place + 1] = chance.randbytes(1)
            case 1:
                found += chance.randbytes(MUTATION_BYTES)
            case 2:
                whole = HEAD_BYTES + (place // MUTATION_BYTES) * MUTATION_BYTES
                del found[whole : whole + MUTATION_BYTES]
            case _:
                other = chance.choice(others)
                found[place:] = other[place:]
    return bytes(found[:MOST_BYTES])


def keep(folder: Path, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


def hang(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TimeoutError(f"more than {PATIENCE_S} s")


def fuzz(seconds: float, seed: int, found: Path) -> int:
    """Give how many inputs broke a law."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, hang)
    chance, known = random.Random(seed), set[str]()  # noqa: S311 - no secret
    queue = [path.read_bytes() for path in sorted([*CORPUS.glob("*"), *found.glob("*")])]
    inputs, n, n_broken, end = queue or [bytes(HEAD_BYTES)], 0, 0, time.monotonic() + seconds
    waiting = [*inputs]
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() < end:
            data = waiting.pop() if waiting else mutated(chance.choice(inputs), inputs, chance)
            n += 1
            signal.alarm(PATIENCE_S)
            try:
                features = features_of(captures_of(data), Path(name))
            except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
                n_broken += 1
                traceback.print_exc()
                sys.stderr.write(f"kept as {keep(FUZZ / 'artifacts' / 'merge', data)}\n")
                continue
            if not features <= known:
                known |= features
                inputs.append(data)
                keep(found, data)
    signal.alarm(0)
    sys.stdout.write(f"{n} merges, {len(known)} features, {n_broken} broke a law\n")
    return n_broken


def features_of_all(inputs: list[bytes]) -> list[set[str]]:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        return [features_of(captures_of(data), Path(name)) for data in inputs]


def needed(found: list[set[str]]) -> list[int]:
    """Leave out, from the last on, whatever shows nothing that the others do not show."""
    kept = [*range(len(found))]
    for one in reversed(range(len(found))):
        others = set[str]().union(*(found[at] for at in kept if at != one))
        if found[one] <= others:
            kept.remove(one)
    return kept


def renew(found: Path) -> None:
    """Write the corpus: seeds that each show something of their own, the smallest first."""
    inputs = sorted({one.read_bytes() for one in [*CORPUS.glob("*"), *found.glob("*")]}, key=len)
    kept = {inputs[at] for at in needed(features_of_all(inputs))}
    for path in CORPUS.glob("*"):
        if path.read_bytes() not in kept:
            path.unlink()
    for data in kept:
        keep(CORPUS, data)
    sys.stdout.write(f"{len(kept)} of {len(inputs)} seeds\n")


def main() -> None:
    """Fuzz, and fail where a law was broken."""
    if len(sys.argv) == 1:
        renew(FUZZ / "target" / "found" / "merge")
        return
    seconds, seed = float(sys.argv[1]), int([*sys.argv, "0"][2])
    sys.exit(1 if fuzz(seconds, seed, FUZZ / "target" / "found" / "merge") else 0)


if __name__ == "__main__":
    main()
