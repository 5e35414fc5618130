"""Files that follow each other in time: those of a rotated capture are read one after the other.

A thread reads a sequence, so that eight points of a hundred files each take as many threads, open
files and blocks in waiting as eight files.
"""

from collections.abc import Sequence

from pcaplat.model.sampled import FileFacts


def sequences(
    facts: Sequence[FileFacts], point_of: Sequence[Sequence[int | None]]
) -> list[list[int]]:
    """Divide the files into sequences, each of files of equal points that do not overlap in time.

    Args:
        facts: Of each file.
        point_of: Per file and part of it, the point.

    Returns:
        Indices of files, in order of time within each sequence.
    """
    found: list[list[int]] = []
    ends: list[tuple[tuple[int, ...], int]] = []  # of each sequence: its points, its last stamp
    for first_ns, last_ns, file in sorted(_span(one, i) for i, one in enumerate(facts)):
        points = tuple(sorted({one for one in point_of[file] if one is not None}))
        free = (i for i, (of, end_ns) in enumerate(ends) if of == points and end_ns <= first_ns)
        at = next(free, len(found))
        if at == len(found):
            found.append([])
            ends.append((points, last_ns))
        found[at].append(file)
        ends[at] = (points, last_ns)
    return sorted(found)


def _span(facts: FileFacts, file: int) -> tuple[int, int, int]:
    """First and last stamp of a file; one without a frame begins and ends at 0."""
    seen = [one for one in facts.interfaces if one.n_frames]
    return (
        min((one.first_t_ns for one in seen), default=0),
        max((one.last_t_ns for one in seen), default=0),
        file,
    )
