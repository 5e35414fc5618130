"""Retransmissions: bytes that their sender sent before, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from pcaplat.tracing.flow import TcpSegment

SEQUENCE = st.integers(0, 2**32 - 1)
LENGTH = st.integers(1, 65_535)


@given(SEQUENCE, LENGTH, LENGTH)
def test_what_follows_was_not_sent_and_what_was_sent_was(first: int, n: int, more: int) -> None:
    one = TcpSegment("ACK", first, n)
    following = TcpSegment("ACK", one.end, more)
    assert not following.was_sent(one.end)
    assert one.was_sent(one.end)
    assert one.was_sent(following.end)
    assert not one.was_sent(None)


def test_a_syn_takes_a_sequence_number_and_carries_no_byte() -> None:
    syn = TcpSegment("SYN,ACK", 7, 0)
    assert (syn.end, syn.was_sent(syn.end)) == (8, True)
    assert syn.label == "SYN,ACK seq 7, 0 bytes"


@given(SEQUENCE)
def test_an_acknowledgment_alone_repeats_nothing(first: int) -> None:
    assert not TcpSegment("ACK", first, 0).was_sent(first)
