"""Coercion of what is typed, which imports pydantic only where a value needs it.

Typer has pydantic coerce every value, given or not, and importing it takes a quarter of a start.
What is of its parameter's type as it was typed is taken as it is here; all else, and every mistake,
is left to typer.
"""

from typing import Any

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from pcaplat.cli.help import command_help, program_help

COERCION = "_runtime_param"
"""Where typer keeps how a parameter coerces; where there is None, it makes its own."""


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
            typer.BadParameter: It cannot be.
        """
        kind = param.type_descriptor.annotation
        is_several = param.multiple or param.nargs == -1
        if value is None:
            return () if is_several else None
        if is_several and kind == list[str]:
            return [*value]
        if kind in (str, int) and isinstance(value, kind):
            return value
        if value in (param.type_descriptor.choices or ()):
            return value
        vars(param)[COERCION] = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)
