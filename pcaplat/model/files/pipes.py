"""What comes through pipes and from devices, which can be read only once."""

import os
import select
from pathlib import Path
from stat import S_ISCHR, S_ISFIFO

from pcaplat import _native

LOOKS_UP_S = 0.2
"""So long a pipe is waited for before signals are looked at."""

HEAD_BYTES = 1 << 16
"""So much of a capture shows that it is one."""


def is_stream(path: Path) -> bool:
    """Tell what may keep its reader waiting, and has no place to begin again at."""
    try:
        mode = path.stat().st_mode
    except OSError:
        # whoever opens it will hear
        return False
    return S_ISFIFO(mode) or S_ISCHR(mode)


def copy_of_pipe(pipe: int, copy: Path) -> None:
    """Copy all that comes, from a first writer on.

    Raises:
        InputError: It is no capture: a device may have no end.
    """
    with copy.open("wb", buffering=0) as out:
        n_bytes = 0
        while True:
            # a signal that arrives just before the system waits is seen only after that
            while not select.select([pipe], [], [], LOOKS_UP_S)[0]:
                pass
            if not (chunk := os.read(pipe, 1 << 20)):
                return
            out.write(chunk)
            is_head = n_bytes < HEAD_BYTES <= n_bytes + len(chunk)
            n_bytes += len(chunk)
            if is_head:
                _native.frames_at(copy, [1], _native.Settings())
