"""Immutable dataclasses that a start can afford.

For each frozen class `dataclasses.dataclass` writes and compiles seven functions, which of a
hundred classes is an eighth of a start. Here all are shared: the classes are dataclasses in all
else, for `replace`, `fields` and type checkers too.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, FrozenInstanceError, fields
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - others import it from here
else:

    def dataclass(*, frozen: bool, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
        """Make an immutable dataclass, as `dataclasses.dataclass` would."""
        if not frozen:
            raise TypeError("what changes is a dataclass of the standard library")
        plain = dataclasses.dataclass(init=False, eq=False, repr=False, kw_only=kw_only)

        def made(cls: type[T]) -> type[T]:
            for name, method in METHODS.items():
                if name not in vars(cls):
                    setattr(cls, name, method)
            made = plain(cls)
            cls.__record_fields__ = {field.name: field for field in fields(cls)}
            return made

        return made


def _compared(record: Any) -> tuple[object, ...]:  # noqa: ANN401 - any record
    return tuple(getattr(record, field.name) for field in fields(record) if field.compare)


def signature_of(record: Any) -> Signature:  # noqa: ANN401 - any class of records
    """Say how a record is made."""
    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY if field.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=field.type,
        )
        for field in fields(record)
    ]
    return Signature(sorted(parameters, key=lambda each: each.kind))


def _equals(self: object, other: object) -> object:
    is_alike = type(self) is type(other)
    return _compared(self) == _compared(other) if is_alike else NotImplemented


def _hash(self: object) -> int:
    return hash(_compared(self))


def _text(self: Any) -> str:  # noqa: ANN401 - any record
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _fill(self: Any, *given: object, **named: object) -> None:  # noqa: ANN401 - any record
    """Take the values of all fields, and what stands for those that are not given."""
    values, known = self.__dict__, self.__record_fields__
    values.update(zip(self.__match_args__, given, strict=False))
    values.update(named)
    if len(given) + len(named) != len(known) or values.keys() != known.keys():
        _complete(self, given, named)
    if check := getattr(self, "__post_init__", None):
        check()


def _complete(self: Any, given: Sequence[object], named: Mapping[str, object]) -> None:  # noqa: ANN401 - any record
    """Put in what stands for fields that are not given, and refuse what no field is."""
    what, values, names = type(self).__qualname__, self.__dict__, self.__match_args__
    if len(given) > len(names):
        raise TypeError(f"{what}() takes {len(names)} positional arguments, got {len(given)}")
    if twice := named.keys() & {*names[: len(given)]}:
        raise TypeError(f"{what}() got multiple values for argument {min(twice)!r}")
    if unknown := named.keys() - self.__record_fields__.keys():
        raise TypeError(f"{what}() got an unexpected keyword argument {min(unknown)!r}")
    for name, field in self.__record_fields__.items():
        if name in values:
            continue
        if field.default_factory is not MISSING:
            values[name] = field.default_factory()
        elif field.default is not MISSING:
            values[name] = field.default
        else:
            raise TypeError(f"{what}() missing required argument: {name!r}")


def _refuse(self: object, name: str, value: object) -> NoReturn:
    del self, value
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _keep(self: object, name: str) -> NoReturn:
    del self
    raise FrozenInstanceError(f"cannot delete field {name!r}")


METHODS: dict[str, Callable[..., object]] = {
    "__init__": _fill,
    "__eq__": _equals,
    "__hash__": _hash,
    "__repr__": _text,
    "__setattr__": _refuse,
    "__delattr__": _keep,
}
