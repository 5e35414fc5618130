"""The page of the Python API, made from signatures and docstrings of what `pcaplat` offers."""

import re
from collections.abc import Callable, Iterator
from inspect import Parameter, getdoc, isclass, isfunction, signature
from textwrap import dedent, fill

import pcaplat
from pcaplat.run.result import Result

SECTIONS = {
    "Args": "Arguments",
    "Returns": "Returns",
    "Raises": "Raises",
    "Assumes": "Assumes",
    "Example": "Example",
}
SECTION = re.compile(rf"^({'|'.join(SECTIONS)}):\n((?:    .*\n|\n)*)", re.MULTILINE)
ENTRY = re.compile(r"^(\w+): ", re.MULTILINE)


def python_api() -> Iterator[str]:
    """Describe every public function, then results and other classes."""
    public = {name: getattr(pcaplat, name) for name in pcaplat.__all__ if name != "__version__"}
    yield "# Python API\n"
    yield "Everything that `import pcaplat` offers. See also"
    yield "[Python and notebooks](../measure/python.md), [Errors](errors.md), [Tables](tables.md)."
    for name, function in public.items():
        if not isclass(function):
            yield from _function(name, function)
    yield from _result()
    yield "\n## Other classes\n\n| class | meaning |\n| --- | --- |"
    for name, kind in public.items():
        if isclass(kind) and kind is not Result:
            yield f"| `{name}` | {_first_sentence(kind)} |"


def _function(name: str, function: Callable[..., object]) -> Iterator[str]:
    yield f"\n## {name}\n"
    given = ", ".join(map(_shown, signature(function).parameters.values()))
    yield f"```text\n{fill(f'pcaplat.{name}({given})', 90, subsequent_indent='    ')}\n```\n"
    yield from _described(getdoc(function) or "")


def _shown(parameter: Parameter) -> str:
    is_needed = parameter.default is Parameter.empty
    return parameter.name if is_needed else f"{parameter.name}={parameter.default!r}"


def _described(text: str) -> Iterator[str]:
    """Show the sections of a docstring: arguments and errors as lists, an example as code."""
    text += "\n"
    yield _plain(SECTION.sub("", text))
    for found in SECTION.finditer(text):
        title, body = found[1], dedent(found[2]).strip()
        if title == "Example":
            yield f"\n```pycon\n{body}\n```"
        elif ENTRY.match(body):
            yield f"\n**{SECTIONS[title]}**\n"
            yield from (f"- {entry}" for entry in _entries(body))
        else:
            yield f"\n**{SECTIONS[title]}.** {_plain(body)}"


def _entries(body: str) -> Iterator[str]:
    """Give one line for each entry, with its name as code."""
    for entry in re.split(r"\n(?=\S)", body):
        yield ENTRY.sub(r"`\1`: ", " ".join(entry.split()), count=1)


def _plain(text: str) -> str:
    """Join the lines of each paragraph; a list or an indented block stays as it is."""
    blocks = [block for block in re.split(r"\n\n+", text.strip()) if block]
    return "\n\n".join(
        block if block.startswith("    ") else " ".join(block.split()) for block in blocks
    )


def _result() -> Iterator[str]:
    yield "\n## Result\n"
    yield from _described(getdoc(Result) or "")
    yield "\n| member | meaning |\n| --- | --- |"
    for name, member in vars(Result).items():
        if not name.startswith("_") and getdoc(member):
            shown = f"{name}({_arguments(member)})" if isfunction(member) else name
            yield f"| `{shown}` | {_first_sentence(member)} |"


def _arguments(method: Callable[..., object]) -> str:
    return ", ".join(name for name in signature(method).parameters if name != "self")


def _first_sentence(thing: object) -> str:
    return (getdoc(thing) or "").partition("\n")[0].replace("|", r"\|")
