"""Equal packets of one instant: however many, a merge comes to an end, and guesses none."""

from pathlib import Path

import pytest

import pcaplat
from tests.support.frames import UDP, ip, udp, write_pcap

START_NS, DELAY_NS, GAP_NS = 1_760_000_000 * 10**9, 5_000, 1_000_000
N_PLAIN, N_EQUAL = 500, 40_000
HERE, THERE = "10.0.0.1", "10.0.0.2"


@pytest.mark.parametrize("ident", [0, 77], ids=["no number", "numbered"])
def test_packets_that_equal_each_other_in_one_instant_are_none_of_each_other(
    tmp_path: Path, ident: int
) -> None:
    """Were each compared with each, this would take minutes."""
    at = (START_NS + i * GAP_NS for i in range(N_PLAIN))
    plain = [
        (t_ns, ip(HERE, THERE, UDP, i + 1, 64, udp((5000, 6000), b"%08d" % i)))
        for i, t_ns in enumerate(at)
    ]
    equal = ip(HERE, THERE, UDP, ident, 64, udp((5000, 6000), b"the same"))
    middle_ns = START_NS + N_PLAIN * GAP_NS // 2
    sent = sorted(plain + [(middle_ns, equal)] * N_EQUAL)
    paths = [tmp_path / "near.pcap", tmp_path / "far.pcap"]
    for path, delay_ns in zip(paths, [0, DELAY_NS], strict=True):
        write_pcap(path, [(t_ns + delay_ns, frame) for t_ns, frame in sent])
    with pcaplat.merge(paths, same_clock=["all"]) as result:
        [segment] = [one for one in result.document["segments"] if one["n"]]
        matching = result.document["matching"]
    assert segment["n"] == N_PLAIN
    assert segment["mean_ns"] == segment["max_ns"] == DELAY_NS
    assert matching["n_matched"] == 2 * N_PLAIN
    assert matching["n_ambiguous"] == 2 * N_EQUAL


@pytest.mark.parametrize("share", [2, 10])
def test_equal_packets_at_one_pace_are_not_paired_with_their_neighbours(
    tmp_path: Path, share: int
) -> None:
    """Each takes as long as any other, and as long as the gap to the next may be, or half of it."""
    for gap_ns in (DELAY_NS, 2 * DELAY_NS, 4 * DELAY_NS):
        sent = [
            (START_NS + i * gap_ns, ip(HERE, THERE, UDP, *numbered(i, share))) for i in range(2_000)
        ]
        paths = [tmp_path / "near.pcap", tmp_path / "far.pcap"]
        for path, delay_ns in zip(paths, [0, DELAY_NS], strict=True):
            write_pcap(path, [(t_ns + delay_ns, frame) for t_ns, frame in sent])
        with pcaplat.merge(paths, same_clock=["all"]) as result:
            matches = result.matches.collect()
        assert matches.height >= 2_000 // share
        assert (matches["up_frame"] == matches["down_frame"]).all()


def numbered(i: int, share: int) -> tuple[int, int, bytes]:
    """One in so many says which it is, the others are equal."""
    number = i + 1 if i % share == 0 else 0
    return number, 64, udp((5000, 6000), b"%08d" % number)
