"""What is wrong with scenarios, their runs, and the study files that name them."""

from collections.abc import Sequence
from difflib import get_close_matches

from pcaplat.errors import InputError

MOST_NAMES = 5
"""Of a folder, that a message lists."""


class StudyError(InputError):
    """Scenarios, runs or a study file cannot be used; of a file, the message tells the line."""

    @classmethod
    def no_runs(cls, name: str) -> "StudyError":
        """Ask for runs."""
        return cls(f"{name}: has no runs; give a folder of captures, or several")

    @classmethod
    def no_captures(cls, folder: str, found: list[str]) -> "StudyError":
        """Say what a folder holds instead of captures."""
        holds = f"it holds {', '.join(found[:MOST_NAMES])}" if found else "it is empty"
        return cls(
            f"{folder}: has no captures ({holds}); give a folder of captures (.pcap, .pcapng …), a "
            "folder of such folders, or what merge -o wrote"
        )

    @classmethod
    def no_scenario(cls, name: str) -> "StudyError":
        """Say what to give instead of a file."""
        return cls(
            f"{name}: is a file; put the captures of one run into a folder and give that, or a "
            "folder of such folders, or STUDY.toml:SCENARIO"
        )

    @classmethod
    def chosen_already(cls, folder: str, options: Sequence[str]) -> "StudyError":
        """Refuse to choose packets of a result."""
        return cls(
            f"{folder}: is a result, whose packets were chosen when it was merged; give "
            f"{', '.join(options)} to merge instead, or give its captures here"
        )

    @classmethod
    def not_written_whole(cls, folder: str, name: str) -> "StudyError":
        """Ask for a result that holds what comparing needs."""
        return cls(f"{folder}: has no {name}; write it again with merge -o of this version")

    @classmethod
    def unreadable_history(cls, file: str, reason: str) -> "StudyError":
        """Refuse a history that holds something else."""
        return cls(
            f"--history: {file} is no comparison that was kept there ({reason}); take it away, or "
            "give another folder"
        )

    @classmethod
    def no_confidence(cls, value: float) -> "StudyError":
        """Refuse what is no confidence."""
        return cls(f"--confidence {value:g}: lies between 0 and 1, like 0.95")

    @classmethod
    def no_folder(cls, where: str, pattern: str) -> "StudyError":
        """Say which entry of a study file leads nowhere."""
        return cls(f"{where}: {pattern}: there is no such folder or file, seen from the study file")

    @classmethod
    def nothing_to_merge(cls, where: str) -> "StudyError":
        """Say that all runs of a study are results already."""
        return cls(f"{where}: all of its runs are results of merge already; compare or validate it")

    @classmethod
    def which_scenario(cls, where: str, names: list[str]) -> "StudyError":
        """Ask for one of several scenarios."""
        return cls(f"{where}: has several scenarios; write {where}:{names[0]} ({', '.join(names)})")

    @classmethod
    def two_scenarios(cls, where: str, names: list[str]) -> "StudyError":
        """Ask for both sides of a comparison."""
        if not names:
            return cls(
                f"{where}: has no second scenario to compare with; give BASELINE and TREATMENT"
            )
        there_are = ", ".join(f"{where}:{name}" for name in names)
        return cls(f"{where}: has not just two scenarios; name two of {there_are}")

    @classmethod
    def files_among_folders(cls, name: str) -> "StudyError":
        """Refuse captures beside scenarios."""
        return cls(
            f"{name}: is no folder, and others are; give folders alone (each a scenario), or "
            "captures alone (one run)"
        )

    @classmethod
    def scenario_twice(cls, name: str) -> "StudyError":
        """Refuse two folders for one scenario."""
        return cls(
            f"{name}: is given twice; put the folders of a scenario's runs into one folder, and "
            "write SCENARIO=FOLDER"
        )

    @classmethod
    def copied(cls, one: str, other: str) -> "StudyError":
        """Refuse to count one run twice."""
        return cls(
            f"{other} and {one} are the same run: their captures hold the same packets; give each "
            "run once, and captures of its own to each scenario"
        )

    @classmethod
    def cut_into_pieces(cls, one: str, other: str, evidence: str) -> "StudyError":
        """Refuse to count pieces of one run."""
        return cls(
            f"{other} and {one} are of one run ({evidence}); what differs from run to run is the "
            "same in both: give them as one run, in one folder, or make further runs"
        )

    @classmethod
    def no_such_scenario(cls, name: str, known: Sequence[str]) -> "StudyError":
        """Say which scenarios claims are about."""
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"they are about: {', '.join(known)}"
        return cls(f"{name}: none of the claims is about this scenario; {hint}")

    @classmethod
    def nothing_to_judge(cls, names: Sequence[str], scenarios: Sequence[str]) -> "StudyError":
        """Ask for captures besides claims: of the scenarios that they are about."""
        given = ", ".join(names)
        wanted = " ".join(f"{name}=FOLDER" for name in scenarios)
        what = f"captures of each scenario ({wanted})" if wanted else "captures, folders of them,"
        return cls(f"{given}: claims alone decide nothing; give {what} or a study file")

    @classmethod
    def unknown_scenario(cls, where: str, name: str, known: list[str]) -> "StudyError":
        """Say which scenarios a study file has."""
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
        return cls(f"{where}: has no scenario {name!r}; {hint}")

    @classmethod
    def without_claims(cls, where: str) -> "StudyError":
        """Ask for claims."""
        return cls(f'{where}: names no claims; add claims = ["FILE.toml"], or give them first')
