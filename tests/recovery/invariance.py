"""Makes docs/evaluation/invariance.md: `python -m tests.recovery.invariance`.

Every kind of traffic of the simulator and every network, at several sizes and seeds: does the
answer stay the same? With numbers, only these sizes; with names of kinds, their rows on stdout.
What was measured is kept in out/invariance.jsonl, and not measured again.
"""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

# a process each core: threads of the linear algebra beside them only wait for each other
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import pcaplat
from pcaplat.errors import PcaplatError
from tests.recovery.networks import KINDS
from tests.recovery.networks.judge import (
    ABOUT_LOSS,
    Merged,
    edges_wrong,
    lost_wrong,
    means_wrong,
    merge_kind,
    order_wrong,
    pairs_wrong,
    segments_wrong,
)
from tests.recovery.simulator.__main__ import scored
from tests.recovery.simulator.effects import ALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.recovery.simulator import Score

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evaluation" / "invariance.md"
KEPT = ROOT / "out" / "invariance.jsonl"
SIZES, SEEDS = (1_000, 5_000, 20_000), range(1, 6)
LONG = {
    200_000: (
        *("plain", "vxlan", "loss", "reordering", "SNAT", "ECMP", "some copies"),
        *("network: star of 4", "network: tree of 3 receivers", "network: another way back"),
    ),
    1_000_000: ("plain", "loss", "network: star of 4"),
}
"""Kinds that are measured at greater sizes too."""

CLEAN = ("plain", "vxlan", "vxlan on port 8472", "geneve", "routed", "DSCP rewritten", "2 points")
CLEAN_NETWORKS = ("star of", "tree of", "ECMP, spines seen both ways", "pairs one way only")
"""Kinds with nothing that anybody need be warned of, where there is one clock."""

FAR = 3
"""A figure is far off where it is by more than so many half-widths."""

WITHOUT_INTERVAL = 0.01
"""Means of too few packets for an interval may be off by so much: some packets are ambiguous."""

QUESTIONS = ("order", "direction", "loss", "means")
HEAD = """# Invariance

Made by `make invariance` from simulated captures whose truth is known. Kinds of traffic pass a path
of five points (`tests/recovery/simulator`). Networks have other shapes
(`tests/recovery/networks`), a common clock or clocks of their own. A kind whose answer changes with
size or seed is a mistake of pcaplat. Cells count the runs with the right answer. In `open` runs the
answer is not right, and a warning reports that it is not known.

| column | meaning |
| --- | --- |
| order | points in the order in which packets pass them, and the edges that exist |
| direction | no packet is upstream where it was later |
| loss | each segment's loss is what happened, or in its interval |
| means | each segment's mean is within its clock's half-width or its interval |
| wrong pairs | pairs of frames that carry two different packets |
| far off | figures that are wrong by more than three half-widths, without any warning |
| intervals | intervals of 95 % of means that miss the truth, of all |
| warnings | codes, and in how many runs |
"""


@dataclass
class Answer:
    """What one merge answered: per question `right`, `open` or `wrong`; counts, and warnings."""

    kind: str
    n_packets: int
    seed: int
    order: str = "right"
    direction: str = "right"
    loss: str = "right"
    means: str = "right"
    n_wrong_pairs: int = 0
    n_far: int = 0
    n_intervals: int = 0
    n_missed: int = 0
    codes: list[str] = field(default_factory=list)
    error: str = ""


def answer(kind: str, n_packets: int, seed: int) -> Answer:
    """Simulate, merge, and put the result beside the truth."""
    made = Answer(kind, n_packets, seed)
    with TemporaryDirectory(prefix="pcaplat-invariance-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", pcaplat.PcaplatWarning)
        try:
            if kind.startswith("network: "):
                name, _, clocks = kind.removeprefix("network: ").partition("; ")
                found = merge_kind(name, n_packets, seed, Path(folder), has_own_clocks=bool(clocks))
                _judge_network(found, made)
            else:
                _judge_score(scored(kind, Path(folder), n_packets, seed), made)
        except PcaplatError as problem:
            made.error = type(problem).__name__
    return made


