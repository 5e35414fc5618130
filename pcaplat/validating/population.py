"""The population of a claim, checked against what captures show: the one place where it is.

What contradicts a claim's population does not refute the claim: it leaves it undecided.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pcaplat.metrics.dimensions import UNITS
from pcaplat.metrics.metric import MetricQuery
from pcaplat.metrics.registry import metric_named
from pcaplat.metrics.runs import MeasuredRun, Scenario
from pcaplat.metrics.traffic import other_frames
from pcaplat.published.claims import Claim, Population
from pcaplat.stages.read import batches_of, read
from pcaplat.units import format_amount
from pcaplat.validating.capacity import sent_at
from pcaplat.validating.missing import LATENCIES

LEAST_SHARE = 0.9
"""This share of the frames must be of the protocol that a claim is about."""

MOST_OFF = 0.02
"""The mean message may differ by this share from the size that a claim is about."""

PROTOCOLS = {6: "tcp", 17: "udp"}
ROLES = {"tcp": (1, 2, 3, 4), "udp": (5,), "icmp": (6,), "icmpv6": (6,)}
"""Roles of the packets of each protocol (rust/src/identity/traffic_kind.rs)."""

MOST_OTHERS = 0.01
"""A mean over more packets of other protocols is not that of the claim's."""
EXCHANGES = {
    "TCP_RR": (6, "rr"),
    "TCP_CRR": (6, "crr"),
    "UDP_RR": (17, "rr"),
    "TCP_STREAM": (6, "none"),
    "UDP_STREAM": (17, "none"),
}
"""Protocol and kind of transactions of each of netperf's tests."""


def contradiction(claim: Claim, scenarios: Sequence[Scenario]) -> str:
    """Say what captures show that a claim is not about; empty if nothing.

    Args:
        claim: With its population.
        scenarios: Those that it is about; of a difference the treatment first.
    """
    found = (
        text
        for place, scenario in enumerate(scenarios)
        for run in scenario.runs
        for text in _in_run(claim, run, is_baseline=place > 0)
        if text
    )
    return next(found, "")


def unchecked(population: Population, runs: Sequence[MeasuredRun]) -> list[str]:
    """List what a claim says of its packets and captures do not tell."""
    found = [population.traffic] if population.traffic else []
    is_known = bool(runs) and all(run.contents is not None for run in runs)
    if not is_known:
        found += [text for text in (population.protocol, population.encapsulation) if text]
    if population.filter and any(share_passing(run, population.filter) is None for run in runs):
        found.append(f"packets that pass {population.filter}")
    return found


def _in_run(claim: Claim, run: MeasuredRun, *, is_baseline: bool) -> Iterator[str]:
    population, point = claim.population, (claim.scope.near or run.ends[0])
    shown = run if run.sampled is None else replace(run, rates=run.sampled)
    yield _filter(population, run)
    yield _sizes(claim, shown)
    yield _exchange(population, shown, point)
    yield _messages(population, shown, point)
    yield _protocol(population, run, point)
    yield _other_protocols(claim, run)
    if not is_baseline:
        yield _encapsulation(population, run)
    yield _flows(population, run, point)
    yield _offered(population, run, claim)


def _sizes(claim: Claim, run: MeasuredRun) -> str:
    """Compare sizes of frames where they go in; of what is not made of frames, at either end.

    A tunnel on the way makes frames longer or shorter, and a claim says not at which end it counts.
    """
    sizes = claim.population.frame_bytes
    either = () if metric_named(claim.metric).is_of_frames else ("packet-rate",)
    texts = [
        other_frames(run, MetricQuery(metric, direction=claim.scope.direction), sizes)
        for metric in (claim.metric, *either)
        if sizes
    ]
    return texts[0] if texts and all(texts) else ""


def _filter(population: Population, run: MeasuredRun) -> str:
    share = share_passing(run, population.filter) if population.filter else None
    if share is None or share >= LEAST_SHARE:
        return ""
    return run.says(
        f"the claim is about packets that pass {population.filter}, and {100 * share:.0f} % of "
        f"these do; add --filter '{population.filter}'"
    )


def share_passing(run: MeasuredRun, bpf: str) -> float | None:
    """Share of the frames at the path's first point that pass a filter; None: nobody knows.

    Args:
        run: Whose captures are read again, unless they were chosen by that filter.
        bpf: In libpcap's language.
    """
    if run.packet_filter == bpf:
        return 1.0
    rows = [row for row in run.document["captures"] if row["point"] == run.ends[0]]
    files = [row["file"] for row in rows if Path(row["file"]).is_file()]
    n_frames = sum(row["n_frames"] for row in rows)
    if not n_frames or len(files) < len(rows):
        return None
    n_passing = sum(int(batch.num_rows) for batch in batches_of(read(files, bpf=bpf)))
    return float(n_passing / n_frames)


