"""Options of a digest."""

from os import PathLike

from pcaplat.records import dataclass
from pcaplat.run.options import CaptureOptions, DecodingOptions, Progress, option
from pcaplat.run.values import FLAG, PLACE


@dataclass(frozen=True, kw_only=True)
class KeyOptions:
    """Who can compare the digests, and what they show."""

    key: str | PathLike[str] | None = option(
        None,
        name="--key",
        kind=PLACE,
        meaning="A file with the secret that all digests of one path are made with; made if it is "
        "not there. Without one, a secret of this call alone.",
        help="File with the secret shared by all who compare; made if it is not there.",
        metavar="FILE",
    )
    keep_addresses: bool = option(
        default=False,
        name="--keep-addresses",
        kind=FLAG,
        meaning="Leave IP and MAC addresses as they are.",
        help="Leave IP and MAC addresses as they are.",
    )


@dataclass(frozen=True, kw_only=True)
class DigestOptions(DecodingOptions, KeyOptions, CaptureOptions):
    """What `digest` takes."""

    output: str | PathLike[str] = option(".", meaning="The folder that digests are written into.")
    overwrite: bool = option(default=False, meaning="Replace digests that are there.")
    progress: Progress | None = option(
        None, meaning="Its `update` is called with the progress of reading."
    )
