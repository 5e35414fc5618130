"""What a merge takes of memory does not grow with the captures (bench/memory.py)."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

from tests.conftest import ROOT

SPEC = spec_from_file_location("memory", ROOT / "bench" / "memory.py")
assert SPEC
assert SPEC.loader
memory = sys.modules["memory"] = module_from_spec(SPEC)
SPEC.loader.exec_module(memory)
sizes = memory.sizes

MORE_MB = 40.0
"""Between n and four times n packets, where the window, the flows and the path are the same."""

FLOW_BYTES = 300
"""Each flow that is seen is remembered: whether its addresses get anywhere."""

N_PACKETS = 100_000
BY_WINDOW = {"one flow", "equal packets", "cut and joined", "translated"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_WINDOW))
def test_memory_is_that_of_the_window(name: str) -> None:
    (small_mb, _, _), (large_mb, _, found) = sizes(name, N_PACKETS)
    assert large_mb < small_mb + MORE_MB
    assert found > 0.9  # what matched nothing would take no memory


@pytest.mark.slow
def test_a_flow_takes_a_few_bytes() -> None:
    (small_mb, _, _), (large_mb, _, found) = sizes("a flow a packet", N_PACKETS)
    assert large_mb < small_mb + MORE_MB + 3 * N_PACKETS * FLOW_BYTES / 1e6
    assert found > 0.9


@pytest.mark.slow
def test_a_long_window_holds_its_packets_and_no_more() -> None:
    # 400,000 packets are two windows of 1 s already
    (small_mb, _, _), (large_mb, _, found) = sizes("one flow, --window 1s", 4 * N_PACKETS)
    assert large_mb < small_mb + 2 * MORE_MB
    assert found > 0.9


def test_every_case_is_tested() -> None:
    assert {*BY_WINDOW, "a flow a packet", "one flow, --window 1s"} == set(memory.CASES)
