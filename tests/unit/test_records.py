"""Records: what a dataclass of the standard library does, they do."""

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, field, fields, replace
from functools import cached_property

import pytest

from pcaplat import records


@records.dataclass(frozen=True)
class Ours:
    """One of ours."""

    name: str
    sizes: Sequence[int] = ()
    hidden: int = field(default=0, repr=False, compare=False)
    made: list[int] = field(default_factory=list, compare=False)

    @cached_property
    def total(self) -> int:
        """What is found out once."""
        return sum(self.sizes)


@records.dataclass(frozen=True, kw_only=True)
class Base:
    """What others are put together from."""

    first: int = 1


@records.dataclass(frozen=True, kw_only=True)
class Derived(Base):
    """One that has more."""

    second: int

    def __post_init__(self) -> None:
        if self.second < 0:
            raise ValueError(self.second)


@dataclasses.dataclass(frozen=True)
class Theirs:
    """The same as `Ours`, by the standard library."""

    name: str
    sizes: Sequence[int] = ()
    hidden: int = field(default=0, repr=False, compare=False)
    made: list[int] = field(default_factory=list, compare=False)


def test_texts_hashes_and_equality_are_as_the_standard_librarys() -> None:
    pairs = [(Ours("a"), Theirs("a")), (Ours("b", (1, 2), 3), Theirs("b", (1, 2), 3))]
    for ours, theirs in pairs:
        assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
        assert hash(ours) == hash(theirs)
    assert Ours("a", (), 1) == Ours("a", (), 2)
    assert Ours("a") != Ours("b")
    others: list[object] = [Theirs("a"), None]
    assert Ours("a") not in others
    assert [each.name for each in fields(Ours)] == [each.name for each in fields(Theirs)]
    assert Ours("a").made is not Ours("a").made


def test_nothing_can_be_set_or_deleted() -> None:
    record = Ours("a", (1, 2))
    assert record.total == 3
    for name in ("name", "hidden", "total", "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(record, name, 5)
    with pytest.raises(FrozenInstanceError):
        del record.name
    assert record == Ours("a", (1, 2))


def test_copies_are_equal_and_as_immutable() -> None:
    record = Ours("a", (1,), 2)
    for other in (copy.copy(record), copy.deepcopy(record)):
        assert other == record
        with pytest.raises(FrozenInstanceError):
            other.name = "b"  # type: ignore[misc] # what is asked
    assert replace(record, name="b") == Ours("b", (1,), 2)


def test_fields_are_inherited_and_checked() -> None:
    assert repr(Derived(second=2)) == "Derived(first=1, second=2)"
    with pytest.raises(ValueError, match="-1"):
        Derived(second=-1)
    with pytest.raises(TypeError):
        Derived(2)  # type: ignore[call-arg] # what is asked


def test_what_changes_is_no_record() -> None:
    with pytest.raises(TypeError):
        records.dataclass(frozen=False)
