"""lost.parquet: which packets were lost, on which segment, and how sure that is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import pcaplat
from pcaplat.cli import run as run_command
from pcaplat.tables import SEGMENTS
from tests.recovery.simulator import Clock, Link, Outcome, Point, Scenario, Traffic, Truth, run
from tests.support.oracle_decode import read_frames

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = {
    "point": pl.String,
    "file": pl.String,
    "frame": pl.Int64,
    "t_ns": pl.Int64,
    "near": pl.String,
    "far": pl.String,
    "direction": pl.String,
    "weight": pl.Float64,
    "told_by": pl.String,
}
MIX = (("tcp", 0.4), ("bulk", 0.2), ("udp", 0.3), ("icmp", 0.1))
MS = 1_000_000
Segment = tuple[str, str, str]
Loss = tuple[Segment, str, int]
"""On which segment, and the frame of the last point that saw it."""


def path(n_points: int, *, missed_share: float = 0.0, n_packets: int = 3_000) -> Scenario:
    """Every link loses a per cent; points between the ends may miss some."""
    points = tuple(
        Point(
            f"p{at}",
            Clock(at * 1_000_003, 3.0 * at),
            missed_share=missed_share if 0 < at < n_points - 1 else 0.0,
        )
        for at in range(n_points)
    )
    links = tuple(Link(3_000 + 700 * at, lost_share=0.01) for at in range(n_points - 1))
    return Scenario(points, links, Traffic(n_packets, shares=MIX), seed=n_points)


CASES = {
    "3 points": path(3),
    "6 points": path(6),
    "6 points that miss some": path(6, missed_share=0.02),
    # the last ones were sent too late to be called lost
    "3 points, some late": replace(
        path(3),
        links=(Link(lost_share=0.01), Link(lost_share=0.01, held_share=0.01, held_ns=5 * MS)),
    ),
    # which of equal packets was lost, nobody knows
    "3 points, packets that repeat": replace(
        path(3),
        traffic=Traffic(
            3_000, idents="zero", constant_share=0.7, shares=(("tcp", 0.4), ("udp", 0.6))
        ),
    ),
}
CERTAIN = ("3 points", "6 points", "6 points that miss some", "3 points, some late")


@dataclass
class Written:
    """What merge -o wrote of a simulated path, and the truth."""

    outcome: Outcome
    document: dict[str, Any]
    folder: Path

    @cached_property
    def lost(self) -> pl.DataFrame:
        """The table; a KeyError of the tests' own where there is none."""
        return pl.read_parquet(self.folder / "lost.parquet")

    @cached_property
    def names(self) -> list[str]:
        """The points along the path as it is written."""
        found: list[str] = self.document["path"]
        return found

    def true_losses(self) -> Iterator[tuple[Loss, bool]]:
        """Every loss where a frame was seen last; whether the last point of all saw it there."""
        truth, journey = Truth(self.outcome), self.outcome.journey
        frame_of = self._frames()
        hops = journey.times_ns.shape[1]
        is_turned = self.names[0] != self.outcome.scenario.points[0].name
        for piece, times_ns in enumerate(journey.times_ns):
            if (times_ns >= 0).all() or journey.pieces["copy_of"][piece] >= 0:
                continue
            forward = bool(truth.forward[piece])
            way = range(hops) if forward else range(hops - 1, -1, -1)
            passed = [hop for hop in way if times_ns[hop] >= 0]
            seen = [hop for hop in passed if truth.seen[piece, hop] >= 0]
            if seen:
                after = passed[-1] + (1 if forward else -1)
                near, far = sorted((passed[-1], after), reverse=is_turned)
                direction = "forward" if forward != is_turned else "reverse"
                frame = frame_of[int(truth.seen[piece, seen[-1]])]
                yield ((f"p{near}", f"p{far}", direction), *frame), seen[-1] == passed[-1]

    def _frames(self) -> dict[int, tuple[str, int]]:
        starts = Truth(self.outcome).starts
        return {
            int(starts[point] + row): (name, at + 1)
            for name, place in self.outcome.files.items()
            for at, (point, row) in enumerate(zip(place.points, place.rows, strict=True))
        }

    def weights(self) -> dict[Loss, float]:
        """Of each packet that is known, and segment that it may have been lost on."""
        known = self.lost.filter(pl.col("frame").is_not_null())
        columns = ("near", "far", "direction", "point", "frame", "weight")
        return {
            ((near, far, direction), point, frame): weight
            for near, far, direction, point, frame, weight in known.select(columns).iter_rows()
        }

    def has_equals(self, point: str, frame: int) -> bool:
        """Whether a frame is byte for byte another of its capture."""
        frames = [one.data for one in read_frames(self.folder.parent / f"{point}.pcap")]
        return frames.count(frames[frame - 1]) > 1

    def n_lost(self) -> dict[Segment, int]:
        """Of neighbours."""
        ends = (self.names[0], self.names[-1])
        return {
            (row["near"], row["far"], row["direction"]): row["n_lost"]
            for row in self.document["segments"]
            if row["class"] == "packet" and (row["near"], row["far"]) != ends
        }


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    """Every case, merged and written."""
    made = {}
    for name, scenario in CASES.items():
        folder = tmp_path_factory.mktemp("lost")
        outcome = run(scenario)
        files = [str(file) for file in outcome.save(folder)]
        with pcaplat.merge(files) as result:
            pcaplat.write(result, folder / "out")
            made[name] = Written(outcome, dict(result.document), folder / "out")
    return made


