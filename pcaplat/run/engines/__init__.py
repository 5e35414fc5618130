"""Engines: where the jobs that touch every frame run.

An engine has three functions, and this is the index of engines; `executor`, which is given to
`merge` as it is, has no name. The stages between the jobs are pure and run wherever the caller is.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from pcaplat.errors import EngineError

# the command line asks for the index at every start
if TYPE_CHECKING:
    from pcaplat import _native
    from pcaplat.model.matched import Matched
    from pcaplat.model.plan import Beforehand, Plan
    from pcaplat.model.sampled import Place, Sampled
    from pcaplat.run.engines.tasks import Task, TaskResult

Tell = Callable[[int], None]
"""Called a few times a second with the bytes read so far."""

ENGINES = {"local": "local", "spark": "spark"}
"""Name of each engine, and its module."""


class Executor(Protocol):
    """Any `concurrent.futures.Executor`, without importing what it is made of."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:  # noqa: ANN401 - as it has it
        """Run a function somewhere, and give a future of what it returns."""


class Engine(Protocol):
    """What an engine can do. All give the same on every engine."""

    def sample(
        self,
        files: Sequence[str],
        settings: _native.Settings,
        limit: int,
        n_parts: Sequence[int],
        directory: str,
        tell: Tell | None,
    ) -> Sampled:
        """Select the same packets of all files, and state the facts about each file.

        Args:
            files: The captures.
            settings: How they are read.
            limit: Packets a point.
            n_parts: Of how many files each file's point is.
            directory: Where tasks keep what is too large to return.
            tell: Told how far the reading is.
        """

    def learn(
        self,
        files: Sequence[str],
        settings: _native.Settings,
        beforehand: Beforehand,
        tell: Tell | None,
    ) -> _native.Learned:
        """Learn which flows of a point are known by other addresses at another.

        Args:
            files: The captures.
            settings: How they are read.
            beforehand: What is known of points and their stamps.
            tell: Told how far the reading is.
        """

    def match(  # noqa: PLR0913 - what is kept is named
        self,
        files: Sequence[str],
        settings: _native.Settings,
        plan: Plan,
        directory: str,
        places: Sequence[Sequence[Place]],
        *,
        keep_rows: bool,
        keep_crossings: bool = False,
        tell: Tell | None,
    ) -> Matched:
        """Match all frames as planned; what is too large to return goes into `directory`.

        By file, `places` tells where reading may begin besides its beginning.
        """

    def run_elsewhere(self, tasks: Sequence[Task]) -> Iterator[TaskResult] | None:
        """Run tasks beside one another, and give what each returns, in their order.

        Also after `close`. None where they had better run here.
        """

    def close(self) -> None:
        """Give back what was opened for this run alone."""


def engine(text: str, n_slices: int | None = None) -> Engine:
    """Give an engine by NAME or NAME:PLACE.

    Args:
        text: Its name; behind a colon, what it calls the place where it runs.
        n_slices: In how many slices it matches, if it does; by default it chooses.

    Raises:
        EngineError: There is none of that name, or it cannot be had.
    """
    name, _, place = text.partition(":")
    if name not in ENGINES:
        raise EngineError.unknown(name, [*ENGINES])
    module = importlib.import_module(f"pcaplat.run.engines.{ENGINES[name]}")
    return cast("Engine", module.made(place, n_slices))