def _judge_network(found: Merged, made: Answer) -> None:
    warned = found.document["warnings"]
    made.codes = sorted({row["code"] for row in warned})
    asked: dict[str, Any] = {
        "order": [*edges_wrong(found), *order_wrong(found)],
        "direction": found.n_backward or segments_wrong(found),
        "loss": lost_wrong(found),
        "means": means_wrong(found),
    }
    for question, wrong in asked.items():
        if wrong:
            is_said = found.is_open() or (question == "loss" and ABOUT_LOSS in made.codes)
            setattr(made, question, "open" if is_said else "wrong")
    made.n_wrong_pairs = len(pairs_wrong(found))
    made.n_far = 0 if warned else len(means_wrong(found, FAR))
    for edge, row in found.rows.items():
        true_ns = [float(np.mean(each)) for each in found.true_ns(edge) if each]
        _count_interval(made, row, true_ns)


def _judge_score(score: Score, made: Answer) -> None:
    document = score.result.document
    made.codes = sorted({row["code"] for row in document["warnings"]})
    hops = [score.truth.outcome.scenario.hop_of[point] for point in score.path]
    is_complete = len(set(score.path)) == len(score.truth.outcome.scenario.points)
    is_open = any(code in made.codes for code in ("order-assumed", "order-unknown"))
    if not is_complete or hops not in (sorted(hops), sorted(hops, reverse=True)):
        made.order = "open" if is_open else "wrong"
    up, down = score.pairs
    time_ns = score.truth.joined("time_ns")
    if np.any((time_ns[down] < time_ns[up]) & (score.n_shared > 0)):
        made.direction = "open" if is_open else "wrong"
    made.n_wrong_pairs = score.n_wrong
    # on which segment one of equal packets was lost, or one that captures missed, is an estimate
    if not all(each.is_lost_frac_within for each in score.figures if each.n_lost):
        made.loss = "wrong"
    for row, near, far, forward in score.segments():
        true_ns = score.truth.hop(near, far, forward=forward).latencies_ns[row["class"]]
        if len(true_ns) and row["mean_ns"] is not None:
            n_missed = made.n_missed
            _count_interval(made, row, [float(true_ns.mean())])
            known_ns = (row["clock_half_width_ns"] or 0) + WITHOUT_INTERVAL * abs(true_ns.mean())
            is_off = abs(row["mean_ns"] - true_ns.mean()) > known_ns
            is_missed = made.n_missed > n_missed or row["mean_lo_ns"] is None
            made.means = "wrong" if is_off and is_missed and len(true_ns) >= 100 else made.means
            half_ns = max(known_ns, _half_width_ns(row))
            is_far = abs(row["mean_ns"] - true_ns.mean()) > FAR * half_ns
            made.n_far += bool(is_far and not made.codes)


def _half_width_ns(row: dict[str, Any]) -> float:
    low_ns, high_ns = row["mean_lo_ns"], row["mean_hi_ns"]
    return 0.0 if low_ns is None else (high_ns - low_ns) / 2


def _count_interval(made: Answer, row: dict[str, Any], true_ns: Sequence[float]) -> None:
    if row["mean_lo_ns"] is not None and true_ns:
        made.n_intervals += 1
        is_in = (row["mean_lo_ns"] - 1 <= ns <= row["mean_hi_ns"] + 1 for ns in true_ns)
        made.n_missed += not any(is_in)


def kinds() -> list[str]:
    """The simulator's kinds, and networks with a common clock and with clocks of their own."""
    networks = [f"network: {name}{clocks}" for name in KINDS for clocks in ("", "; own clocks")]
    return [*ALL, *networks]


def jobs(sizes: Iterable[int] = (), seeds: Iterable[int] = SEEDS) -> list[tuple[str, int, int]]:
    """Kind, packets and seed of every run; by default all, small ones first."""
    asked = sizes or (*SIZES, *LONG)
    return [
        (kind, n_packets, seed)
        for n_packets in asked
        for seed in seeds
        for kind in LONG.get(n_packets, kinds())
        if n_packets not in LONG or seed == 1
    ]


def measured(asked: Sequence[tuple[str, int, int]]) -> list[Answer]:
    """Measure what is not kept yet."""
    KEPT.parent.mkdir(exist_ok=True)
    lines = KEPT.read_text("utf-8").splitlines() if KEPT.exists() else []
    kept = [Answer(**json.loads(line)) for line in lines]
    known = {(one.kind, one.n_packets, one.seed) for one in kept}
    missing = [job for job in asked if job not in known]
    with ProcessPoolExecutor(mp_context=get_context("fork")) as pool, KEPT.open("a") as file:
        for one in pool.map(answer, *zip(*missing, strict=True)) if missing else ():
            file.write(json.dumps(asdict(one)) + "\n")
            file.flush()
            kept.append(one)
    return [one for one in kept if (one.kind, one.n_packets, one.seed) in {*asked}]


