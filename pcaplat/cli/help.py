"""Help: what a command is for, how it is called, and its options in groups, as a page to read."""

import shutil
from collections.abc import Iterator, Sequence
from typing import Any

from pcaplat.text import folded

WIDTH_OF_A_PIPE = 100
GAP = 2
WIDEST_LEFT = 32
"""Of an option with its value; what is longer has a line of its own."""
OTHERS = "Options"
MEASURE, PROVE = "Measure", "Compare and prove"


def command_help(command: Any, ctx: Any) -> str:  # noqa: ANN401 - typer's own
    """Write a command's page."""
    width = _width()
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    words = " ".join([ctx.command_path, "[OPTIONS]", *(_metavar(each) for each in arguments)])
    lines = [*folded(command.help or "", width), "", f"Usage: {words}"]
    lines += _table([(_metavar(each), each.help) for each in arguments], width)
    if command.epilog:
        lines += ["", "Examples:", *(f"  {line}" for line in command.epilog.splitlines())]
    for title, params in _groups(command.get_params(ctx)):
        lines += ["", f"{title}:", *_table([option_texts(param) for param in params], width)]
    return "\n".join(lines)


def program_help(group: Any, ctx: Any) -> str:  # noqa: ANN401 - typer's own
    """Write the page of the whole program."""
    width = _width()
    lines = [*folded(group.help or "", width), "", "Usage: pcaplat COMMAND [OPTIONS] ..."]
    for title in (MEASURE, PROVE):
        named = [each for each in group.commands.values() if each.rich_help_panel == title]
        rows = [(each.name or "", _sentence(each.help)) for each in named]
        lines += ["", f"{title}:", *_table(rows, width)]
    lines += ["", "Examples:", *(f"  {line}" for line in (group.epilog or "").splitlines())]
    lines += [
        "",
        f"{OTHERS}:",
        *_table([option_texts(each) for each in group.get_params(ctx)], width),
    ]
    return "\n".join([*lines, "", "pcaplat COMMAND --help explains a command."])


def _width() -> int:
    return max(shutil.get_terminal_size((WIDTH_OF_A_PIPE, 0)).columns, 2 * WIDEST_LEFT)


def _sentence(text: str | None) -> str:
    return (text or "").partition("\n")[0]


def _groups(params: Sequence[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Gather options by the group that each names; those of every command stand last."""
    options = [param for param in params if param.param_type_name == "option"]
    titles = dict.fromkeys(param.rich_help_panel or OTHERS for param in options)
    for title in sorted(titles, key=lambda title: title == OTHERS):
        yield title, [each for each in options if (each.rich_help_panel or OTHERS) == title]


def option_texts(param: Any) -> tuple[str, str]:  # noqa: ANN401 - typer's own
    """Return names and value of an option, and its meaning with the default."""
    names = ", ".join(sorted([*param.opts, *param.secondary_opts], key=len))
    value = "" if param.is_flag or param.count else f" {_metavar(param)}"
    return f"{names}{value}", f"{param.help or ''}{_default(param)}"


def _metavar(param: Any) -> str:  # noqa: ANN401 - typer's own
    choices = param.type_descriptor.choices
    return param.metavar or ("|".join(map(str, choices)) if choices else param.name.upper())


def _default(param: Any) -> str:  # noqa: ANN401 - typer's own
    is_told = isinstance(param.default, str) and param.default and not param.is_flag
    return f" Default: {param.default}." if is_told else ""


def _table(rows: Sequence[tuple[str, str | None]], width: int) -> list[str]:
    """Put names beside what they mean, which goes on under itself."""
    left = min(max((len(name) for name, _ in rows), default=0), WIDEST_LEFT)
    lines = []
    for name, meaning in rows:
        first, *rest = folded(meaning or "", width - left - 2 * GAP)
        is_long = len(name) > left
        lines += [f"  {name}"] if is_long else []
        lines += [f"  {'' if is_long else name:{left}}  {first}".rstrip()]
        lines += [f"  {'':{left}}  {line}" for line in rest]
    return lines
