"""`pcaplat digest`: keyed identities in place of packets, for who may not show captures."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pcaplat.cli import OUTPUT, Format, note, print_found
from pcaplat.cli.options import (
    PANEL_OF,
    Captures,
    NoProgress,
    Quiet,
    offering,
    panels_of,
    typed_options,
)
from pcaplat.cli.progress import progress_line
from pcaplat.digesting.options import DigestOptions, KeyOptions

EXAMPLES = (
    "pcaplat digest uplink.pcap --key shared.key    writes uplink.digest",
    "pcaplat merge vnic.digest uplink.digest        as with the captures",
)

PANELS = PANEL_OF | panels_of({KeyOptions: "What is shown, and to whom"})


@offering(typed_options(DigestOptions), PANELS)
def command(
    captures: Captures,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Folder that digests are written into.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path(),
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace digests in DIR.", rich_help_panel=OUTPUT),
    ] = False,
    format_: Format = "table",
    *,
    options: dict[str, Any],
    quiet: Quiet = False,
    no_progress: NoProgress = False,
) -> None:
    """Write a digest of each capture: merge can use it, and it has no payload or addresses."""
    from pcaplat.digesting import digest

    with progress_line(is_wanted=not (quiet or no_progress)) as line:
        made = digest(captures, output=output, overwrite=overwrite, progress=line, **options)
    print_found(format_, "digest", made)
    if made["is_new_key"] and not options.get("key"):
        once = "made under a key of this call alone: only these digests can be compared"
        note(f"{once}; to compare with other captures, add --key FILE", is_quiet=quiet)
    elif made["is_new_key"]:
        note(f"{options['key']}: a new key; give it to who makes the other digests", is_quiet=quiet)
