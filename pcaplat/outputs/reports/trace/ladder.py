"""A ladder: the points as columns, time downward, a line for each packet."""

from collections.abc import Sequence

from pcaplat.tables.columns import Row
from pcaplat.units import format_in, unit_for

TIME_COLUMNS = 12
LEAST_GAP, MOST_GAP = 7, 24
LEAST_LABEL = 16
"""So many columns of text a label keeps, at the cost of the gaps between points."""
SEEN, RIGHT, LEFT, LINE, LIFE, CROSSED = "●", "▶", "◀", "─", "│", "┼"
LOST, UNKNOWN, DASH, CUT = "✕", "?", "╌", "…"
OPEN = ("ambiguous", "unmatched")


def ladder_lines(flow: Row, width: int) -> list[str]:
    """Draw a flow for so many columns of text."""
    points = flow["points"]
    first_ns = flow["packets"][0]["t_ns"] if flow["packets"] else 0
    unit = unit_for([flow["packets"][-1]["t_ns"] - first_ns] if flow["packets"] else [])
    latencies = [row["latency_ns"] for packet in flow["packets"] for row in packet["segments"]]
    own = unit_for([latency for latency in latencies if latency is not None])
    texts = [format_in(latency, own) for latency in latencies]
    labels = [", ".join([*marks(packet), packet["label"]]) for packet in flow["packets"]]
    gap = _gap(points, texts, labels, width)
    places = {point: at * gap for at, point in enumerate(points)}
    head = f"{'time, ' + unit:<{TIME_COLUMNS}}"
    names = "".join(point[: gap - 1].ljust(gap) for point in points)
    lines = [f"{head}{names} latencies in {own}"]
    for packet, label in zip(flow["packets"], labels, strict=True):
        time = format_in(packet["t_ns"] - first_ns, unit).rjust(TIME_COLUMNS - 2)
        lines.append(f"{time}  {_arrows(packet, places, own)}  {label}")
    return [line if len(line) <= width else line[: width - 1] + CUT for line in lines]


def _gap(points: Sequence[str], latencies: Sequence[str], labels: Sequence[str], width: int) -> int:
    """Give the columns between points: room for names and latencies first, then for labels."""
    n_gaps = max(len(points) - 1, 1)
    names = max((len(point) + 1 for point in points), default=0)
    needed = max(names, max(map(len, latencies), default=0) + 3)
    longest = max(map(len, labels), default=0)
    around = TIME_COLUMNS + 3  # the last point, and the space before the label
    with_labels = (width - around - longest) // n_gaps
    at_most = (width - around - LEAST_LABEL) // n_gaps
    return min(max(with_labels, min(needed, at_most), LEAST_GAP), MOST_GAP)


def _arrows(packet: Row, places: dict[str, int], unit: str) -> str:
    cells = [" "] * (max(places.values(), default=0) + 1)
    for place in places.values():
        cells[place] = LIFE
    for segment in packet["segments"]:
        ends = [places.get(segment[f"{end}_point"]) for end in ("up", "down")]
        if None not in ends:
            text = format_in(segment["latency_ns"], unit)
            _draw(cells, [end for end in ends if end is not None], text)
    for seen in packet["sightings"]:
        at = places.get(seen["point"])
        if at is not None:
            cells[at] = SEEN
    _draw_end(cells, packet, places)
    return "".join(cells)


def _draw(cells: list[str], ends: Sequence[int], text: str) -> None:
    """Draw an arrow from the one place to the other, with a text in its middle."""
    start, end = ends
    left, right = sorted(ends)
    for at in range(left + 1, right):
        cells[at] = CROSSED if cells[at] == LIFE else LINE
    if end > start:
        cells[end - 1] = RIGHT
    else:
        cells[end + 1] = LEFT
    if len(text) <= right - left - 3:
        first = (left + right - len(text) + 1) // 2
        cells[first : first + len(text)] = text


def _draw_end(cells: list[str], packet: Row, places: dict[str, int]) -> None:
    """Mark where a packet was lost, or where it was seen last before the path's end."""
    known = [places[row["point"]] for row in packet["sightings"] if row["point"] in places]
    if not known or packet["direction"] is None:
        return
    is_forward = packet["direction"] == "forward"
    last = max(known) if is_forward else min(known)
    step = 1 if is_forward else -1
    is_end = last == (max if is_forward else min)(places.values())
    if is_end and not packet["lost"]:
        return
    mark = [DASH, DASH, LOST if packet["lost"] else UNKNOWN]
    for n, sign in enumerate(mark, 1):
        at = last + step * n
        if 0 <= at < len(cells) and cells[at] in {" ", LIFE}:
            cells[at] = sign


def marks(packet: Row) -> list[str]:
    """Say what is unusual about a packet."""
    found = [
        *["retransmission"] * packet["is_retransmission"],
        *["lost"] * bool(packet["lost"]),
        *["duplicated"] * any(row["status"] == "duplicate" for row in packet["sightings"]),
    ]
    if not packet["segments"] and not found:
        found += [row["status"] for row in packet["sightings"] if row["status"] in OPEN]
    return found
