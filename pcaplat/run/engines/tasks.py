"""Tasks: what a worker runs, wherever it is."""

from typing import Protocol

from pcaplat.records import dataclass

TASKS_A_WORKER = 4
"""Captures are divided into about so many tasks each: the last one to end is waited for."""


@dataclass(frozen=True)
class TaskResult:
    """What a task came to: sums, and the folder of what is too much to return."""

    sums: bytes
    folder: str


class Task(Protocol):
    """What a worker runs, wherever it is."""

    @property
    def index(self) -> int:
        """Its number among its kind, from 0."""

    def run(self) -> TaskResult:
        """Do it."""
