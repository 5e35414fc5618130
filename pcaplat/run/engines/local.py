"""The local engine: threads of this machine, in bounded memory."""

from collections.abc import Sequence

from pcaplat import _native
from pcaplat.model.matched import Matched
from pcaplat.model.plan import Beforehand, Plan
from pcaplat.model.sampled import Sampled
from pcaplat.run.engines import Tell


def sample(
    files: Sequence[str],
    settings: _native.Settings,
    limit: int,
    n_parts: Sequence[int],
    tell: Tell | None,
) -> Sampled:
    """See `Engine.sample`."""
    return _native.sample(list(files), settings, limit, tell, n_parts=list(n_parts))


def learn(
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
    files: Sequence[str],
    settings: _native.Settings,
    plan: Plan,
    directory: str,
    *,
    keep_rows: bool,
    keep_crossings: bool = False,
    tell: Tell | None,
) -> Matched:
    """See `Engine.match`."""
    kept = {"keep_rows": keep_rows, "keep_crossings": keep_crossings}
    return _native.match_files(list(files), settings, plan, directory, **kept, tell=tell)
