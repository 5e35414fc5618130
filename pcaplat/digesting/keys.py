"""Keys of digests: a secret in a file, shared by those who compare, and never shown."""

import os
from os import PathLike
from pathlib import Path

from pcaplat.errors import InputError
from pcaplat.text import printable

FEWEST_BYTES = 16
"""Of a secret: what is shorter can be guessed, and then addresses and short payloads too."""
MOST_BYTES = 1 << 16


def secret_of(place: str | PathLike[str] | None) -> tuple[bytes, bool]:
    """Give the secret in a file, and whether it was made now.

    Args:
        place: The file; a new secret is written there if there is none. None: a secret that is
            nowhere written.

    Raises:
        InputError: It is too short, or too long to be a secret, or the place is a folder.
        OSError: The file cannot be read or written.
    """
    if place is None:
        return os.urandom(32), True
    path = Path(place)
    if not os.fspath(place) or path.is_dir():
        raise InputError(
            f"--key {printable(os.fspath(place)) or repr('')}: is no file; give the name of a file "
            "with the key, or one that is not taken, and a key is made there"
        )
    if not path.exists():
        return _made(path), True
    with path.open("rb") as stream:
        secret = stream.read(MOST_BYTES + 1).strip()
    if not FEWEST_BYTES <= len(secret) <= MOST_BYTES:
        raise InputError(
            f"--key {printable(str(path))}: holds {len(secret)} bytes; a key has {FEWEST_BYTES} to "
            f"{MOST_BYTES}: give a name that is not taken, and one is made there"
        )
    return secret, False


def _made(path: Path) -> bytes:
    """Write a secret that only its owner may read."""
    secret = os.urandom(32).hex().encode()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        try:
            stream.write(secret + b"\n")
            stream.flush()
        except OSError:
            # a full disk would leave a key of no bytes, which the next call refuses
            path.unlink()
            raise
    return secret
