"""The local engine: threads of this machine, in bounded memory."""

from collections.abc import Iterator, Sequence

from pcaplat import _native
from pcaplat.errors import EngineError
from pcaplat.model.matched import Matched
from pcaplat.model.plan import Beforehand, Plan
from pcaplat.model.sampled import Place, Sampled
from pcaplat.run.engines import Tell
from pcaplat.run.engines.tasks import Task, TaskResult


class LocalEngine:
    """Reads the files here, a thread for each sequence of them, and matches with one a core."""

    def sample(
        self,
        files: Sequence[str],
        settings: _native.Settings,
        limit: int,
        n_parts: Sequence[int],
        directory: str,  # noqa: ARG002 - threads share their memory
        tell: Tell | None,
    ) -> Sampled:
        """See `Engine.sample`."""
        return _native.sample(list(files), settings, limit, tell, n_parts=list(n_parts))

    def learn(
        self,
        files: Sequence[str],
        settings: _native.Settings,
        beforehand: Beforehand,
        tell: Tell | None,
    ) -> _native.Learned:
        """See `Engine.learn`."""
        return _native.learn(
            list(files),
            settings,
            beforehand.point_of,
            beforehand.trees,
            beforehand.centres,
            beforehand.window_ns,
            beforehand.sequences,
            tell=tell,
        )

    def match(  # noqa: PLR0913 - what is kept is named
        self,
        files: Sequence[str],
        settings: _native.Settings,
        plan: Plan,
        directory: str,
        places: Sequence[Sequence[Place]],  # noqa: ARG002 - a thread reads a capture
        *,
        keep_rows: bool,
        keep_crossings: bool = False,
        tell: Tell | None,
    ) -> Matched:
        """See `Engine.match`."""
        kept = {"keep_rows": keep_rows, "keep_crossings": keep_crossings}
        return _native.match_files(list(files), settings, plan, directory, **kept, tell=tell)

    def run_elsewhere(self, tasks: Sequence[Task]) -> Iterator[TaskResult] | None:  # noqa: ARG002 - it is here
        """See `Engine.run_elsewhere`."""
        return None

    def close(self) -> None:
        """See `Engine.close`."""


def made(place: str, n_slices: int | None) -> LocalEngine:
    """Make the engine; it has no other place, nor slices.

    Raises:
        EngineError: Either was asked for.
    """
    if place or n_slices is not None:
        raise EngineError.not_sliced()
    return LocalEngine()
