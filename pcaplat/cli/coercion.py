"""Coercion of what is typed, without pydantic.

Typer has pydantic coerce every value, given or not: importing it takes a quarter of a start, and
what it says of a mistake is of no command line. Kinds of values that no command has are left to it.
"""

import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from pcaplat.cli.help import command_help, program_help
from pcaplat.errors import OptionError

COERCION = "_runtime_param"
"""Where typer keeps how a parameter coerces; where there is None, it makes its own."""

INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
"""A number that 64 bits hold, whatever it is."""


class _Plain:
    """A command whose plain values are taken as they were typed."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer's own
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc] # a command of typer has
        for param in params:
            vars(param)[COERCION] = vars(param)[COERCION] or PlainValue()
        return params


class PlainCommand(_Plain, TyperCommand):
    """A subcommand."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own
        """Write its page."""
        formatter.write(command_help(self, ctx))


class PlainGroup(_Plain, TyperGroup):
    """The command line that has them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - typer's own
        """Write the page of all commands."""
        formatter.write(program_help(self, ctx))


class PlainValue:
    """How the values of one parameter are coerced, as long as they are plain."""

    def coerce(
        self,
        value: Any,  # noqa: ANN401 - of any parameter
        param: TyperOption | TyperArgument,
        ctx: Any,  # noqa: ANN401 - typer's own
    ) -> Any:  # noqa: ANN401 - of any parameter
        """Return a value as its parameter's type.

        Raises:
            OptionError: It cannot be.
        """
        told = param.type_descriptor
        kind = told.annotation
        is_several = param.multiple or param.nargs == -1
        if value is None:
            return () if is_several else None
        if is_several and kind == list[str]:
            return [*value]
        if kind in (str, int, bool, float) and isinstance(value, kind):
            return value
        if reader := _chosen if told.choices else READERS.get(kind):
            return [reader(one, param) for one in value] if is_several else reader(value, param)
        vars(param)[COERCION] = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _chosen(typed: Any, param: Any) -> Any:  # noqa: ANN401 - typer's own
    """Give one of the choices."""
    choices = param.type_descriptor.choices
    if typed in choices:
        return typed
    near = get_close_matches(str(typed), choices, 1)
    hint = f"; did you mean {near[0]}?" if near and len(choices) > 1 else ""
    some = "one of " if len(choices) > 1 else ""
    raise _refused(typed, param, f"{some}{', '.join(choices)}{hint}")


def _whole_number(typed: Any, param: Any) -> int:  # noqa: ANN401 - typer's own
    """Read a whole number within what the parameter takes."""
    within = param.type_descriptor.parameter_info
    if INTEGER.fullmatch(str(typed)):
        found = int(typed)
        is_low = within.min is not None and found < within.min
        if not is_low and (within.max is None or found <= within.max):
            return found
    wanted = "a whole number"
    if within.max is not None:
        wanted += f" from {within.min} to {within.max}"
    elif within.min is not None:
        wanted += f", {within.min} or more"
    raise _refused(typed, param, wanted)


def _number(typed: Any, param: Any) -> float:  # noqa: ANN401 - typer's own
    """Read a number."""
    try:
        return float(typed)
    except ValueError:
        raise _refused(typed, param, "a number") from None


def _refused(typed: Any, param: Any, wanted: str) -> OptionError:  # noqa: ANN401 - typer's own
    name = param.opts[0] if param.param_type_name == "option" else param.display_name_raw
    return OptionError(f"{name}: invalid value {typed!r}: expected {wanted}")


READERS: dict[Any, Callable[[Any, Any], Any]] = {
    int: _whole_number,
    list[int]: _whole_number,
    float: _number,
    Path: lambda typed, _: Path(typed),
}
"""By the parameter's type: what makes of one typed value what the command takes."""
