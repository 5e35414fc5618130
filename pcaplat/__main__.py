"""The program: `python -m pcaplat` is `pcaplat`."""

import atexit
import gc
import os
import signal
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line; an interrupt ends it quietly from here on."""
    # importing takes a while, leaves nothing behind, and says strange things when it is interrupted
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    # matrices are small here, and threads for large ones wait for them by spinning
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # what imports make stays: to look through it for garbage then, and at the end, finds nothing
    gc.set_threshold(200_000)
    atexit.register(gc.freeze)
    from pcaplat import cli  # noqa: PLC0415 - see above

    cli.main()


if __name__ == "__main__":
    main()
