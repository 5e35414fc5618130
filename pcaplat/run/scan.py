"""What the first reading of the captures found: points, clocks, the sample, and diagnostics.

`merge` goes on from here to match every packet; `lint` stays with the sample.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from pcaplat.diagnostics.carriers import check_carriers, check_link_types
from pcaplat.diagnostics.dialogues import Split, check_splits, check_unseen, find_splits
from pcaplat.diagnostics.encapsulation import (
    Interruption,
    check_interruptions,
    find_interruptions,
)
from pcaplat.diagnostics.files import (
    check_clocks,
    check_files,
    check_overlap,
    interface_of,
    refuse_other_keys,
)
from pcaplat.diagnostics.hops import check_hops
from pcaplat.diagnostics.identities import check_packets, check_translations
from pcaplat.diagnostics.placement import check_offload_signs, check_tunnels
from pcaplat.diagnostics.stamp_order import check_sorting, check_stamp_order
from pcaplat.model.clocks import Clocks
from pcaplat.model.diagnostic import Diagnostic
from pcaplat.model.files.captures import clock_domains, members_of, point_names
from pcaplat.model.files.files_to_points import PointOf, find_points, interfaces_of
from pcaplat.model.matched import MinDelays
from pcaplat.model.path import Findings
from pcaplat.model.points import Point, PointTree
from pcaplat.model.sampled import FileFacts, SampleColumns, Sampled
from pcaplat.records import dataclass
from pcaplat.run.job import Job, PointsFound
from pcaplat.stages.align import align
from pcaplat.stages.survey import (
    Sample,
    divide,
    find_tenants,
    hidden_repeats,
    survey,
    suspect,
)
from pcaplat.tables.columns import Row


@dataclass(frozen=True)
class Scan:
    """The captures after their first reading.

    `sampled` is what the engine brought home, `facts` of each file; `point_of`, `divisions` and
    `names` tell which part of which file is which point; `domains` has the clock of each point.
    Points that are `misplaced` cannot be where they seem to be.
    """

    job: Job
    sampled: Sampled
    points: Sequence[Point]
    point_of: PointOf
    divisions: Sequence[PointTree | None]
    names: Sequence[str]
    sample: Sample
    misplaced: frozenset[int] = frozenset()

    @classmethod
    def of(cls, job: Job) -> "Scan":
        """Read all captures once, again where addresses are translated, and find their points."""
        job, sampled = _sampled(job)
        facts = sampled.facts
        names, interfaces = point_names(job.captures), [interfaces_of(of_file) for of_file in facts]
        packets, more = sampled.packets, sampled.more
        n_more = len(more["key"])
        if n_more:
            packets = {name: np.concatenate((own, more[name])) for name, own in packets.items()}
        divisions, part = divide(packets, sampled.flows, names, interfaces)
        points, point_of = find_points(job.captures, facts, divisions)
        sample = Sample.of(packets, sampled.flows, divisions, part, sampled.fragmented, n_more)
        return cls(job.ordered(points), sampled, points, point_of, divisions, names, sample)

    @property
    def facts(self) -> Sequence[FileFacts]:
        """What reading told of each file."""
        return self.sampled.facts

    @property
    def domains(self) -> list[int]:
        """The clock of each point; one whose stamps are of two clocks shares its with no other."""
        found = clock_domains(self.points, self.job.same_clock)
        own = {point: len(found) + at for at, point in enumerate(sorted(self.split_points))}
        mixed = [own.get(point, domain) for point, domain in enumerate(found)]
        dense = {domain: at for at, domain in enumerate(sorted(set(mixed)))}
        return [dense[domain] for domain in mixed]

    @property
    def declared_clocks(self) -> list[Row]:
        """What was declared of clocks: a row for each point of a group, or with an accuracy."""
        names = [point.name for point in self.points]
        groups = [members_of(self.points, group) for group in self.job.same_clock]
        shared: list[Row] = [
            {"point": names[one], "group": number, "accuracy_ns": None}
            for number, group in enumerate(groups)
            for one in sorted(group)
        ]
        accuracy_ns = self.job.accuracy_ns(self.points)
        return shared + [
            {"point": names[one], "group": None, "accuracy_ns": off_ns}
            for one, off_ns in accuracy_ns.items()
        ]

    @cached_property
    def split_points(self) -> frozenset[int]:
        """Points whose received and sent frames have stamps of different clocks."""
        places = {(one.file, one.interface) for one in self.splits}
        return self.misplaced | frozenset(
            number
            for number, point in enumerate(self.points)
            for file, part in point.sources
            if (file, interface_of(self.divisions[file], part)) in places
        )

    def survey(self) -> Findings:
        """Relate the points by the sample."""
        path, mixed = self.job.path, self.split_points
        return survey(self.sample, self.points, path, self.domains, mixed)

    def surveyed(self) -> "tuple[Scan, Findings]":
        """Find the path, again without the clocks of points that cannot be where they seem to be.

        Returns:
            The scan that knows these points, and what the survey found.
        """
        scan, findings = self, self.survey()
        found = self.interruptions(findings)
        warnings = check_interruptions(findings, found)
        if misplaced := findings.misplaced | {one.point for one in found if one.is_sure}:
            scan = replace(self, misplaced=misplaced)
            if _clocks_asked(scan) != _clocks_asked(self):
                findings = scan.survey()
        return scan, replace(findings, warnings=[*findings.warnings, *warnings])

    def interruptions(self, findings: Findings) -> list[Interruption]:
        """Where a tunnel seems to be left and entered again on the path found."""
        packets = self.sampled.packets
        source = self.sample.source[: len(packets["key"])]
        point_of_row = np.full(len(source), -1)
        for number, point in enumerate(self.points):
            for file, part in point.sources:
                point_of_row[(source[:, 0] == file) & (source[:, 1] == part)] = number
        return find_interruptions(packets, point_of_row, findings)

    def align(
        self,
        findings: Findings,
        least: Sequence[MinDelays],
        files: Sequence[str] = (),
    ) -> Clocks:
        """Bound all clocks, but for those of points that have two.

        Args:
            findings: What the survey found.
            least: The least raw differences, each of the points `up` and `down`.
            files: Names of the files, where frames are to be named.
        """
        trusted, accuracy_ns = self._trusted(least), self.job.accuracy_ns(self.points)
        return align(findings, self.domains, trusted, accuracy_ns, files)

    def _trusted(self, least: Sequence[MinDelays]) -> list[MinDelays]:
        """Leave out what bounds no clock: differences to points that have two."""
        return [one for one in least if not {one.up, one.down} & self.split_points]

    @property
    def flows(self) -> SampleColumns:
        """Flows of the sample."""
        return self.sampled.flows

    @cached_property
    def splits(self) -> list[Split]:
        """Where received and sent frames have stamps of different clocks."""
        return find_splits(self.flows)

    @property
    def warnings(self) -> list[Diagnostic]:
        """What is doubtful about the files themselves."""
        captures, facts = self.job.captures, self.facts
        return [
            *self.job.warnings,
            *check_files(captures, facts, self.job.stamp_names),
            *check_packets(captures, facts),
            *check_translations(self.job.translations_left_out, self.job.n_not_followed),
            *check_stamp_order(captures, facts),
            *check_splits(captures, self.splits),
            *self._unseen(),
            *check_carriers(captures, facts),
            *check_tunnels(captures, facts, self.job.placing),
            *check_overlap(captures, facts, self.points, self.divisions),
            *check_clocks(captures, self.points, self.domains),
            *check_hops(captures, facts[: self.job.n_files]),
        ]

    @property
    def notes(self) -> list[Diagnostic]:
        """What touches no figure, and misleads only who reads the captures by eye."""
        captures, facts = self.job.captures, self.facts
        return [
            *check_sorting(captures, facts),
            *check_link_types(captures, facts),
            *check_offload_signs(captures, facts, self.sampled.packets),
        ]

    def _unseen(self) -> list[Diagnostic]:
        """What is missing because nobody asked for it is no drop."""
        options = self.job.options
        is_whole = options.sample == 1 and options.bpf is None and options.bpf_outer is None
        return check_unseen(self.job.captures, self.flows) if is_whole else []


def _clocks_asked(scan: Scan) -> tuple[object, ...]:
    """Return what the survey uses of clocks: which points share one, which have two of their own.

    The latter matters only on a declared path, whose ends such points cannot distinguish.
    """
    domains = scan.domains
    return [*map(domains.index, domains)], scan.split_points if scan.job.path else None


def _sampled(job: Job) -> tuple[Job, Sampled]:
    """Sample, again where tenants have the same addresses.

    Where addresses seem to be translated, learn how, and sample by what all agree on.
    """
    sampled = job.sampled
    at_hops = job.at_hops(sampled)
    if len(at_hops.captures) > len(job.captures):
        job, sampled = at_hops, at_hops.sampled
    refuse_other_keys(job.captures, sampled.facts)
    if tenants := find_tenants(sampled.packets, point_names(job.captures)):
        job = replace(job, tenants=tenants)
        sampled = job.sampled
    facts, packets = sampled.facts, hidden_repeats(sampled.packets)
    divisions, part = None, None
    if packets is not None:
        names, interfaces = point_names(job.captures), [interfaces_of(of_file) for of_file in facts]
        divisions, part = divide(packets, sampled.flows, names, interfaces)
    places, place_of = find_points(job.captures, facts, divisions)
    suspicion = suspect(sampled, places, divisions or (), part)
    if suspicion is None:
        return job, sampled
    seen_by = PointsFound([place.name for place in places], place_of, divisions)
    known = job.translated(sampled, seen_by, suspicion.centres, suspicion.window_ns)
    return (job, sampled) if known is job else (known, known.sampled)
