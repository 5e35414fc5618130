"""Which files a thread reads one after the other: those of equal points that follow each other."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pcaplat.model.files.sequences import sequences
from tests.support.capture_facts import facts, interface

Span = tuple[int, int, int]
"""A file's point, its first and its last stamp."""


def divided(spans: list[Span]) -> list[list[int]]:
    of_files = [facts(interface(first_t_ns=at, last_t_ns=end)) for _, at, end in spans]
    return sequences(of_files, [[point] for point, _, _ in spans])


def test_rotated_files_are_one_sequence_in_order_of_time() -> None:
    assert divided([(0, 20, 30), (1, 0, 30), (0, 0, 10), (0, 10, 20)]) == [[1], [2, 3, 0]]


def test_files_that_overlap_are_read_side_by_side() -> None:
    assert divided([(0, 0, 10), (0, 5, 15), (0, 11, 20), (0, 16, 30)]) == [[0, 2], [1, 3]]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 50), st.integers(0, 20)), max_size=12))
def test_every_file_is_in_one_sequence_of_its_point_and_none_overlap(
    given: list[tuple[int, int, int]],
) -> None:
    spans = [(point, at, at + length) for point, at, length in given]
    found = divided(spans)
    assert sorted(file for sequence in found for file in sequence) == list(range(len(spans)))
    for sequence in found:
        assert len({spans[file][0] for file in sequence}) == 1
        ends = [(spans[file][1], spans[file][2]) for file in sequence]
        assert all(one[1] <= other[0] for one, other in pairwise(ends))
