"""What comes through pipes, which can be read only once."""

import os
import select
from pathlib import Path

LOOKS_UP_S = 0.2
"""So long a pipe is waited for before signals are looked at."""


def copy_of_pipe(pipe: int, copy: Path) -> None:
    """Copy all that comes, from a first writer on."""
    with copy.open("wb") as out:
        while True:
            # a signal that arrives just before the system waits is seen only after that
            while not select.select([pipe], [], [], LOOKS_UP_S)[0]:
                pass
            if not (chunk := os.read(pipe, 1 << 20)):
                return
            out.write(chunk)
