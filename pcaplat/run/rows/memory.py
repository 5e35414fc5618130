"""Memory that was freed, and that a process keeps all the same."""

import sys
from contextlib import suppress


def give_back_memory() -> None:
    """Return to the system what was freed: glibc and Arrow keep it, the more threads the more."""
    import ctypes  # noqa: PLC0415 - seldom needed

    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):  # other C libraries need no such call, and have none
        ctypes.CDLL(None).malloc_trim(0)
