"""Exceptions that pcaplat raises: unusable input, missing evidence, a failing engine.

```
PcaplatError
├── InputError (also ValueError)     what you gave cannot be used
│   ├── ClaimError                   a file of claims and tables cannot be used
│   ├── OptionError                  a value of an option cannot be read
│   ├── OutputError                  the place to write to cannot be used
│   ├── PointError                   a capture-point profile cannot be used
│   ├── StudyError                   scenarios, runs or a study file cannot be used
│   └── TableError                   a table has other columns than it should
├── EvidenceError                    the captures cannot answer the question
└── EngineError                      an engine failed; the cause is chained
```

`FileNotFoundError`, `PermissionError`, `IsADirectoryError` and the like pass through as they are.
A damaged frame, an unmatched packet or a doubtful clock is no exception but a value in a row and
a warning; a claim that fails is a verdict. Every message names the place, the problem and an
action.
"""

import os
from difflib import get_close_matches


def with_path(problem: OSError, where: str) -> OSError:
    """Give the failure to write with its place, which writing to an open file does not tell."""
    if problem.filename is None and problem.errno is not None:
        return OSError(problem.errno, os.strerror(problem.errno), where)
    return problem


class PcaplatWarning(UserWarning):
    """Something that may mislead in a result: an error or a warning of its `warnings`.

    One category, so that `warnings.filterwarnings("ignore", category=pcaplat.PcaplatWarning)` is
    for all of them. The attributes are the columns of pcaplat.tables.WARNINGS.

    Example:
        >>> PcaplatWarning("few-direction-changes", None, "the order rests on 1 direction change")
        PcaplatWarning('few-direction-changes: the order rests on 1 direction change')
    """

    def __init__(  # noqa: PLR0913 - a column is an argument
        self,
        code: str,
        point: str | None,
        text: str,
        *,
        severity: str = "warning",
        evidence: str = "",
        consequence: str = "",
        remedy: str = "",
    ) -> None:
        super().__init__(f"{code}: {text}")
        self.code, self.point, self.text, self.severity = code, point, text, severity
        self.evidence, self.consequence, self.remedy = evidence, consequence, remedy


class PcaplatError(Exception):
    """Everything that pcaplat raises on purpose."""


