"""A claim: who says what, of which metric, where, and within which bounds."""

from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from pcaplat.metrics.dimensions import UNITS, base_unit
from pcaplat.metrics.registry import metric_named, units_of
from pcaplat.published.checks import (
    Identifier,
    MetricName,
    NotNegative,
    Number,
    StrictModel,
    Text,
    Unit,
    mistake,
)
from pcaplat.published.formula import nearest

ABOUT_TOLERANCE = Decimal("0.1")
"""What "about x" leaves either side, as a share of x, if the claim names no tolerance."""

NEEDED = {
    "segment": ("near", "far"),
    "difference": ("treatment", "baseline"),
    "path": (),
    "run": (),
}
BOUNDS = ("interval", "at_most", "at_least", "about")


STATISTICS = ("mean", "min", "p50", "p90", "p95", "p99", "p999", "max")
MEDIAN = "median"

Statistic = Annotated[
    Literal["mean", "min", "p50", "p90", "p95", "p99", "p999", "max"],
    BeforeValidator(lambda value: "p50" if value == MEDIAN else value),
    WithJsonSchema({"type": "string", "enum": [*STATISTICS, MEDIAN]}),
]
"""A figure of many packets; the median may be written as such."""


class Source(StrictModel):
    """Where it is written."""

    document: Text | None = None
    section: Text | None = None
    table: Text | None = None

    def __str__(self) -> str:
        """Join the parts that are given."""
        return ", ".join(part for part in (self.document, self.section, self.table) if part)


class Scope(StrictModel):
    """Between which points, in which scenario, or between which two.

    Kind `run` is about the very captures that are given, and nothing beyond them.
    """

    kind: Literal["segment", "path", "difference", "run"]
    near: Text | None = None
    far: Text | None = None
    direction: Literal["forward", "reverse"] | None = None
    scenario: Text | None = None
    treatment: Text | None = None
    baseline: Text | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for key in NEEDED[self.kind]:
            if getattr(self, key) is None:
                raise mistake(f"is missing, and a scope of kind {self.kind} needs it", key)
        if (self.near is None) != (self.far is None):
            raise mistake("near and far come together")
        if self.kind != "difference" and (self.treatment or self.baseline):
            raise mistake(f"{self.kind!r} has no treatment; did you mean difference?", "kind")
        if self.kind == "path" and self.near:
            raise mistake("'path' has no ends; did you mean segment?", "kind")
        return self

    @model_validator(mode="after")
    def _has_two_of_a_pair(self) -> Self:
        if self.kind == "difference" and self.scenario:
            raise mistake("a difference has two: treatment and baseline", "scenario")
        for one, other in (("near", "far"), ("treatment", "baseline")):
            if getattr(self, one) and getattr(self, one) == getattr(self, other):
                raise mistake(f"is the same as {one}", other)
        return self


class OfferedLoad(StrictModel):
    """The rate at which packets are sent, at least: in packets, or in bits of L2."""

    at_least: Number
    unit: Unit

    @model_validator(mode="after")
    def _is_a_rate(self) -> Self:
        rates = [unit for unit, (of, _) in UNITS.items() if of in {"packet rate", "bit rate"}]
        if self.unit not in rates:
            raise mistake(f"{self.unit!r} is no rate; it takes {', '.join(rates)}", "unit")
        return self


class AllowedLoss(StrictModel):
    """The share of the packets that may be lost at a claimed rate."""

    at_most: NotNegative
    unit: Unit

    @model_validator(mode="after")
    def _is_a_share(self) -> Self:
        shares = [unit for unit, (of, _) in UNITS.items() if of == "share"]
        if self.unit not in shares:
            raise mistake(f"{self.unit!r} is no share; it takes {', '.join(shares)}", "unit")
        return self

    @property
    def share(self) -> float:
        """Of 1."""
        return float(self.at_most) * float(UNITS[self.unit][1])


