"""Round trips of requests and responses, against what the lab's client logged itself."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest

import pcaplat
from tests.captures.lab_merge import captures_of
from tests.support.shelf import lab_set

NEEDS_LAB = pytest.mark.skipif(not lab_set("l2").exists(), reason="the lab captures are not here")


@NEEDS_LAB
@pytest.mark.parametrize("kind", ["rr", "crr", "udp"])
@pytest.mark.parametrize("name", ["l2", "vxlan", "vxlan-routed", "vxlan-dfw100"])
def test_the_lab_s_client_took_a_little_longer_than_its_port_saw(name: str, kind: str) -> None:
    with (lab_set(name) / f"transactions-{kind}.csv").open() as lines:
        log = [(int(row["start_ns"]), int(row["end_ns"])) for row in csv.DictReader(lines)]
    times = [f"{t // 10**9}.{t % 10**9:09d}" for t in (log[1][0] - 1_000, log[-1][1] + 1_000)]
    files = list(captures_of(lab_set(name)).values())
    only = "udp" if kind == "udp" else "tcp"
    options: dict[str, Any] = {"start": times[0], "end": times[1], "bpf": only}
    with pcaplat.merge(files, same_clock=["all"], keep_rows=False, **options) as result:
        document = result.document
    wanted = "udp-transaction" if kind == "udp" else "tcp-transaction"
    (row,) = (
        row
        for row in document["transaction_times"]
        if (row["kind"], row["side"]) == (wanted, "client")
    )
    assert row["n"] in range(len(log) - 3, len(log) + 1)
    lasted_ns = np.mean([end - start for start, end in log[1:]])
    if kind != "crr":  # there the client's transaction has a handshake in it
        assert 2_000 < lasted_ns - row["mean_ns"] < 45_000
    check = document["transaction_check"]
    assert check["difference_ns"] == pytest.approx(0, abs=1e-6)
