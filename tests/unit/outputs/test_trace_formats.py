"""Perfetto, OTLP and OpenMetrics: their own libraries read what is written, and find it whole."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import pcaplat
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = sorted(str(path) for path in (ROOT / "samples" / "vxlan").glob("*.pcap"))


def written(name: str) -> bytes:
    command = [sys.executable, "-m", "pcaplat", "merge", *SAMPLE, "--same-clock", "all"]
    done = subprocess.run([*command, "--format", name], capture_output=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def matches() -> list[dict[str, Any]]:
    with pcaplat.merge(SAMPLE, same_clock=["all"]) as result:
        times = result.packets.select(up_file="file", up_frame="frame", up_ns="aligned_ns")
        joined = result.matches.join(times, on=["up_file", "up_frame"]).collect()
    return joined.filter(pl.col("latency_ns").is_not_null()).to_dicts()


def test_perfetto_reads_a_slice_for_each_crossing(matches: list[dict[str, Any]]) -> None:
    trace = Trace()
    trace.ParseFromString(written("perfetto"))
    tracks, parents, opened = {}, {}, {}
    slices: Counter[tuple[str, int, int, int]] = Counter()
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        if packet.HasField("track_descriptor"):
            told = packet.track_descriptor
            tracks[told.uuid], parents[told.uuid] = told.name, told.parent_uuid
        elif packet.track_event.type == TrackEvent.TYPE_SLICE_BEGIN:
            assert packet.track_event.track_uuid not in opened, "slices on one track overlap"
            opened[packet.track_event.track_uuid] = packet
        else:
            start = opened.pop(packet.track_event.track_uuid)
            [flow] = start.track_event.flow_ids
            span_ns = packet.timestamp - start.timestamp
            assert tracks[packet.track_event.track_uuid] == start.track_event.name
            slices[start.track_event.name, flow, start.timestamp, span_ns] += 1
    assert opened == {}
    wanted = Counter(
        (
            f"{row['up_point']} → {row['down_point']}",
            row["trajectory_id"],
            row["up_ns"],
            int(row["latency_ns"]),
        )
        for row in matches
    )
    assert slices == wanted
    assert len([uuid for uuid, parent in parents.items() if not parent]) == 10


def test_otlp_reads_a_trace_for_each_packet(matches: list[dict[str, Any]]) -> None:
    segments, roots = Counter[tuple[str, int, int]](), 0
    traces: dict[bytes, set[bytes]] = {}
    for line in written("otlp").decode("ascii").splitlines():
        # OTLP writes ids as hexadecimal digits, where protobuf's JSON has base64
        document = json.loads(line)
        ids = [
            (span["traceId"], span["spanId"])
            for of in document["resourceSpans"]
            for scope in of["scopeSpans"]
            for span in scope["spans"]
        ]
        assert all((len(trace), len(span)) == (32, 16) for trace, span in ids)
        data = json_format.Parse(line, TracesData())
        for span in data.resource_spans[0].scope_spans[0].spans:
            known = traces.setdefault(span.trace_id, set())
            assert span.span_id not in known
            known.add(span.span_id)
            if not span.parent_span_id:
                roots += 1
                continue
            assert span.parent_span_id in known
            start_ns, end_ns = span.start_time_unix_nano, span.end_time_unix_nano
            segments[span.name, start_ns, end_ns - start_ns] += 1
    wanted = Counter(
        (f"{row['up_point']} → {row['down_point']}", row["up_ns"], int(row["latency_ns"]))
        for row in matches
    )
    assert segments == wanted
    assert roots == len(traces) == len({row["trajectory_id"] for row in matches})


def test_openmetrics_reads_the_segments() -> None:
    with pcaplat.merge(SAMPLE, same_clock=["all"]) as result:
        segments = {
            (row["near"], row["far"], row["direction"]): row
            for row in result.document["segments"]
            if row["class"] == "packet"
        }
    text = written("openmetrics").decode()
    read = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    families = {family.name: family for family in read}
    latency = families["pcaplat_segment_latency_seconds"]
    assert (latency.type, latency.unit) == ("histogram", "seconds")
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for sample in latency.samples:
        key = tuple(sample.labels[name] for name in ("near", "far", "direction"))
        if sample.labels.get("le", "+Inf") == "+Inf":
            found.setdefault(sample.name.rpartition("_")[2], {})[key] = sample.value
    assert found["count"] == found["bucket"] == {key: row["n"] for key, row in segments.items()}
    for key, row in segments.items():
        assert found["sum"][key] == pytest.approx(row["mean_ns"] * row["n"] / 1e9, rel=1e-9)
    lost = families["pcaplat_segment_lost_packets"].samples
    assert sum(sample.value for sample in lost) == sum(row["n_lost"] for row in segments.values())


def test_nothing_of_them_is_kept_for_later(tmp_path: Path) -> None:
    """One format is one file: a folder of results has none of the three."""
    with pcaplat.merge(SAMPLE, same_clock=["all"]) as result:
        pcaplat.write(result, tmp_path / "out")
    assert not {"perfetto", "otlp"} & {path.stem for path in (tmp_path / "out").iterdir()}