class Population(StrictModel):
    """Of which packets; all but `traffic` is checked against the captures.

    `transactions` is a test of netperf's; `encapsulation` a layer, or none; `flows` so many
    connections at one time at least. With `allowed_loss` a rate is the largest at which so little
    is lost, and each run is a trial at one rate.
    """

    frame_bytes: list[Annotated[int, Field(gt=0)]] = Field(default_factory=list)
    packets: Literal["all", "first-of-flow", "not-first-of-flow"] = "all"
    filter: Text | None = None
    protocol: Literal["tcp", "udp", "icmp", "icmpv6", "sctp"] | None = None
    transactions: Literal["TCP_RR", "TCP_CRR", "UDP_RR", "TCP_STREAM", "UDP_STREAM"] | None = None
    request_bytes: Annotated[int, Field(ge=1)] | None = None
    response_bytes: Annotated[int, Field(ge=1)] | None = None
    encapsulation: Text | None = None
    flows: Annotated[int, Field(ge=1)] | None = None
    offered: OfferedLoad | None = None
    allowed_loss: AllowedLoss | None = None
    traffic: Text | None = None


class Claim(StrictModel):
    """One published figure. `sentence` says it in our words unless the words matter."""

    id: Identifier
    sentence: Text
    source: Source = Field(default_factory=Source)
    metric: MetricName
    statistic: Statistic = "mean"
    relative: bool = Field(default=False, description="(treatment − baseline) / baseline")
    scope: Scope
    interval: list[Number] | None = Field(default=None, min_length=2, max_length=2)
    at_most: Number | None = None
    at_least: Number | None = None
    about: Number | None = None
    unit: Unit
    tolerance: NotNegative | None = None
    population: Population = Field(default_factory=Population)
    traversals_per_round_trip: Annotated[int, Field(ge=1)] | None = None
    interpretation: Literal["mean-across-conditions", "per-run-range", "percentile-range"] = (
        "mean-across-conditions"
    )
    note: Text | None = None

    @field_validator("scope", mode="before")
    @classmethod
    def _read_scope(cls, value: object) -> object:
        return {"kind": "run"} if value == "run" else value

    @property
    def lo(self) -> Decimal | None:
        """The least the claim allows, in its unit, without the tolerance; none: no bound."""
        return self.interval[0] if self.interval else self._first(self.at_least, self.about)

    @property
    def hi(self) -> Decimal | None:
        """The most the claim allows, in its unit, without the tolerance; none: no bound."""
        return self.interval[1] if self.interval else self._first(self.at_most, self.about)

    @property
    def margin(self) -> Decimal:
        """How far outside lo and hi still holds, in the claim's unit."""
        if self.tolerance is not None:
            return self.tolerance
        return Decimal(0) if self.about is None else abs(self.about) * ABOUT_TOLERANCE

    @property
    def base_unit(self) -> str:
        """The unit that `in_base` counts in: ns, frac, pps, b/s, tps, B, core or MHz."""
        return base_unit(self.unit)

    @property
    def unit_in_base(self) -> float:
        """How many of the base unit the claim's unit is."""
        return float(UNITS[self.unit][1])

    def in_base(self, value: Decimal) -> Fraction:
        """Convert a value of the claim's unit."""
        return Fraction(value) * UNITS[self.unit][1]

    @staticmethod
    def _first(one: Decimal | None, other: Decimal | None) -> Decimal | None:
        return other if one is None else one

    @model_validator(mode="after")
    def _fits_its_metric(self) -> Self:
        allowed = units_of(self.metric, is_relative=self.relative)
        if self.unit not in allowed:
            what = f"the relative change of {self.metric}" if self.relative else self.metric
            near = nearest(self.unit, allowed)
            raise mistake(
                f"{self.unit!r} is no unit of {what}; it takes {', '.join(allowed)}{near}", "unit"
            )
        if self.relative and self.scope.kind != "difference":
            raise mistake("a relative change needs a scope of kind difference", "relative")
        is_rate = metric_named(self.metric).is_rate and self.scope.kind != "difference"
        if self.population.allowed_loss is not None and not is_rate:
            raise mistake("allowed_loss is of a rate of one scenario", "population")
        if self.traversals_per_round_trip and not metric_named(self.metric).is_round_trip:
            raise mistake(
                f"{self.metric} is no metric of a round trip", "traversals_per_round_trip"
            )
        return self

    @model_validator(mode="after")
    def _has_one_bound(self) -> Self:
        given = [key for key in BOUNDS if getattr(self, key) is not None]
        if not given:
            raise mistake(f"has no bound; give one of {', '.join(BOUNDS)}")
        if len(given) > 1:
            raise mistake(f"{given[0]} stands there too; give one of {', '.join(BOUNDS)}", given[1])
        if self.interval and self.interval[0] > self.interval[1]:
            raise mistake("the lower end comes first", "interval")
        return self