def row(kind: str, answers: Sequence[Answer]) -> str:
    """One line of the table."""
    cells = [kind]
    for question in QUESTIONS:
        counted = Counter(getattr(one, question) for one in answers if not one.error)
        opened = f", {counted['open']} open" if counted["open"] else ""
        cells.append(f"{counted['right']} of {len(answers)}{opened}")
    cells += [
        str(sum(one.n_wrong_pairs for one in answers)),
        str(sum(one.n_far for one in answers)),
    ]
    cells.append(f"{sum(o.n_missed for o in answers)} of {sum(o.n_intervals for o in answers)}")
    codes = Counter(code for one in answers for code in (*one.codes, *filter(None, [one.error])))
    cells.append(", ".join(f"{code} {n}" for code, n in codes.most_common()) or "–")
    return f"| {' | '.join(cells)} |"


def page(answers: Sequence[Answer]) -> Iterator[str]:
    """The whole page: of each size what it all comes to, and a table."""
    yield HEAD
    for n_packets in sorted({one.n_packets for one in answers}, reverse=True):
        yield from _of_size(n_packets, [one for one in answers if one.n_packets == n_packets])


def _of_size(n_packets: int, answers: Sequence[Answer]) -> Iterator[str]:
    n_seeds = len({one.seed for one in answers})
    yield f"\n## {n_packets:,} packets, {n_seeds} {'seeds' if n_seeds > 1 else 'seed'}\n"
    yield from _summary(answers)
    columns = ("kind", *QUESTIONS, "wrong pairs", "far off", "intervals", "warnings")
    yield f"\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"
    for kind in kinds():
        own = [one for one in answers if one.kind == kind]
        if own:
            yield row(kind, own)


def _summary(answers: Sequence[Answer]) -> Iterator[str]:
    n, missed = sum(one.n_intervals for one in answers), sum(one.n_missed for one in answers)
    clean = [one for one in answers if _is_clean(one.kind)]
    warned = [one for one in clean if one.codes]
    wrong = {one.kind for one in answers if "wrong" in (getattr(one, each) for each in QUESTIONS)}
    yield f"- Runs: {len(answers)}; kinds with a wrong answer in any of them: {len(wrong)}."
    yield from (f"  - {kind.replace('stamps', 'timestamps')}" for kind in kinds() if kind in wrong)
    yield f"- Figures far off without a warning: {sum(one.n_far for one in answers)}."
    chance = _at_least(missed, n, 0.05)
    by_chance = f"this or worse by chance: {chance:.2g}"
    yield f"- Intervals of 95 % that miss the truth: {missed} of {n} ({by_chance})."
    yield f"- Clean sets with a warning: {len(warned)} of {len(clean)}."


def _is_clean(kind: str) -> bool:
    name = kind.removeprefix("network: ")
    is_network = name != kind
    return name.startswith(CLEAN_NETWORKS) and ";" not in name if is_network else kind in CLEAN


def _at_least(k: int, n: int, share: float) -> float:
    """The chance of so many or more of n, each with that chance (binomial)."""
    logs = (
        math.lgamma(n + 1)
        - math.lgamma(i + 1)
        - math.lgamma(n - i + 1)
        + i * math.log(share)
        + (n - i) * math.log1p(-share)
        for i in range(k, n + 1)
    )
    return min(1.0, sum(map(math.exp, logs)))


def main(given: list[str]) -> None:
    """Write the page, or say what some kinds do."""
    sizes = [int(word) for word in given if word.isdecimal()]
    names = [word for word in given if not word.isdecimal()]
    if not names:
        PAGE.write_text("\n".join(page(measured(jobs(sizes)))) + "\n", "utf-8")
    for name in names:
        runs = [job for job in jobs(sizes or SIZES) if job[0] == name]
        print(row(name, measured(runs)), flush=True)  # noqa: T201 - a command


if __name__ == "__main__":
    main(sys.argv[1:])
