"""Draws the pictures of the pages with pcaplat's own plots: `python docs/pictures.py`."""

from pathlib import Path

import pcaplat

DOCS = Path(__file__).parent
CAPTURES = sorted((DOCS.parent / "samples" / "vxlan-delay200").glob("*.pcap.gz"))
ENDS = [path for path in CAPTURES if path.name.startswith(("host1-vm", "host2-vm"))]


def main() -> None:
    """Write the path, a waterfall of a transaction, and the clock of one point."""
    known = pcaplat.merge(CAPTURES, same_clock=["all"])
    charts = {
        "path": known.plot.path(),
        "waterfall": known.plot.waterfall(),
        "clock": pcaplat.merge(ENDS).plot.clocks(),
    }
    for name, chart in charts.items():
        # pages are light or dark, a picture is light
        chart.configure(
            background="white", padding={"left": 24, "right": 8, "top": 8, "bottom": 8}
        ).save(DOCS / "static" / f"{name}.svg")


if __name__ == "__main__":
    main()
