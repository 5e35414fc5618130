"""Write the scripts that pages carry along, from the packages that npm has: `make vendor`."""

import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

import vl_convert

INTERPRETER = "2.2.1"
"""vega-interpreter, of the same release as the Vega that draws without a browser."""
D3 = "Copyright 2010-2023 Mike Bostock."
TARGET = Path(__file__).parents[1] / "pcaplat" / "outputs" / "page" / "vega.js"


def unpacked(package: str, folder: Path) -> Path:
    """Fetch a package and give its folder."""
    done = subprocess.run(
        ["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True, text=True
    )
    name = done.stdout.split()[-1]
    with tarfile.open(folder / name) as archive:
        archive.extractall(folder / package, filter="data")
    return folder / package / "package"


def interpreter(source: str) -> str:
    """Make the interpreter's module a part of a plain script."""
    source = re.sub(r"^import \{(.*?)\} from 'vega-util';", r"const {\1} = vega;", source)
    source = re.sub(r"export \{ (\w+) as (\w+) \};[\s\S]*$", r"vega.\2 = \1;", source)
    if re.search(r"^(import|export) ", source, re.MULTILINE):
        raise SystemExit("vega-interpreter is built otherwise: look at it, and change this script")
    return f"(() => {{\n{source}\n}})();\n"


def main() -> None:
    """Write vega.js: licence, Vega, and the interpreter that lets pages do without eval."""
    with tempfile.TemporaryDirectory() as name:
        version = vl_convert.get_vega_version()
        vega = unpacked(f"vega@{version}", Path(name))
        of_expressions = unpacked(f"vega-interpreter@{INTERPRETER}", Path(name))
        licence = (vega / "LICENSE").read_text("utf-8").strip()
        runtime = (vega / "build" / "vega.min.js").read_text("utf-8")
        module = (of_expressions / "build" / "vega-interpreter.js").read_text("utf-8")
    head = (
        f"Vega {version}, vega-interpreter {INTERPRETER}; with d3, ISC License,\n{D3}\n\n{licence}"
    )
    text = f"/*! {head}\n*/\n{runtime.strip()}\n{interpreter(module)}"
    TARGET.write_text(text, "utf-8")
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