@pytest.mark.parametrize("name", CASES)
def test_its_columns_are_the_contracts(name: str, written: dict[str, Written]) -> None:
    schema = dict(written[name].lost.schema)
    assert {column: schema.get(column) for column in COLUMNS} == COLUMNS


@pytest.mark.parametrize("name", CASES)
def test_weights_of_a_segment_add_up_to_its_losses(name: str, written: dict[str, Written]) -> None:
    found = written[name]
    sums: dict[Segment, float] = defaultdict(float)
    for near, far, direction, weight in found.lost.select(
        "near", "far", "direction", "weight"
    ).iter_rows():
        sums[near, far, direction] += weight
    told = {segment: n for segment, n in found.n_lost().items() if n or segment in sums}
    assert told
    # n_lost is a whole number, the weights of packets in doubt are none
    assert {s for s, n in told.items() if abs(sums.get(s, 0.0) - n) > 0.501} == set()


@pytest.mark.parametrize("name", CASES)
def test_a_packet_is_lost_once(name: str, written: dict[str, Written]) -> None:
    known = written[name].lost.filter(pl.col("frame").is_not_null())
    assert (known["weight"] > 0).all()
    sums = known.group_by("point", "file", "frame").agg(pl.col("weight").sum())
    assert sums.filter(pl.col("weight") > 1 + 1e-9).is_empty()


@pytest.mark.parametrize("name", CERTAIN)
def test_what_was_lost_is_listed_where_it_was(name: str, written: dict[str, Written]) -> None:
    """Every packet that the point before the loss captured, on the one segment, with all weight.

    Where points miss packets it may have been lost farther on too: there it has most of the weight.
    """
    found = written[name]
    rows = found.weights()
    true = dict(found.true_losses())
    sure = {loss for loss, is_sure in true.items() if is_sure}
    assert len(sure) > 20
    # those within the waiting time of the end are not counted
    late = {loss for loss in sure - rows.keys() if came_too_near_the_end(found, loss)}
    missing = sure - rows.keys() - late
    # of equal packets nobody knows which was lost: as many rows have no frame
    assert all(found.has_equals(point, frame) for _, point, frame in missing)
    least = 0.85 if "miss" in name else 1.0
    unknown = found.lost.filter(pl.col("frame").is_null(), pl.col("weight") > least - 1e-9)
    unknown = unknown.select("near", "far", "direction", "point")
    listed = Counter(((*segment,), point) for *segment, point in unknown.iter_rows())
    assert Counter((segment, point) for segment, point, _ in missing) - listed == Counter()
    assert all(rows[loss] > least - 1e-9 for loss in sure & rows.keys())


def came_too_near_the_end(found: Written, loss: Loss) -> bool:
    """Whether it was seen last within the waiting time of the end of what its points cover."""
    segment, point, frame = loss
    [told] = [
        row
        for row in found.document["segments"]
        if (row["near"], row["far"], row["direction"], row["class"]) == (*segment, "packet")
    ]
    records = {
        p.name: r for p, r in zip(found.outcome.scenario.points, found.outcome.records, strict=True)
    }
    end_ns = min(int(records[name].frames["time_ns"][-1]) for name in segment[:2])
    seen_ns = int(records[point].frames["time_ns"][frame - 1])
    return seen_ns > float(end_ns - told["loss_threshold_ns"] - 15_000)