def _exchange(population: Population, run: MeasuredRun, point: str) -> str:
    """Compare the kind of transactions; too few turns to tell it contradict nothing."""
    if not population.transactions or run.rates is None:
        return ""
    protocol, kind = EXCHANGES[population.transactions]
    rows = [
        row
        for row in run.rates.transactions
        if row["point"] == point and row["kind"] in {"rr", "crr"}
    ]
    n_all = sum(row["n_transactions"] for row in rows)
    n_meant = sum(
        row["n_transactions"] for row in rows if (row["protocol"], row["kind"]) == (protocol, kind)
    )
    if n_all == n_meant or n_meant >= LEAST_SHARE * n_all:
        return ""
    shown = dict.fromkeys(
        f"{row['kind']} over {PROTOCOLS.get(row['protocol'], row['protocol'])}" for row in rows
    )
    return run.says(
        f"the claim is about {population.transactions}, but {point} has "
        f"other transactions ({', '.join(shown)})"
    )


def _messages(population: Population, run: MeasuredRun, point: str) -> str:
    """Compare sizes of requests and responses, payload alone."""
    rows = [] if run.rates is None else [r for r in run.rates.transactions if r["point"] == point]
    n = sum(row["n_transactions"] for row in rows)
    for name in ("request", "response"):
        wanted = getattr(population, f"{name}_bytes")
        if not wanted or not n:
            continue
        found = sum(row[f"{name}_bytes"] * row["n_transactions"] for row in rows) / n
        if abs(found - wanted) > MOST_OFF * wanted:
            return run.says(
                f"the claim is about {name}s of {wanted} bytes, and the captures show {found:.0f} "
                f"bytes at {point}"
            )
    return ""


def _wanted(population: Population) -> str | None:
    exchange = EXCHANGES.get(population.transactions or "")
    return population.protocol or (PROTOCOLS[exchange[0]] if exchange else None)


def _other_protocols(claim: Claim, run: MeasuredRun) -> str:
    """Say that packets of other protocols have a part in a latency."""
    wanted, ends = _wanted(claim.population), (claim.scope.near, claim.scope.far)
    if wanted not in ROLES or claim.metric not in LATENCIES:
        return ""
    places = {run.ends, run.ends[::-1]} if None in ends else {ends, ends[::-1]}
    strata = [some.strata for key, some in run.blocks.items() if key[:2] in places]
    known = [one for one in strata if one is not None]
    n_all = sum(int(one.n.sum()) for one in known)
    n_others = n_all - sum(one.n_of_roles(ROLES[wanted]) for one in known)
    if n_others <= MOST_OTHERS * n_all:
        return ""
    return run.says(
        f"the claim is about {wanted}, and {100 * n_others / n_all:.0f} % of the latencies are of "
        f"other packets; add --filter {wanted}"
    )


def _protocol(population: Population, run: MeasuredRun, point: str) -> str:
    wanted = _wanted(population)
    if not wanted or run.contents is None:
        return ""
    share = run.contents.share_of(point, wanted)
    if share >= LEAST_SHARE:
        return ""
    return run.says(
        f"the claim is about {wanted}, and {100 * share:.0f} % of the frames at {point} are; "
        "take such traffic, or --filter"
    )


def _encapsulation(population: Population, run: MeasuredRun) -> str:
    wanted, contents = population.encapsulation, run.contents
    if not wanted or contents is None:
        return ""
    if wanted == "none":
        shares = {point: contents.share_encapsulated(point) for point in contents.layers}
        point = max(shares, key=lambda name: shares[name])
        if shares[point] <= 1 - LEAST_SHARE:
            return ""
        text = f"without encapsulation, and {100 * shares[point]:.0f} % of the frames at {point}"
        return run.says(f"the claim is about traffic {text} are encapsulated")
    if any(contents.share_of(point, wanted) >= LEAST_SHARE for point in contents.layers):
        return ""
    return run.says(
        f"the claim is about traffic in {wanted}, and no capture point shows it ("
        f"{LEAST_SHARE:.0%} of the frames at one)"
    )


def _flows(population: Population, run: MeasuredRun, point: str) -> str:
    if not population.flows or run.rates is None:
        return ""
    rows = [row for row in run.rates.traffic if row["point"] == point]
    most = max((row["n_connections_max"] for row in rows), default=0)
    if most >= population.flows:
        return ""
    return run.says(
        f"the claim is about {population.flows} flows at a time, and the captures show {most} at "
        f"most at {point}"
    )


def _offered(population: Population, run: MeasuredRun, claim: Claim) -> str:
    if population.offered is None:
        return ""
    unit = population.offered.unit
    least = float(population.offered.at_least) * float(UNITS[unit][1])
    is_packets = UNITS[unit][0] == "packet rate"
    offered = sent_at(run, claim, "packet_rate_pps" if is_packets else "l2_bps")
    if offered is None or offered >= least:
        return ""
    base = "pps" if is_packets else "b/s"
    return run.says(
        f"the claim is about {format_amount(least, base)} offered, and the captures show "
        f"{format_amount(offered, base)}"
    )
