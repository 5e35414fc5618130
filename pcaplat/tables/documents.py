"""Documents of lint, audit, compare and validate, typed: what `--format json` of each prints.

Each is a plain dict, ready for `json.dumps`; the types are for checkers and editors.
"""

from typing import Literal, NotRequired, TypedDict

Severity = Literal["error", "warning", "note"]
WayName = Literal["forward", "reverse"]


class Finding(TypedDict):
    """What in a capture will mislead; without `point` or `file` it is about all of them."""

    code: str
    severity: Severity
    file: str | None
    point: str | None
    evidence: str
    consequence: str
    remedy: str


class LintDocument(TypedDict):
    """What `pcaplat.lint` gives (`pcaplat.lint/1`); the gravest finding first."""

    schema: str
    findings: list[Finding]


class AuditedCell(TypedDict):
    """A published figure, and the same recomputed; None where it cannot be, and `reason` why."""

    row: str
    column: str
    published_lo: float
    published_hi: float
    recomputed: float | None
    unit: str
    agrees: bool | None
    deviation_frac: float | None
    reason: str | None
    printed: str | None
    n_decimals: int
    convention: str | None
    rounding_lo: float | None
    rounding_hi: float | None
    is_within_rounding: bool | None


class FittedConvention(TypedDict):
    """A formula, and with how many cells it agrees."""

    convention: str
    formula: str
    n_agree: int
    n_within_rounding: int
    n_cells: int
    recomputed: dict[str, float | None]


class TriedConvention(FittedConvention):
    """A formula that was tried for a column."""

    column: str
    is_total: bool
    is_used: bool


class DerivedFigure(TypedDict):
    """A figure that a table implies and does not print."""

    row: str
    column: str
    value: float | None
    unit: str
    meaning: str


class AuditedTable(TypedDict):
    """A published table against its own raw numbers."""

    id: str
    source: str
    conclusion: str
    cells: list[AuditedCell]
    conventions: list[TriedConvention]
    derived: list[DerivedFigure]
    notes: list[str]


class AuditDocument(TypedDict):
    """What `pcaplat.audit` gives (`pcaplat.audit/1`)."""

    schema: str
    tables: list[AuditedTable]


class ComparedScenario(TypedDict):
    """A set-up and how many runs of it there are."""

    name: str
    n_runs: int


class ContributionChange(TypedDict):
    """Difference of a segment's two-way contribution, ns; without an interval `reason` says why."""

    near: str
    far: str
    delta_mean_ns: float | None
    lo_ns: float | None
    hi_ns: float | None
    confidence: float
    baseline_mean_ns: float | None
    treatment_mean_ns: float | None
    n: int
    n_effective: float
    reason: str | None
    shift_ns: float | None
    shift_lo_ns: float | None
    shift_hi_ns: float | None


class QuantileChange(TypedDict):
    """Difference of a quantile, ns, with a band that holds for all of them together."""

    share: float
    delta_ns: float
    lo_ns: float | None
    hi_ns: float | None


class SegmentChange(TypedDict):
    """Difference of a segment's one-way latency, ns."""

    near: str
    far: str
    direction: WayName
    delta_mean_ns: float | None
    lo_ns: float | None
    hi_ns: float | None
    confidence: float
    baseline_mean_ns: float | None
    treatment_mean_ns: float | None
    n: int
    n_effective: float
    reason: str | None
    quantiles: list[QuantileChange]


class RateChange(TypedDict):
    """Change of a loss ratio or a rate; of loss it is a difference, of rates a share."""

    metric: str
    point: str | None
    near: str
    far: str
    baseline: float | None
    treatment: float | None
    delta_frac: float | None
    lo_frac: float | None
    hi_frac: float | None
    baseline_n: NotRequired[int]
    baseline_n_lost: NotRequired[int]
    treatment_n: NotRequired[int]
    treatment_n_lost: NotRequired[int]
    unit: NotRequired[str]
    direction: NotRequired[WayName | None]
    reason: NotRequired[str | None]


class ErrorTerm(TypedDict):
    """A kind of error, and whether it cancels between scenarios."""

    term: str
    between: str
    why: str


class CrossCheckRow(TypedDict):
    """A figure of another instrument beside that of the captures."""

    scenario: str
    run: str
    instrument: str
    file: str
    metric: str
    instrument_value: float
    captures_value: float | None
    half_width: float | None
    agrees: bool | None
    text: str


class WarningRow(TypedDict):
    """What may mislead."""

    code: str
    point: str | None
    text: str


class LimitRow(TypedDict):
    """Whether a segment is slower by more than a limit: `verdict` above, within or undecided."""

    near: str
    far: str
    limit: str
    delta: float | None
    unit: Literal["ns", "frac"]
    lo: float | None
    hi: float | None
    verdict: Literal["above", "within", "undecided"]
    reason: str


class SteppedSegment(TypedDict):
    """Since which comparison a segment's difference is on another level; null: it is steady."""

    near: str
    far: str
    since: str | None
    before_ns: float | None
    after_ns: float | None
    p: float | None


class History(TypedDict):
    """What comparisons that were kept say together."""

    n: int
    least_n: int
    false_alarm_rate: float
    segments: list[SteppedSegment]


class RunMean(TypedDict):
    """Mean round-trip contribution of one run by itself; runs stand in order of their start."""

    near: str
    far: str
    scenario: str
    run: str
    start_ns: int
    n: int
    mean_ns: float
    lo_ns: float | None
    hi_ns: float | None


class ComparisonDocument(TypedDict):
    """What `pcaplat.compare` gives (`pcaplat.comparison/1`)."""

    schema: str
    baseline: ComparedScenario
    treatment: ComparedScenario
    replication: Literal["runs", "within-run"]
    round_trips: list[ContributionChange]
    segments: list[SegmentChange]
    rates: list[RateChange]
    limits: list[LimitRow]
    terms: list[ErrorTerm]
    witnesses: list[CrossCheckRow]
    runs: list[RunMean]
    warnings: list[WarningRow]
    history: History | None


class VerdictRow(TypedDict):
    """A claim and its verdict; `allowed_lo` and `allowed_hi` are the claim with its tolerance."""

    id: str
    verdict: Literal["held", "refuted", "undecided"]
    reason: str
    estimate: float | None
    lo: float | None
    hi: float | None
    unit: str
    claim_lo: float | None
    claim_hi: float | None
    allowed_lo: float | None
    allowed_hi: float | None
    tolerance: float
    confidence: float | None
    n_runs: int
    replication: str
    verdict_in_family: str
    n_family: int
    claim: str
    source: str
    assumes: list[str]
    subject: str


class RunOfClaim(TypedDict):
    """The figure of a claim in one run by itself; runs stand in order of their start."""

    claim: str
    unit: str
    scenario: str
    run: str
    start_ns: int
    n: int
    value: float
    lo: float | None
    hi: float | None


class VerdictsDocument(TypedDict):
    """What `pcaplat.validate` gives (`pcaplat.verdicts/1`)."""

    schema: str
    verdicts: list[VerdictRow]
    witnesses: list[CrossCheckRow]
    warnings: list[WarningRow]
    runs: list[RunOfClaim]
    options: dict[str, str | int | float]