class InputError(PcaplatError, ValueError):
    """A file, an option or a name cannot be used."""

    @classmethod
    def unknown_point(cls, option: str, name: str, known: list[str]) -> "InputError":
        """Say which capture points there are."""
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}? There are" if near else "there are"
        return cls(f"{option} {name}: there is no such capture point; {hint}: {', '.join(known)}")

    @classmethod
    def too_many_points(cls, n: int, limit: int, file: str, n_of_file: int) -> "InputError":
        """Refuse to relate every point with every other without end."""
        return cls(
            f"the captures hold {n} capture points, {n_of_file} of them in {file}; pcaplat "
            f"compares at most {limit} points with each other; give fewer captures, or only the "
            "interfaces of the path (tshark -Y 'frame.interface_id == 3' -w extracts one)"
        )

    @classmethod
    def named_twice(cls, option: str, name: str) -> "InputError":
        """Refuse the same point twice."""
        return cls(f"{option}: {name} is named twice; name each point once")

    @classmethod
    def apart_from_path(cls, option: str, name: str, path: list[str]) -> "InputError":
        """Refuse a point whose clock cannot be related to the path's."""
        return cls(
            f"{option} {name}: shares no packet with the path, so its clock cannot be related "
            f"to it; choose one of: {', '.join(path)}"
        )

    @classmethod
    def too_few_points(cls, known: list[str]) -> "InputError":
        """Ask for a second capture."""
        return cls(
            f"one capture point alone ({', '.join(known)}) shows no path; give the captures of "
            "two or more points, each with a name of its own (POINT=FILE)"
        )

    @classmethod
    def no_list_of_captures(cls, given: object) -> "InputError":
        """Ask for a list of captures."""
        return cls(f"{given!r}: is no list of captures; give one, like ['near.pcap', 'far.pcap']")

    @classmethod
    def given_twice(cls, path: str) -> "InputError":
        """Refuse the same file twice."""
        return cls(f"{path}: is given twice; name each capture once")

    @classmethod
    def slash_in_point(cls, point: str, path: str) -> "InputError":
        """Refuse a name that would look like a folder."""
        return cls(
            f"{point}={path}: there is no such file, and {point} cannot be a point's name, for it "
            f"has a slash; write it like {point.replace('/', '-')}={path}"
        )

    @classmethod
    def nothing_to_draw(cls, what: str) -> "InputError":
        """Say that nothing was measured that could be drawn."""
        return cls(f"{what}: the captures hold nothing that could be drawn of it")

    @classmethod
    def no_standard_input(cls) -> "InputError":
        """Say that nothing can be read from where nothing is."""
        return cls("-: standard input is closed; give a file, or pipe a capture into pcaplat")

    @classmethod
    def read_only_once(cls) -> "InputError":
        """Refuse to pickle what cannot be merged again."""
        return cls(
            "a result of captures that came through a pipe cannot be pickled, for they cannot be "
            "read again; write it with pcaplat.write, or merge files"
        )

    @classmethod
    def merged_differently(cls) -> "InputError":
        """Refuse tables that are not those of the document."""
        return cls(
            "the captures give another result than the one that was pickled: they changed, or this "
            "is another version; merge them anew"
        )

    @classmethod
    def unreadable_result(cls, folder: str, reason: str) -> "InputError":
        """Refuse a folder that is no result of ours."""
        return cls(f"{folder}: is no result that merge -o wrote: {reason}; write it again")

    @classmethod
    def clock_of_nobody(cls, alike: str) -> "InputError":
        """Ask for the other points that share a clock."""
        return cls(
            f"--same-clock {alike}: one point alone shares its clock with nobody; "
            "write it like --same-clock vnic,uplink or --same-clock all"
        )

    @classmethod
    def no_time(cls, option: str) -> "InputError":
        """Refuse a duration that nothing fits into."""
        return cls(f"{option}: must be longer than 0; leave it out to have it found")

    @classmethod
    def wrong_range(cls, asked: str, what: str, span: str) -> "InputError":
        """Say that no packet can be in the time asked for, and when there are some."""
        return cls(f"{asked}: {what}; the captures lie from {span}")

    @classmethod
    def rows_not_kept(cls, option: str = "keep_rows=True") -> "InputError":
        """Say why a large table, or a breakdown, is not there."""
        return cls(f"this result was made without its rows; call merge with {option}")

    @classmethod
    def no_result(cls, folder: str) -> "InputError":
        """Say that a folder of a result is not there."""
        return cls(f"{folder}: there is no such directory; give a folder that merge -o wrote")

    @classmethod
    def no_result_in(cls, folder: str, name: str) -> "InputError":
        """Ask for a result instead of another folder."""
        return cls(f"{folder}: has no {name}; give a folder that merge -o wrote")

    @classmethod
    def damaged(cls, where: str, text: str) -> "InputError":
        """Refuse a damaged capture where the user asked for that."""
        found = text.removesuffix("; what came before is used")  # it is not
        return cls(f"{where}: {found}; rejected because of --strict")

    @classmethod
    def other_key(cls, captured: str | None, digests: list[str]) -> "InputError":
        """Refuse digests of different keys, or digests beside a capture."""
        digest, *others = digests
        if captured is None:
            return cls(
                f"{digest} and {others[0]}: digests of different keys, so nothing in them can be "
                "compared; make both with the same --key FILE"
            )
        return cls(
            f"{captured} and {digest}: a capture and a digest, so nothing in them can be compared; "
            f"make a digest of {captured} too, with the key of {digest}"
        )


