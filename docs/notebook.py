"""Runs the notebooks of docs/ and writes what their cells show.

`python docs/notebook.py` writes; `--check` compares the text of the cells instead, and fails where
it differs.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient
from traitlets.config import Config

DOCS = Path(__file__).parent
MOST_SECONDS = 300


def main() -> None:
    """Write all notebooks anew, or check them."""
    is_check = "--check" in sys.argv[1:]
    stale = []
    for path in sorted(DOCS.rglob("*.ipynb")):
        written = nbformat.read(path, as_version=4)
        notebook = executed(path)
        if texts(notebook) == texts(written):
            continue
        stale.append(str(path.relative_to(DOCS.parent)))
        if not is_check:
            nbformat.write(notebook, path)
    for name in stale:
        print(f"{name}: stale" if is_check else f"wrote {name}")
    sys.exit(bool(stale) and is_check)


def executed(path: Path) -> Any:  # noqa: ANN401 - nbformat has no types
    """Run a notebook in the folder that holds samples/; a cell that fails is an error."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(DOCS.parent)}}
    # over TCP the kernel warns that others on this machine could read what is sent
    with TemporaryDirectory() as folder:
        local = Config(AsyncKernelManager={"transport": "ipc", "ip": f"{folder}/kernel"})
        client = NotebookClient(notebook, timeout=MOST_SECONDS, resources=where, config=local)
        client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def texts(notebook: Any) -> list[str]:  # noqa: ANN401 - likewise
    """Give what its cells show, as text."""
    shown = (output for cell in notebook.cells for output in cell.get("outputs", ()))
    return [output["data"]["text/plain"] for output in shown if "data" in output]


if __name__ == "__main__":
    main()
