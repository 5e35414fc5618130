"""How many instructions the native core spends a frame, by valgrind's callgrind.

They do not depend on what else the machine does. Counted are those of the native module itself, by
the room of the core whose function they are in, and with what it calls (the C library's allocator
and copies).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

NATIVE = "_native"
NAME = re.compile(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?")
ROOM = re.compile(r"pcaplat_core::(\w+)")
LIBRARY = "libraries"
"""The room of what is inlined nowhere: sorting, hash maps, threads."""


def instructions_of(command: Sequence[str], n_frames: int) -> dict[str, Any] | None:
    """Count the instructions of a merge, a frame; None: there is no valgrind."""
    if not shutil.which("valgrind"):
        return None
    with tempfile.TemporaryDirectory(prefix="pcaplat-callgrind-") as folder:
        out = Path(folder) / "callgrind.out"
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        interpreter = Path(command[0]).parent / "python"
        subprocess.run([*tool, interpreter, *command], check=True, capture_output=True)
        with out.open() as lines:
            rooms, called = counted(lines)
    by_room = {room: n / n_frames for room, n in rooms.most_common()}
    native = sum(by_room.values())
    return {"native": native, "native and what it calls": called / n_frames, "rooms": by_room}


def counted(lines: Iterable[str]) -> tuple[Counter[str], int]:
    """Sum what callgrind wrote: the native module's own instructions by room, and calls into it."""
    names: dict[tuple[str, str], str] = {}
    rooms: Counter[str] = Counter()
    now: dict[str, str] = {}  # ob, fn: where we are; cob, cfn: what is called from there
    called, is_call = 0, False
    for line in lines:
        found = NAME.match(line)
        if found:
            name = names.setdefault((found[2], found[3]), found[4] or "")
            now[found[1] + found[2]] = name
        elif line.startswith("calls="):
            is_call = True
        elif line[:1] in set("0123456789+-*"):
            n, is_native = int(line.split()[1]), NATIVE in now["ob"]
            if is_call and not is_native and NATIVE in now.get("cob", ""):
                called += n
            elif is_native and not is_call:
                room = ROOM.search(now["fn"])
                rooms[room[1] if room else LIBRARY] += n
            if is_call:
                now.pop("cob", None)
            is_call = False
    return rooms, called