class ClaimError(InputError):
    """A file of claims and tables cannot be used; the message begins with file and line."""

    @classmethod
    def unknown(cls, name: str, known: list[str]) -> "ClaimError":
        """Say which files of claims there are."""
        return cls(
            f"{name!r} is neither a .toml file nor one that ships with pcaplat; there are: "
            f"{', '.join(known)}"
        )

    @classmethod
    def unknown_claim(cls, claim: str, known: list[str]) -> "ClaimError":
        """Say which claims there are."""
        near = get_close_matches(claim, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
        return cls(f"--claim {claim}: there is no such claim; {hint}")

    @classmethod
    def no_claims(cls, names: list[str]) -> "ClaimError":
        """Ask for claims where a file has tables only."""
        return cls(f"{', '.join(names)}: has no claims; write [[claims]], see docs/prove/claims.md")

    @classmethod
    def unknown_table(cls, name: str, files: list[str], tables: list[str]) -> "ClaimError":
        """Say which tables there are."""
        near = get_close_matches(name, [*files, *tables], 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join([*files, *tables])}"
        return cls(
            f"{name!r} is no .toml file, no file of tables that ships with pcaplat, and no "
            f"table in one; {hint}"
        )


class OptionError(InputError):
    """The value of an option cannot be read."""

    @classmethod
    def unreadable(cls, what: str, text: str, examples: str) -> "OptionError":
        """Say which kind of value `text` fails to be, and how one is written.

        Example:
            >>> str(OptionError.unreadable("duration", "5 parsecs", "250ns, 1.5us"))
            "'5 parsecs' is no duration; write it like 250ns, 1.5us"
        """
        return cls(f"{text!r} is no {what}; write it like {examples}")

    @classmethod
    def unknown_table(cls, option: str, name: str, known: list[str]) -> "OptionError":
        """Say which tables there are."""
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
        return cls(f"{option} {name}: there is no such table; {hint}")


class OutputError(InputError):
    """The place to write to cannot be used."""

    @classmethod
    def not_empty(cls, directory: str, found: str) -> "OutputError":
        """Refuse a folder that holds something already."""
        return cls(
            f"{directory}: is not empty (it holds {found}); choose another folder, "
            "or replace the results in it with --overwrite"
        )

    @classmethod
    def written_by_another(cls, directory: str) -> "OutputError":
        """Refuse a folder that another run writes into."""
        return cls(
            f"{directory}: another run is writing into it; choose another folder, or wait for that"
        )

    @classmethod
    def replaces_capture(cls, file: str) -> "OutputError":
        """Refuse to write over what is read."""
        return cls(f"{file}: is one of the captures, and would be replaced; choose another place")

    @classmethod
    def no_standard_output(cls) -> "OutputError":
        """Say that nobody would see the result."""
        return cls("standard output is closed; leave it open, or write files with --output")

    @classmethod
    def link_to_nowhere(cls, directory: str) -> "OutputError":
        """Refuse a link whose end is missing."""
        return cls(f"{directory}: is a link to a folder that is not there; make it, or unlink it")

    @classmethod
    def no_folder(cls, file: str, folder: str) -> "OutputError":
        """Refuse to make a folder that may be a slip of the pen."""
        return cls(f"{file}: there is no directory {folder}; make it, or check the name")

    @classmethod
    def file_for_folder(cls, directory: str) -> "OutputError":
        """Refuse the name of a file where a new folder is to be made."""
        return cls(
            f"{directory}: is a name of a file, but a folder is to be made; give the name of a "
            "folder, or write standard output to the file: --format csv > FILE"
        )

    @classmethod
    def not_a_folder(cls, directory: str) -> "OutputError":
        """Refuse a file where a folder is needed."""
        return cls(f"{directory}: is a file; give the name of a folder, new or empty")

    @classmethod
    def folder_for_file(cls, place: str) -> "OutputError":
        """Refuse a folder where a file is to be written."""
        return cls(f"{place}: is a folder; name a file in it")

    @classmethod
    def not_a_file(cls, place: str) -> "OutputError":
        """Refuse to put a file where a folder is."""
        return cls(
            f"{place}: is a folder, and a file of the result has that name; move it away, or "
            "choose another place"
        )


class PointError(InputError):
    """A capture-point profile cannot be used."""

    @classmethod
    def unknown(cls, name: str, known: list[str]) -> "PointError":
        """Say which profiles there are."""
        near = get_close_matches(name, known, 1) or [one for one in known if name.lower() in one]
        hint = f"did you mean {' or '.join(near)}? There are" if near else "there are"
        return cls(f"{name!r} is no capture-point profile; {hint}: {', '.join(known)}")

    @classmethod
    def wrong_key(cls, where: str, key: str, reason: str) -> "PointError":
        """Say which key of a profile is wrong, and why."""
        return cls(f"{where}: {key}: {reason}")

    @classmethod
    def same_place(cls, profile: str, pair: str, point: str) -> "PointError":
        """Refuse two captures that would be one point."""
        return cls(
            f"profile {profile}: {pair} are both {point} by their names; write POINT=PATH, or "
            "begin each name with its host, like esx1-NAME.pcap"
        )


class TableError(InputError):
    """A table has other columns, or other types, than it should."""

    @classmethod
    def wrong_column(cls, table: str, column: str, reason: str) -> "TableError":
        """Say which column of which table is wrong, and how."""
        return cls(f"table {table}: column {column}: {reason}; see pcaplat.tables")


class EvidenceError(PcaplatError):
    """The captures cannot answer the question."""

    @classmethod
    def no_frames(cls, empty: list[str], others: list[str]) -> "EvidenceError":
        """Say that too few captures hold anything."""
        rest = f", only in {', '.join(others)}" if others else ""
        return cls(
            f"no frame in {', '.join(empty)}{rest}; a path needs two points with traffic; likely "
            "causes: the capture stopped too soon, or its filter is too narrow"
        )

    @classmethod
    def nothing_in_common(
        cls, n_sampled: list[tuple[str, int]], reasons: list[str]
    ) -> "EvidenceError":
        """Say that no packet was seen at two points, what each point has, and why, if known."""
        seen = ", ".join(f"{name} {n}" for name, n in n_sampled)
        why = "; ".join(reasons) or (
            "likely causes: captures of different traffic or times, or a tunnel on an unknown port "
            "(pcaplat read lists the layers)"
        )
        return cls(f"no packet was found at two points (packets compared: {seen}); {why}")

    def because(self, reasons: list[str]) -> "EvidenceError":
        """Give the same error with what the files themselves say."""
        return EvidenceError("; ".join([str(self), *reasons]))

    @classmethod
    def nothing_matched(cls, points: list[str], n_by: dict[str, int]) -> "EvidenceError":
        """Say that no segment could be measured, and whether that is for equal packets."""
        what = f"no packet could be followed between neighbouring points ({', '.join(points)})"
        advice = "try a larger --window, a wider --from and --to, or give the order with --path"
        n_equal, n_frames = n_by["ambiguous"], sum(n_by.values())
        if 2 * n_equal > n_frames:
            what += f": {n_equal:,} of {n_frames:,} frames equal others that are near"
            advice = "capture whole packets, or with --filter those that are numbered or differ"
        return cls(f"{what}; {advice}")

    @classmethod
    def no_trials(cls, n_frames: int) -> "EvidenceError":
        """Say that nothing looks like a trial of RFC 2544."""
        return cls(
            f"no trial: neither end of the path sent {n_frames} IP frames of one size at one rate "
            "to the other; name the ends with --path, or give each trial as a run of a study file"
        )

    @classmethod
    def nothing_to_compare(
        cls, baseline: tuple[str, list[str]], treatment: tuple[str, list[str]]
    ) -> "EvidenceError":
        """Say that two scenarios have no segment in common."""
        paths = "; ".join(f"{name}: {' → '.join(path)}" for name, path in (baseline, treatment))
        return cls(
            f"no segment was measured in every run of both scenarios ({paths}); give the same "
            "points the same names, with POINT=PATH or in a study file"
        )


class EngineError(PcaplatError):
    """An engine failed; the cause is chained."""

    @classmethod
    def unknown(cls, name: str, known: list[str]) -> "EngineError":
        """Say which engines there are."""
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}? There are" if near else "there are"
        return cls(f"--engine {name}: there is no such engine; {hint}: {', '.join(known)}")

    @classmethod
    def not_sliced(cls) -> "EngineError":
        """Refuse for the local engine what is of others."""
        return cls(
            "engine local: takes no place and no slices, for its threads share all flows; leave "
            "them out, or give an executor or --engine spark"
        )

    @classmethod
    def not_installed(cls, engine: str, package: str) -> "EngineError":
        """Say how to get what an engine runs on."""
        return cls(
            f"engine {engine}: {package} is not installed here; install it, for example with "
            f"pip install 'pcaplat[{engine}]'"
        )

    @classmethod
    def no_session(cls, place: str, evidence: str) -> "EngineError":
        """Say that Spark cannot be reached."""
        asked = f"spark:{place}" if place else "spark"
        first = evidence.strip().split("\n", 1)[0]
        return cls(
            f"engine {asked}: no session could be opened ({first}); check the address and that the "
            "server runs, or open a session yourself before calling merge"
        )

    @classmethod
    def spark_failed(cls, evidence: str) -> "EngineError":
        """Say what a task said, which Spark wraps in its own words."""
        lines = [line.strip() for line in evidence.strip().splitlines() if line.strip()]
        told = next((line for line in reversed(lines) if "Error" in line), (lines or ["?"])[0])
        return cls(
            f"engine spark: a task failed, and so did all attempts to run it again "
            f"({told}); check that every worker reaches the captures and the folder for "
            "temporary files (TMPDIR) by the same names, and has this version of pcaplat"
        )

    @classmethod
    def not_a_state(cls, folder: str) -> "EngineError":
        """Refuse to keep tasks among somebody's files."""
        return cls(
            f"--resume: {folder} holds other files than those of an interrupted merge; "
            "move them away"
        )

    @classmethod
    def state_in_use(cls, folder: str) -> "EngineError":
        """Refuse what two runs would do to each other."""
        return cls(f"--resume: another merge is at work in {folder}; wait until it has ended")

    @classmethod
    def read_only_once(cls, name: str) -> "EngineError":
        """Refuse what cannot be read again after an interruption."""
        return cls(
            f"--resume: {name} can be read only once, so a merge of it cannot go on after an "
            "interruption; save it to a file on this machine"
        )

    @classmethod
    def worker_died(cls, n_slices: int) -> "EngineError":
        """Say that a process was killed; its pool takes no further tasks."""
        return cls(
            f"executor: a worker process died while {n_slices} slices were matched, and its pool "
            "runs nothing more. Likely cause: it was killed, by hand or because memory ran out. "
            "Make a new executor and merge again; with more slices each needs less memory"
        )
