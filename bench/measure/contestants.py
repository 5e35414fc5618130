"""What is run on the same files: pcaplat of one or more builds, and what else reads captures."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent.parent
MERGE, WRITE = "merge", "merge -o"
LOOP, MERGECAP, CAT, TSHARK, DECOMPRESS = (
    "libpcap's empty loop",
    "mergecap -w /dev/null",
    "cat",
    "tshark -T fields",
    "decompress",
)
TSHARK_PACKETS = 20_000
"""Of each file: it takes its time."""
FIELDS = "frame.time_epoch ip.src ip.dst ip.id ip.proto tcp.seq_raw tcp.ack_raw udp.length"
DECOMPRESSORS = {".zst": "zstd", ".gz": "gzip"}
NEEDS = {MERGECAP: "mergecap", TSHARK: "tshark", CAT: "cat", LOOP: "cc"}


@dataclass(frozen=True)
class Contestant:
    """A command line, and the share of the frames that it reads; of no build: no pcaplat."""

    what: str
    command: Sequence[str]
    build: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class Field:
    """The files of one set, by point, and a folder for what is written."""

    files: Sequence[tuple[str, Path]]
    scratch: Path
    n_frames: int = 0  # 0: not known

    @property
    def names(self) -> list[str]:
        """Give the files."""
        return [str(path) for _, path in self.files]

    def pcaplat(self, programs: Path, *options: str) -> list[str]:
        """Merge with a build."""
        captures = [f"{point}={path}" for point, path in self.files]
        return [str(programs / "pcaplat"), "merge", "--quiet", *options, *captures]

    def contestants(self, wanted: Sequence[str], builds: dict[str, Path]) -> Iterator[Contestant]:
        """Give those that are wanted, as far as they are installed."""
        for what in wanted:
            if what in {MERGE, WRITE}:
                out = ["-o", str(self.scratch / "out"), "--overwrite", "--traffic"]
                for name, programs in builds.items():
                    command = self.pcaplat(programs, *(out if what == WRITE else ()))
                    yield Contestant(what, command, name)
            else:
                yield from self._other(what)

    def _other(self, what: str) -> Iterator[Contestant]:
        if what == LOOP:
            loop = read_loop()
            if loop:
                yield Contestant(what, [loop, *self.names])
        elif what == DECOMPRESS:
            program = shutil.which(DECOMPRESSORS[self.files[0][1].suffix])
            if program:
                yield Contestant(what, [program, "-dc", *self.names])
        elif shutil.which(NEEDS[what]):
            if what == TSHARK:
                share = TSHARK_PACKETS * len(self.files) / max(self.n_frames, 1)
                fields = " ".join(f"-e {name}" for name in FIELDS.split())
                reading = f'tshark -c {TSHARK_PACKETS} -r "$file" -T fields {fields}'
                script = f"for file; do {reading} || exit; done"
                yield Contestant(
                    what, ["sh", "-c", script, "sh", *self.names], share=min(share, 1.0)
                )
            else:
                yield Contestant(what, [*what.split(), *self.names])


def read_loop() -> str:
    """Build the C loop; empty where there is no compiler or no libpcap header."""
    source, program = HERE / "read_loop.c", HERE / "data" / "read_loop"
    compiler = shutil.which("cc")
    if compiler and not program.exists():
        program.parent.mkdir(exist_ok=True)
        command = [compiler, "-O2", "-o", program, source, "-lpcap"]
        subprocess.run(command, capture_output=True, check=False)
    return str(program) if program.exists() else ""


def missing() -> list[str]:
    """Say what is not installed and therefore left out."""
    names = [program for program in NEEDS.values() if not shutil.which(program)]
    if not shutil.which("valgrind"):
        names.append("valgrind")
    return names if read_loop() else [*names, "libpcap's header (pcap/pcap.h)"]
