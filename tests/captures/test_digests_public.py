"""Digests of the lab's sets and of sets nobody here made: the answer of the captures, and small."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import pcaplat
from pcaplat.errors import PcaplatError
from tests.support.shelf import CAPTURES, public_sets

LAB = {
    f"lab/{folder.name}": [*map(str, sorted(folder.glob("*.pcap*")))]
    for folder in sorted((CAPTURES / "lab").glob("*"))
}
PUBLIC = {name: [*map(str, found.files.values())] for name, found in public_sets().items()}
SETS = {name: files for name, files in (LAB | PUBLIC).items() if len(files) > 1}
COUNTED = (
    *("near", "far", "direction", "class", "n", "n_lost", "n_late", "n_reordered"),
    "n_duplicated",
)
A_FRAME, A_FILE = 40, 400
"""Bytes at most, of each; a file has a head, and first frames that resemble none before them."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SETS, reason="the shared captures are not here"),
    pytest.mark.filterwarnings("ignore::pcaplat.PcaplatWarning"),
]


def answer(files: list[str]) -> dict[str, Any] | type[PcaplatError]:
    """What is counted, without what it took to count it; or which error there is."""
    try:
        with pcaplat.merge([f"p{at}={file}" for at, file in enumerate(files)]) as result:
            document = result.document
    except PcaplatError as problem:
        return type(problem)
    matching = {name: value for name, value in document["matching"].items() if name != "tiers"}
    segments = [{name: row.get(name) for name in COUNTED} for row in document["segments"]]
    return {"path": document["path"], "matching": matching, "segments": segments}


@pytest.mark.parametrize("name", SETS)
def test_digests_answer_what_captures_answer(name: str, tmp_path: Path) -> None:
    key = tmp_path / "key"
    # a packet or two hang on which of two addresses is the smaller: the same each time
    key.write_text("the same pseudonyms in every run of the tests")
    made, n_frames = [], 0
    for at, file in enumerate(SETS[name]):
        folder = tmp_path / str(at)
        folder.mkdir()
        [row] = pcaplat.digest([file], key=key, output=folder)["digests"]
        made.append(row["digest"])
        n_frames += row["n_frames"]
    n_bytes = sum(Path(file).stat().st_size for file in made)
    sys.stdout.write(f"{name}: {n_frames:,} frames, {n_bytes / n_frames:.1f} bytes a frame\n")
    assert n_bytes <= A_FRAME * n_frames + A_FILE * len(made)
    assert answer(made) == answer(SETS[name])
