"""Which packets are sent along the path, and where each is seen when."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from sets.recipes import Recipe

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

START_NS = 1_760_000_000_000_000_000
MEAN_GAP_NS = 5_000
PAUSE_NS = 200_000
"""Between two batches; longer than a packet is under way, so files stay in order."""

FORWARD_SHARE = 0.55
UNDER_WAY = 3  # packets of a flow's other direction, so many of the latest, are not heard yet
PIECE_GAP_NS = 1_200
SEGMENT_NS = ((2_000, 600), (7_000, 1_500))  # in turn: the floor, and the mean of what is on top
CLOCKS = ((0, 0.0), (1_200_000, 3e-6), (-800_000, -2e-6))  # in turn: offset in ns, drift


@dataclass(frozen=True)
class Traffic:
    """What was sent, one value a packet, in order of sending; forward: from the first point."""

    sent_ns: Ints
    flow: Ints
    forward: Flags
    size: Ints  # which of the recipe's payloads
    piece: Ints  # of how many that the first point has as one frame, which
    n_pieces: Ints
    turn: Ints  # the how-manieth packet of its flow and direction
    heard: Ints  # so many of the other direction had been heard


@dataclass(frozen=True)
class Passing:
    """When each packet passes a point, in true time; whether it got there; whether it was seen."""

    at_ns: Ints
    arrived: Flags
    seen: Flags
    twice: Flags


@dataclass
class Sender:
    """Draws traffic batch after batch; remembers what each flow has sent."""

    recipe: Recipe
    random: np.random.Generator
    now_ns: int = START_NS
    n_sent: Ints = field(init=False)  # by direction and flow

    def __post_init__(self) -> None:
        self.n_sent = np.zeros((2, self.recipe.n_flows), np.int64)

    def send(self, n_packets: int) -> Traffic:
        """Draw when packets leave, of which flow and direction; a flow's opener sends first."""
        recipe, random = self.recipe, self.random
        mean_pieces = 1 + (recipe.n_joined - 1) * FORWARD_SHARE * recipe.payload_shares[-1]
        n_drawn = round(n_packets / mean_pieces)
        flow = random.integers(0, recipe.n_flows, n_drawn)
        forward = random.random(n_drawn) < FORWARD_SHARE
        opens = np.unique(flow, return_index=True)[1]
        forward[opens[self.n_sent[:, flow[opens]].sum(axis=0) == 0]] = True
        size = random.choice(len(recipe.payload_shares), n_drawn, p=recipe.payload_shares)
        gaps_ns = random.exponential(MEAN_GAP_NS, n_drawn).astype(np.int64) + 100
        is_joined = forward & ~is_udp(flow, recipe) & (size == len(recipe.payload_shares) - 1)
        n_pieces = np.where(is_joined, recipe.n_joined, 1)
        gaps_ns += (n_pieces - 1) * PIECE_GAP_NS
        sent_ns = self.now_ns + np.cumsum(gaps_ns)
        whole = np.repeat(np.arange(n_drawn), n_pieces)
        piece = np.arange(len(whole)) - np.repeat(np.cumsum(n_pieces) - n_pieces, n_pieces)
        self.now_ns = int(sent_ns[-1]) + PAUSE_NS
        turn, heard = self._counted(flow[whole], forward[whole])
        return Traffic(
            sent_ns[whole] + piece * PIECE_GAP_NS,
            flow[whole],
            forward[whole],
            size[whole],
            piece,
            n_pieces[whole],
            turn,
            heard,
        )

    def _counted(self, flow: Ints, forward: Flags) -> tuple[Ints, Ints]:
        """Count the packets of each flow by direction, up to each packet."""
        order = np.argsort(flow, kind="stable")
        starts = np.flatnonzero(np.diff(flow[order], prepend=-1))
        lengths = np.diff(starts, append=len(flow))
        counts = []
        for way, is_way in enumerate((~forward, forward)):
            total = np.cumsum(is_way[order])
            before = total[starts] - is_way[order][starts]
            count = np.empty_like(flow)
            count[order] = total - np.repeat(before, lengths)
            counts.append(count + self.n_sent[way, flow])
        for way, is_way in enumerate((~forward, forward)):
            self.n_sent[way] += np.bincount(flow[is_way], minlength=self.recipe.n_flows)
        n_back, n_there = counts
        turn = np.where(forward, n_there, n_back) - 1
        return turn, np.maximum(np.where(forward, n_back, n_there) - UNDER_WAY, 0)


