"""Times as other instruments write them, as ns since 1970, UTC."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pcaplat.instruments import NS_PER_S

OFFSET = re.compile(r"^([+-])(\d{2}):?(\d{2})$")


def parse_zone(text: str) -> tzinfo:
    """Read a time zone: UTC, +02:00, or a name like Europe/Berlin.

    Raises:
        ValueError: It is none of these.

    Example:
        >>> parse_zone("+02:00").utcoffset(None)
        datetime.timedelta(seconds=7200)
    """
    if text.upper() in {"UTC", "Z"}:
        return UTC
    if match := OFFSET.match(text):
        size = timedelta(hours=int(match[2]), minutes=int(match[3]))
        return timezone(size if match[1] == "+" else -size)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        message = f"{text!r} is no time zone; write UTC, +02:00, or a name like Europe/Berlin"
        raise ValueError(message) from None


def ns_of(moment: datetime, zone: tzinfo | None) -> int:
    """Give ns since 1970; a moment without a zone of its own is of `zone`.

    Raises:
        ValueError: Neither says a zone, or it is too far from now.
    """
    if moment.tzinfo is None:
        if zone is None:
            raise ValueError('it has no time zone; add zone = "UTC", or the zone it is of')
        moment = moment.replace(tzinfo=zone)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    # integers throughout: a float of seconds since 1970 is right to 200 ns only
    return known_ns((since.days * 86_400 + since.seconds) * NS_PER_S + since.microseconds * 1000)


def known_ns(t_ns: int) -> int:
    """Give a time that 64 bits hold.

    Raises:
        ValueError: They do not.
    """
    if abs(t_ns) >= 1 << 63:
        message = "it is after 2262, or before 1677"
        raise ValueError(message)
    return t_ns
