"""The copy of libpcap that the package of that name carries along."""

import platform
from importlib.util import find_spec
from pathlib import Path

NAMES = {"i386": "x86", "i686": "x86", "amd64": "x86_64", "arm64": "aarch64"}
"""How the package calls machines that others call so."""


def packaged_libpcap() -> str | None:
    """Give the path of the package's libpcap for this machine; the system's is taken before it.

    The package is not imported: where the system has no libpcap, that fails.
    """
    spec = find_spec("libpcap")
    if spec is None or spec.origin is None:
        return None
    machine = platform.machine().lower()
    folder = Path(spec.origin).parent / "_platform" / platform.system().lower()
    path = folder / NAMES.get(machine, machine) / "tcpdump" / "libpcap.so"
    return str(path) if path.exists() else None