def is_udp(flow: Ints, recipe: Recipe) -> Flags:
    """A quarter of the flows is UDP."""
    return flow < recipe.n_flows // 4


def travel(random: np.random.Generator, traffic: Traffic, recipe: Recipe) -> list[Passing]:
    """Let the packets go along the path; give where they pass, by point."""
    n_points, n_packets = len(recipe.points), len(traffic.flow)
    at_ns = [traffic.sent_ns.copy() for _ in range(n_points)]
    arrived = [np.ones(n_packets, np.bool_) for _ in range(n_points)]
    for forward in (True, False):
        mine = traffic.forward == forward
        order = range(n_points) if forward else range(n_points - 1, -1, -1)
        for up, down in itertools.pairwise(order):
            floor_ns, tail_ns = SEGMENT_NS[min(up, down) % len(SEGMENT_NS)]
            took_ns = floor_ns + random.exponential(tail_ns, n_packets).astype(np.int64)
            came = arrived[up] & (random.random(n_packets) >= recipe.lost_share)
            at_ns[down][mine], arrived[down][mine] = (at_ns[up] + took_ns)[mine], came[mine]
    passings = []
    for at in range(n_points):
        seen = arrived[at] & ((at > 0) | (traffic.piece == 0))
        if at == 1 and recipe.dropped_share:
            seen &= random.random(n_packets) >= recipe.dropped_share
        twice = seen & (random.random(n_packets) < recipe.twice_share)
        passings.append(Passing(at_ns[at], arrived[at], seen, twice))
    return passings


def local_ns(at_ns: Ints, point: int) -> Ints:
    """Tell true time by a point's clock."""
    offset_ns, drift = CLOCKS[point % len(CLOCKS)]
    return at_ns + offset_ns + ((at_ns - START_NS) * drift).astype(np.int64)


@dataclass
class Truth:
    """How many frames each point has, how many packets cross each segment, how many are lost."""

    recipe: Recipe
    n_frames: Counter[str] = field(default_factory=Counter)
    counts: Counter[tuple[int, bool, str]] = field(default_factory=Counter)

    def add(self, traffic: Traffic, passings: list[Passing]) -> None:
        """Count a batch."""
        for name, passing in zip(self.recipe.points, passings, strict=True):
            self.n_frames[name] += int(passing.seen.sum() + passing.twice.sum())
        for near, forward in itertools.product(range(len(passings) - 1), (True, False)):
            mine = traffic.forward == forward
            ends = passings[near : near + 2]
            up, down = ends if forward else reversed(ends)
            self.counts[near, forward, "n"] += int((mine & up.seen & down.seen).sum())
            self.counts[near, forward, "n_lost"] += int((mine & up.arrived & ~down.arrived).sum())

    def document(self) -> dict[str, Any]:
        """Give what is written down."""
        # frames that hold several segments are counted otherwise
        segments = list(self._segments()) if self.recipe.n_joined == 1 else []
        return {"n_frames": dict(self.n_frames), "segments": segments}

    def _segments(self) -> Iterator[dict[str, Any]]:
        points = self.recipe.points
        for near, forward in itertools.product(range(len(points) - 1), (True, False)):
            names = {"near": points[near], "far": points[near + 1]}
            way = {"direction": "forward" if forward else "reverse"}
            yield names | way | {key: self.counts[near, forward, key] for key in ("n", "n_lost")}