@pytest.mark.parametrize("name", CERTAIN)
def test_what_was_not_lost_is_not_listed(name: str, written: dict[str, Written]) -> None:
    """Where a point missed it, it may have been lost on either side: on one of them it was."""
    found = written[name]
    true: dict[tuple[str, int], set[Segment]] = defaultdict(set)
    for (segment, point, frame), _ in found.true_losses():
        true[point, frame].add(segment)
    listed: dict[tuple[str, int], set[Segment]] = defaultdict(set)
    for near, far, direction, point, frame in found.lost.select(
        "near", "far", "direction", "point", "frame"
    ).iter_rows():
        if frame is not None:
            listed[point, frame].add((near, far, direction))
    assert listed
    assert {at: s for at, s in listed.items() if not s & true.get(at, set())} == {}


def test_of_packets_that_repeat_only_the_number_is_known(written: dict[str, Written]) -> None:
    found = written["3 points, packets that repeat"]
    true = Counter(segment for (segment, _, _), _ in found.true_losses())
    sums: dict[Segment, float] = defaultdict(float)
    for near, far, direction, weight in found.lost.select(
        "near", "far", "direction", "weight"
    ).iter_rows():
        sums[near, far, direction] += weight
    for segment, n in true.items():
        assert sums[segment] == pytest.approx(n, abs=2 + 0.05 * n)


@pytest.mark.parametrize("n_points", [3, 6])
def test_the_frames_that_were_lost_are_written(n_points: int, tmp_path: Path) -> None:
    """`--lost FILE.pcapng`: each frame as its last point captured it."""
    outcome = run(path(n_points))
    files = [str(file) for file in outcome.save(tmp_path)]
    lost = tmp_path / "lost.pcapng"
    program = Path(sys.executable).parent / "pcaplat"
    command = [str(program), "merge", "--quiet", "-o", str(tmp_path / "out")]
    subprocess.run([*command, "--lost", str(lost), *files], check=True, capture_output=True)
    document = json.loads((tmp_path / "out" / "summary.json").read_text())
    found = Written(outcome, document, tmp_path / "out")
    captured = {
        (point.name, frame.number): frame.data
        for point in outcome.scenario.points
        for frame in read_frames(tmp_path / f"{point.name}.pcap")
    }
    wanted = Counter(captured[point, frame] for (_, point, frame), _ in found.true_losses())
    written = Counter(frame.data for frame in read_frames(lost))
    assert sum(written.values()) > 20
    assert written - wanted == Counter()
    assert sum((wanted - written).values()) <= 2


def test_each_is_written_with_the_segment_it_was_lost_on(
    written: dict[str, Written], tmp_path: Path
) -> None:
    found = written["3 points"]
    files = [str(found.folder.parent / f"p{at}.pcap") for at in range(3)]
    lost = tmp_path / "lost.pcapng"
    assert run_command(["merge", *files, "--lost", str(lost), "--quiet"]) == 0
    text = lost.read_bytes().decode("latin-1")
    for near, far, direction, _ in found.lost.select(
        "near", "far", "direction", "point"
    ).iter_rows():
        up, down = (near, far) if direction == "forward" else (far, near)
        assert f"lost between {up} and {down}, {direction}" in text
    assert text.count("lost between") == len(found.lost)


def test_a_capture_is_not_replaced_by_what_was_lost(
    written: dict[str, Written], capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(written["3 points"].folder.parent / f"p{at}.pcap") for at in range(3)]
    assert run_command(["merge", *files, "--lost", files[0]]) == 2
    assert "p0.pcap: is one of the captures" in capsys.readouterr().err
    assert run_command(["merge", *files, "--lost", str(Path(files[0]).parent)]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_segments_are_those_of_the_summary(written: dict[str, Written]) -> None:
    found = written["3 points"]
    table = pl.read_parquet(found.folder / "segments.parquet")
    SEGMENTS.check(table)
    rows = found.document["segments"]
    assert table.to_dicts() == [{name: row.get(name) for name in table.columns} for row in rows]
