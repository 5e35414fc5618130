"""`pcaplat plan`: claims → how many runs of how many packets a verdict needs."""

from typing import Annotated, Any

from typer import Option

from pcaplat.cli import Format, print_found
from pcaplat.cli.options import OF_MEASURING, Quiet, offering
from pcaplat.cli.validate import ClaimIds, ClaimsFile, results_of

EXAMPLES = (
    "pcaplat plan nsx-dfw-latency                  before any run is made",
    "pcaplat plan nsx-dfw-latency --pilot l2=pilot/l2 --pilot dfw=pilot/dfw",
)

Pilot = Annotated[
    list[str] | None,
    Option(
        "--pilot",
        metavar="[SCENARIO=]DIR",
        help="Runs made already, which show how much runs differ. Repeatable.",
    ),
]


@offering(OF_MEASURING)
def command(
    claims: ClaimsFile,
    pilot: Pilot = None,
    claim: ClaimIds = None,
    format_: Format = "table",
    *,
    options: dict[str, Any],
    quiet: Quiet = False,
) -> None:
    """Estimate the runs and packets that decide each claim, with a power of 80 % and 95 %."""
    del quiet
    from pcaplat.validating.planning import plan

    document = plan(claims, results_of(pilot or ()), only=claim or (), options=options)
    print_found(format_, "plan", document)
