"""One picture in a file: the path with its latencies, as SVG, PNG, or a page of its own."""

from pathlib import Path

from pcaplat.errors import OptionError
from pcaplat.outputs.folder import check_file, new_file
from pcaplat.plots.figure import Figure, Measured
from pcaplat.text import printable

FORMATS = (".svg", ".png", ".html")


def check_picture(path: Path, beside: Path | None = None) -> None:
    """Refuse a picture that cannot be written, before any work is done.

    Args:
        path: The picture.
        beside: The folder of a result that is written first.

    Raises:
        OptionError: Its name does not say which format it is to have, or is a folder's.
        OutputError: Its folder is not there.
    """
    name = printable(str(path))
    if path.suffix.lower() not in FORMATS:
        raise OptionError(f"--plot {name}: expected a name that ends in {', '.join(FORMATS)}")
    if path.is_dir():
        raise OptionError(f"--plot {name}: is a folder; name a file in it")
    check_file(path, beside)


def write_picture(measured: Measured, path: Path) -> None:
    """Draw the path into a file whose name says the format."""
    from pcaplat.plots.path import path_figure

    with new_file(path) as stream:
        stream.write(_drawn(path_figure(measured), path.suffix.lower()))


def _drawn(figure: Figure, suffix: str) -> bytes:
    from pcaplat.outputs.page.template import figure_page
    from pcaplat.plots import render

    if figure.spec is None or suffix == ".html":
        return figure_page(figure).encode()
    return render.png_file(figure.spec) if suffix == ".png" else render.svg_file(figure.spec)
