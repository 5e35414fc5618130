"""Runs of a client and a server that take turns, as captures of two points with one clock."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from tests.support.dialogues import ACK, PSH, SYN, tcp
from tests.support.frames import TCP, UDP, ip, udp, write_pcap

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

START_NS = 1_760_000_000_000_000_000
CLIENT, SERVER = "10.0.0.2", "10.0.0.1"
PORTS = (40_000, 7)
POINTS = ("near", "far")


@dataclass(frozen=True)
class RequestRun:
    """A client behind `near` and a server behind `far`: each request is answered at once or later.

    `run_ns` is what all packets of the run take longer, half of it each way.
    """

    forward_ns: float = 6_000.0
    reverse_ns: float = 6_000.0
    run_ns: float = 0.0
    noise_ns: float = 400.0
    service_ns: int = 50_000
    gap_ns: int = 100_000
    n: int = 300
    n_bytes: int = 64
    protocol: int = UDP
    start_ns: int = START_NS
    seed: int = 1
    every_nth_lost: int = 0
    ports: tuple[int, int] = PORTS
    has_syn: bool = True
    """Of TCP: the first request opens the connection."""

    def save(self, folder: Path, n_missed_by_far: int = 0) -> Path:
        """Write near.pcap and far.pcap; `far` began to capture so many packets late."""
        folder.mkdir(parents=True, exist_ok=True)
        seen: tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]] = ([], [])
        for number, (there, back) in enumerate(self.latencies_ns()):
            self._take_turns(number, int(there), int(back), seen)
        for name, frames, n_missed in zip(POINTS, seen, (0, n_missed_by_far), strict=True):
            write_pcap(folder / f"{name}.pcap", sorted(frames)[n_missed:])
        return folder

    def latencies_ns(self) -> Floats:
        """What each request and each response takes."""
        chance = np.random.default_rng(self.seed)
        means = np.array([self.forward_ns, self.reverse_ns]) + self.run_ns / 2
        return np.asarray(means + self.noise_ns * (chance.exponential(size=(self.n, 2)) - 1))

    def _take_turns(
        self, number: int, there: int, back: int, seen: tuple[list[tuple[int, bytes]], ...]
    ) -> None:
        sent_ns = self.start_ns + number * self.gap_ns
        near, far = seen
        near.append((sent_ns, self._frame(number, is_request=True)))
        if self.every_nth_lost and number % self.every_nth_lost == self.every_nth_lost - 1:
            return
        came_ns = sent_ns + there
        answered_ns = came_ns + self.service_ns
        response = self._frame(number, is_request=False)
        far += [(came_ns, near[-1][1]), (answered_ns, response)]
        near.append((answered_ns + back, response))

    def _frame(self, number: int, *, is_request: bool) -> bytes:
        side = 1 if is_request else -1
        src, dst = (CLIENT, SERVER)[::side]
        ports = self.ports if is_request else self.ports[::-1]
        word = f"{self.seed} {number} {side}".encode()
        payload = word.ljust(self.n_bytes, b".")[: self.n_bytes]
        if self.protocol == UDP:
            return ip(src, dst, UDP, (2 * number + is_request) & 0xFFFF, 64, udp(ports, payload))
        start = 0x9E3779B1 * self.seed & 0x7FFFFFFF
        seq = start + number * self.n_bytes
        ack = start + (number + (not is_request)) * self.n_bytes
        is_first = number == 0 and is_request and self.has_syn
        flags = SYN if is_first else ACK | PSH
        return ip(src, dst, TCP, 2 * number + is_request, 64, tcp(ports, seq, ack, flags, payload))


@dataclass(frozen=True)
class RequestStudy:
    """Runs of the scenarios plain and slow; the latter takes `effect_ns` longer, there and back.

    `run_sd_ns` is how much runs differ by chance, `round_sd_ns` what the runs of a round share, and
    `step_ns` what the second half of the study takes longer.
    """

    effect_ns: float = 4_000.0
    n_runs: int = 6
    order: str = "interleaved"
    run_sd_ns: float = 300.0
    round_sd_ns: float = 0.0
    step_ns: float = 0.0
    seed: int = 1
    like: RequestRun = field(default_factory=RequestRun)

    def save(self, folder: Path) -> dict[str, Path]:
        """Write each run into SCENARIO/runN; give the folders of the scenarios."""
        chance = np.random.default_rng(self.seed)
        rounds_ns = self.round_sd_ns * chance.normal(size=self.n_runs)
        count = dict.fromkeys(("plain", "slow"), 0)
        for place, name in enumerate(self._names()):
            run_ns = self.run_sd_ns * chance.normal() + rounds_ns[count[name]]
            run_ns += self.effect_ns * (name == "slow") + self.step_ns * (place >= self.n_runs)
            start_ns = START_NS + place * 60 * 10**9
            one = replace(
                self.like, run_ns=run_ns, start_ns=start_ns, seed=1000 * self.seed + place
            )
            one.save(folder / name / f"run{count[name]}")
            count[name] += 1
        return {name: folder / name for name in count}

    def _names(self) -> list[str]:
        if self.order == "row":
            return ["plain"] * self.n_runs + ["slow"] * self.n_runs
        return ["plain", "slow"] * self.n_runs
