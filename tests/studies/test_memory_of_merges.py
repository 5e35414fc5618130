"""What a merge takes of memory does not grow with the captures (bench/memory.py)."""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import pytest

from tests.conftest import ROOT

SPEC = spec_from_file_location("memory", ROOT / "bench" / "memory.py")
assert SPEC
assert SPEC.loader
memory = sys.modules["memory"] = module_from_spec(SPEC)
SPEC.loader.exec_module(memory)
MORE_MB = 40.0
"""Between n and four times n packets, where the window, the flows and the path are the same."""

PAIR_BYTES = 60
"""Of each pair of addresses it is remembered to the end whether its packets get anywhere."""

N_PACKETS = 100_000
N_FOR_SECONDS = 250_000
BY_WINDOW = {"one flow", "equal packets", "cut and joined", "translated"}
BY_SECONDS = {"a flow a packet", "a flow a packet, --lost-after 1s"}
UNMATCHED = {"99 % leftovers"}


def sizes(name: str, n: int) -> Any:  # noqa: ANN401 - rows of numbers
    """Asked of a small process: what it starts has held no less than itself."""
    command = [sys.executable, str(ROOT / "bench" / "memory.py"), "--sizes", name, f"{n}"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_WINDOW))
def test_memory_is_that_of_the_window(name: str) -> None:
    (small_mb, _, _), (large_mb, _, found) = sizes(name, N_PACKETS)
    assert large_mb < small_mb + MORE_MB
    assert found > 0.9  # what matched nothing would take no memory


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(UNMATCHED))
def test_what_is_seen_at_one_point_takes_no_more_memory(name: str) -> None:
    (small_mb, _, _), (large_mb, _, found) = sizes(name, N_PACKETS)
    assert large_mb < small_mb + MORE_MB
    assert found < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(BY_SECONDS))
def test_flows_and_a_long_window_are_remembered_for_seconds(name: str) -> None:
    (small_mb, _, _), (large_mb, _, found) = sizes(name, N_FOR_SECONDS)
    assert large_mb < small_mb + MORE_MB
    assert found > 0.9


@pytest.mark.slow
def test_a_pair_of_addresses_takes_a_few_bytes() -> None:
    (small_mb, _, _), (large_mb, _, found) = sizes("two addresses a packet", N_FOR_SECONDS)
    n_more = 3 * memory.CASES["two addresses a packet"][2] * N_FOR_SECONDS
    assert large_mb < small_mb + MORE_MB + n_more * PAIR_BYTES / 1e6
    assert found > 0.9


def test_every_case_is_tested() -> None:
    assert {*BY_WINDOW, *BY_SECONDS, *UNMATCHED, "two addresses a packet"} == set(memory.CASES)
