"""`pcaplat wireshark install`: fields, columns and colours of merged.pcapng for Wireshark."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from pcaplat.cli import note
from pcaplat.cli.options import Quiet
from pcaplat.errors import OutputError
from pcaplat.outputs.folder import check_place

EXAMPLES = ("pcaplat wireshark install",)
FILES = Path(__file__).parents[1] / "wireshark"
PLUGIN = "pcaplat.lua"
PROFILE = "pcaplat"
PATIENCE_S = 60
SEPARATES = "conversation_deinterlacing_key"
"""The preference by which Wireshark keeps a connection apart at each interface."""
APART = {
    True: "protocols.conversation_deinterlacing_key: .MI\n",
    False: "tcp.analyze_sequence_numbers: FALSE\n",
}
"""Or else each packet at the next point is shown as a retransmission. Versions without that
preference cannot keep them apart, so there TCP is not analysed at all."""

Action = Annotated[Literal["install"], Argument(metavar="install", help="Install the files.")]
Config = Annotated[
    Path | None,
    Option("--config", metavar="DIR", help="Wireshark's folder of settings. Default: yours."),
]
Plugins = Annotated[
    Path | None,
    Option("--plugins", metavar="DIR", help="Wireshark's folder of Lua plugins. Default: yours."),
]
Replace = Annotated[bool, Option("--overwrite", help="Replace files that were changed since.")]


def command(
    action: Action,
    config: Config = None,
    plugins: Plugins = None,
    overwrite: Replace = False,
    quiet: Quiet = False,
) -> None:
    """Install a plugin and a profile for merged.pcapng into Wireshark."""
    del action
    folders = _folders()
    config = config or folders["Personal configuration"]
    plugins = plugins or folders["Personal Lua Plugins"]
    texts = {plugins / PLUGIN: (FILES / PLUGIN).read_text("utf-8")}
    for file in sorted((FILES / "profile").iterdir()):
        texts[config / "profiles" / PROFILE / file.name] = file.read_text("utf-8")
    preferences = config / "profiles" / PROFILE / "preferences"
    texts[preferences] += APART[SEPARATES in _asked("currentprefs")]
    changed = [path for path, text in texts.items() if _is_changed(path, text)]
    if changed and not overwrite:
        raise OutputError(f"{changed[0]}: is there and differs; replace it with --overwrite")
    for path in texts:
        check_place(path.parent)
    for path in texts:
        path.parent.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text, "utf-8")
        note(f"{path}: written", is_quiet=quiet)
    note(
        f"choose the profile {PROFILE} in Wireshark, or start it with -C {PROFILE}", is_quiet=quiet
    )


def _is_changed(path: Path, text: str) -> bool:
    return path.exists() and path.read_text("utf-8", errors="replace") != text


def _folders() -> dict[str, Path]:
    """Give Wireshark's own folders, as it says, or as its manual says where it is not installed."""
    home = Path.home()
    default = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "wireshark"
    plugins = home / ".local" / "lib" / "wireshark" / "plugins"
    if sys.platform == "darwin":
        plugins = default / "plugins"
    found = {"Personal configuration": default, "Personal Lua Plugins": plugins}
    return found | dict(_told_folders(_asked("folders")))


def _told_folders(text: str) -> Iterator[tuple[str, Path]]:
    for line in text.splitlines():
        name, _, folder = line.partition(":")
        if folder.strip():
            yield name, Path(folder.strip())


def _asked(what: str) -> str:
    """Ask tshark about itself; nothing where there is none."""
    program = shutil.which("tshark")
    if program is None:
        return ""
    done = subprocess.run(  # noqa: S603 - the user's own tshark
        [program, "-G", what], capture_output=True, check=False, timeout=PATIENCE_S
    )
    return done.stdout.decode(errors="replace")
