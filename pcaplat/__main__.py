"""`python -m pcaplat` is `pcaplat`."""

from pcaplat.cli import main

main()
