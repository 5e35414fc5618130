"""Printed digits: what a number was rounded to, and whether another rounds to the same."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import floor

from pcaplat.published.formula import Formula, Sheet
from pcaplat.published.sheets import PrintedRange

RoundingSteps = Mapping[tuple[str, str], Fraction]


def half_step(printed: Decimal) -> Fraction:
    """Give half a unit of the last printed digit.

    Example:
        >>> half_step(Decimal("4.00")), half_step(Decimal(505))
        (Fraction(1, 200), Fraction(1, 2))
    """
    return Fraction(10) ** int(printed.as_tuple().exponent) / 2


def agrees(value: Fraction, printed: PrintedRange) -> bool:
    """Say whether a value, rounded to the printed digits, is what is printed, or in the range.

    What lies exactly between two roundings agrees with either.

    Example:
        >>> tight = Decimal("89.5"), Decimal("89.5")
        >>> agrees(Fraction("89.44"), tight), agrees(Fraction("89.45"), tight)
        (False, True)
    """
    lo, hi = printed
    return Fraction(lo) - half_step(lo) <= value <= Fraction(hi) + half_step(hi)


def overlaps(lo: Fraction, hi: Fraction, printed: PrintedRange) -> bool:
    """Say whether something between lo and hi rounds to what is printed.

    Example:
        >>> both = Decimal("2.5"), Decimal("2.5")
        >>> overlaps(Fraction("2.35"), Fraction("2.45"), both)  # they only touch
        False
    """
    if lo == hi:
        return agrees(lo, printed)
    least, most = Fraction(printed[0]) - half_step(printed[0]), Fraction(printed[1])
    return lo < most + half_step(printed[1]) and hi > least


def deviation_frac(value: Fraction, printed: PrintedRange) -> float | None:
    """Give (recomputed − published) / published, from the range's nearer end; 0 inside it.

    Example:
        >>> deviation_frac(Fraction(110), (Decimal(80), Decimal(100)))
        0.1
    """
    lo, hi = (Fraction(end) for end in printed)
    nearest = min(max(value, lo), hi)
    return float((value - nearest) / abs(nearest)) if nearest else None


def round_to(value: Fraction, printed: Decimal, n_more: int = 0) -> Decimal:
    """Round half up to the digits of a printed number, or a few more.

    Example:
        >>> round_to(Fraction(8944, 100), Decimal("89.5")), round_to(Fraction(1, 3), Decimal(7), 2)
        (Decimal('89.4'), Decimal('0.33'))
    """
    exponent = min(0, int(printed.as_tuple().exponent)) - n_more
    whole = floor(abs(value) / Fraction(10) ** exponent + Fraction(1, 2))
    return Decimal(whole if value >= 0 else -whole).scaleb(exponent)


def rounding_range(
    formula: Formula, sheet: Sheet, steps: RoundingSteps, row: str
) -> tuple[Fraction, Fraction]:
    """Give the least and the most that a formula can be, if its inputs were rounded.

    Assumes:
        The formula rises or falls in each input, all the way: true of sums, products, ratios of
        positive numbers, their means, and the least or largest of some.
    """
    value = formula.value(sheet, row)
    lowest, highest = dict(sheet.cells), dict(sheet.cells)
    for place, step in steps.items():
        if place not in sheet.cells or not _may_use(formula, place[1]):
            continue
        at = sheet.cells[place]
        down, up = (
            formula.value(sheet.varied({**sheet.cells, place: at + change}), row)
            for change in (-step, step)
        )
        if down != up:
            lowest[place], highest[place] = (
                (at - step, at + step) if down < up else (at + step, at - step)
            )
    ends = [formula.value(sheet.varied(cells), row) for cells in (lowest, highest)]
    return min(value, *ends), max(value, *ends)


def _may_use(formula: Formula, column: str) -> bool:
    return column in formula.text
