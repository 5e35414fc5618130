"""Immutable dataclasses that a start can afford.

For each frozen class `dataclasses.dataclass` writes and compiles six functions, which of a hundred
classes is an eighth of a start. Here only `__init__` is made for each class, the rest is shared:
the classes are dataclasses in all else, for `replace`, `fields` and type checkers too.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - others import it from here
else:

    def dataclass(*, frozen: bool, kw_only: bool = False) -> Callable[[type[T]], type[T]]:
        """Make an immutable dataclass, as `dataclasses.dataclass` would."""
        if not frozen:
            raise TypeError("what changes is a dataclass of the standard library")
        plain = dataclasses.dataclass(eq=False, repr=False, kw_only=kw_only)

        def made(cls: type[T]) -> type[T]:
            for name, method in METHODS.items():
                if name not in vars(cls):
                    setattr(cls, name, method)
            return plain(cls)

        return made


def _compared(record: Any) -> tuple[object, ...]:  # noqa: ANN401 - any record
    return tuple(getattr(record, field.name) for field in fields(record) if field.compare)


def _equals(self: object, other: object) -> object:
    is_alike = type(self) is type(other)
    return _compared(self) == _compared(other) if is_alike else NotImplemented


def _hash(self: object) -> int:
    return hash(_compared(self))


def _text(self: Any) -> str:  # noqa: ANN401 - any record
    shown = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _set_once(self: Any, name: str, value: object) -> None:  # noqa: ANN401 - any record
    """Let `__init__` set each field, and nobody else set anything."""
    if name in vars(self) or name not in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _keep(self: object, name: str) -> NoReturn:
    del self
    raise FrozenInstanceError(f"cannot delete field {name!r}")


METHODS: dict[str, Callable[..., object]] = {
    "__eq__": _equals,
    "__hash__": _hash,
    "__repr__": _text,
    "__setattr__": _set_once,
    "__delattr__": _keep,
}
