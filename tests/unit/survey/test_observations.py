"""What the survey is made of: unique packets, edges, openers, offload."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pcaplat.model.points import Point
from pcaplat.stages.survey import survey
from pcaplat.stages.survey.delays.relations import relate, share_anything, shared
from pcaplat.stages.survey.observations import unique_observations
from pcaplat.stages.survey.offload import check_offload, find_torn
from pcaplat.stages.survey.path_order.flow_openers import count_flow_openers
from pcaplat.stages.survey.path_order.links import find_edges
from pcaplat.stages.survey.path_order.routes import Routes
from tests.support.samples import START_NS, Walk, Watcher, observations, point_of, sample_of

if TYPE_CHECKING:
    from pcaplat.model.arrays import Ints
    from pcaplat.stages.survey.observations import Observations

MS = 1_000_000


class TestUnique:
    """Recipe: same bytes soon after are a copy only where some point saw the packet once."""

    def test_what_a_point_saw_once_is_unique(self) -> None:
        (found,) = unique_observations([observations([5, 3, 4], [10, 20, 30])])
        assert found.key.tolist() == [3, 4, 5]
        assert found.t_ns.tolist() == [20, 30, 10]

    def test_copies_fold_into_the_first_where_another_point_saw_one(self) -> None:
        mirror = observations([1, 1, 2], [MS, 1_000, 9])
        vm = observations([1], [77])
        folded, once = unique_observations([mirror, vm])
        assert (folded.key.tolist(), folded.t_ns.tolist()) == ([1, 2], [1_000, 9])
        assert once.key.tolist() == [1]

    def test_repeats_at_every_point_are_different_packets(self) -> None:
        repeats = [observations([1, 1], [0, 34_000]), observations([1, 1], [500, 34_500])]
        assert [len(found) for found in unique_observations(repeats)] == [0, 0]

    def test_a_retransmission_seen_once_elsewhere_is_no_copy(self) -> None:
        # 200 ms later: the point that saw one missed the other, nobody knows which
        both, one = unique_observations(
            [observations([1, 1], [0, 200 * MS]), observations([1], [5])]
        )
        assert len(both) == 0
        assert len(one) == 1

    def test_one_far_repeat_anywhere_stops_folding_everywhere(self) -> None:
        copied = observations([1, 1], [0, 1_000])
        resent = observations([1, 1], [0, 200 * MS])
        seen_once = observations([1], [0])
        assert [len(u) for u in unique_observations([copied, resent, seen_once])] == [0, 0, 1]

    def test_numbered_frames_equal_to_the_byte_are_copies_by_themselves(self) -> None:
        tagged = [
            observations([1, 1], [50, 60], copy_tag=[8, 8]),
            observations([1, 1], [1, 2], copy_tag=[8, 8]),
        ]
        assert [found.t_ns.tolist() for found in unique_observations(tagged)] == [[50], [1]]

    def test_frames_that_differ_outside_are_no_copies_by_themselves(self) -> None:
        tagged = [
            observations([1, 1], [50, 60], copy_tag=[8, 9]),
            observations([1, 1], [1, 2], copy_tag=[8, 8]),
        ]
        assert [len(found) for found in unique_observations(tagged)] == [0, 1]

    def test_equal_frames_far_apart_are_no_copies(self) -> None:
        tagged = [observations([1, 1], [0, 3 * MS], copy_tag=[8, 8])]
        assert [len(found) for found in unique_observations(tagged)] == [0]

    def test_nothing_is_unique_of_nothing(self) -> None:
        assert [
            len(found)
            for found in unique_observations([observations([], []), observations([], [])])
        ] == [0, 0]


class TestRelations:
    def test_differences_are_exact_where_floats_are_not(self) -> None:
        late = START_NS + 69 * 86_400 * 10**9 + 1
        both, _ = shared(
            observations([1, 2], [START_NS, START_NS + 7]), observations([1, 2], [late, late + 8])
        )
        assert both.d_ns.tolist() == [late - START_NS, late - START_NS + 1]

    def test_outliers_are_dropped_from_what_is_shared_but_seen_in_the_tail(self) -> None:
        keys = list(range(1000))
        t_ns = [START_NS + key * MS for key in keys]
        late = [t + (50 * MS if key % 40 == 7 else 1000) for key, t in enumerate(t_ns)]
        both, tail = shared(observations(keys, t_ns), observations(keys, late))
        assert set(both.d_ns.tolist()) == {1000}
        assert len(both) == 975
        assert tail.within_ns == 50 * MS - 1000
        far_ns = tail.within_ns - 1
        assert [tail.frac_beyond(ns) for ns in (far_ns, far_ns + 1)] == [0.025, 0]

    def test_packets_that_differ_alike_about_the_same_time_are_in_no_tail(self) -> None:
        keys = list(range(1000))
        t_ns = [START_NS + key * MS for key in keys]
        for n_alike, frac in ((1, 0.001), (3, 0.003), (5, 0)):
            is_far = [500 <= key < 500 + n_alike for key in keys]
            late = [t + 50 * MS * far for t, far in zip(t_ns, is_far, strict=True)]
            _, tail = shared(observations(keys, t_ns), observations(keys, late))
            assert tail.frac_beyond(40 * MS) == frac

    @pytest.mark.parametrize(
        ("later_ns", "is_enough"),
        [([5, 9], True), ([5, 5 * MS], False), ([46 * 1000 * MS] * 2, False)],
    )
    def test_broadcasts_relate_points_only_together(
        self, later_ns: list[int], *, is_enough: bool
    ) -> None:
        here = observations([1, 2], [0, 100], is_directed=False)
        there = observations([1, 2], [later_ns[0], 100 + later_ns[1]], is_directed=False)
        assert share_anything(shared(here, there)[0]) is is_enough

    def test_a_numbered_broadcast_relates_points_alone(self) -> None:
        here, there = (
            observations([1], [t], copy_tag=[4], is_directed=False) for t in (0, 46_000 * MS)
        )
        assert share_anything(shared(here, there)[0])

    def test_unicast_at_random_times_relates_nothing(self) -> None:
        chance = np.random.default_rng(4)
        keys = list(range(50))
        here, there = (
            observations(keys, chance.integers(0, 10**12, 50).tolist()) for _ in range(2)
        )
        assert relate(unique_observations([here, there]))[0] == {}


STEPS = [(0, 1), (1, 2)]


class TestEdges:
    def unique(self, *seen: list[int]) -> list[tuple[int, int]]:
        points = [observations(keys, keys) for keys in seen]
        along = list(range(len(seen)))
        return find_edges(points, points, along, Routes({}, [along]))

    def test_a_mirror_that_drops_a_fifth_makes_no_shortcut(self) -> None:
        every = list(range(1000))
        assert self.unique(every, every[200:], every) == [(0, 1), (1, 2)]

    @pytest.mark.parametrize(("n_seen", "edges"), [(29, STEPS), (0, [*STEPS, (0, 2)])])
    def test_a_point_that_missed_one_of_equal_packets_is_on_their_way(
        self, n_seen: int, edges: list[tuple[int, int]]
    ) -> None:
        """The others tell which is which, and that is no packet that passes by."""

        def of_both_ways(there: list[int], back: list[int]) -> Observations:
            is_toward = [True] * len(there) + [False] * len(back)
            at_ns = [*range(len(there)), *range(len(back))]
            return observations(there + back, at_ns, is_toward=is_toward)

        every, told = list(range(1000)), list(range(2000, 2030))
        unique = [of_both_ways(every, keys) for keys in (told, [], told)]
        seen = [of_both_ways(every, [3000] * n) for n in (30, n_seen, 30)]
        assert sorted(find_edges(seen, unique, [0, 1, 2], Routes({}, [[0, 1, 2]]))) == sorted(edges)

    def test_a_fork_has_an_edge_to_each_branch(self) -> None:
        every = list(range(1000))
        found = self.unique(every, every[:500], every[500:], every)
        assert found == [(0, 1), (0, 2), (1, 3), (2, 3)]

    def test_a_branch_that_one_in_a_hundred_takes_has_both_of_its_edges(self) -> None:
        every = list(range(2000))
        found = self.unique(every, every[:1980], every[1980:], every)
        assert found == [(0, 1), (0, 2), (1, 3), (2, 3)]

    def test_what_hardly_any_packet_does_is_no_edge(self) -> None:
        every = list(range(1000))
        # 10 of 1000 go round the fork: less than 2 % of the busiest edge
        assert self.unique(every, every[:495], every[495:990], every)[0:2] == [(0, 1), (0, 2)]
        assert (0, 3) not in self.unique(every, every[:495], every[495:990], every)

    def test_packets_that_seem_to_take_both_branches_join_none(self) -> None:
        every = list(range(1000))
        # 5 keys of 1000 are those of two packets
        found = self.unique(every, every[:505], every[500:], every)
        assert found == [(0, 1), (0, 2), (1, 3), (2, 3)]

    def test_what_is_busy_elsewhere_makes_no_edge_chance(self) -> None:
        busy, quiet = list(range(4000)), list(range(3960, 4040))
        assert self.unique(busy, busy, quiet, quiet) == [(0, 1), (1, 2), (2, 3)]

    def test_a_mirror_that_samples_makes_no_shortcut(self) -> None:
        every = list(range(1000))
        assert self.unique(every, every[::3], every) == [(0, 1), (1, 2)]

    @pytest.mark.parametrize("n_of_flow", [5, 50])
    def test_a_bypass_that_most_flows_take_is_an_edge(self, n_of_flow: int) -> None:
        every = list(range(1000))
        some = [key for key in every if key // n_of_flow % 3 == 0]
        points = [
            replace(observations(keys, keys), flow=np.array(keys) // n_of_flow)
            for keys in (every, some, every)
        ]
        found = find_edges(points, points, [0, 1, 2], Routes({}, [[0, 1, 2]]))
        assert found == [(0, 1), (0, 2), (1, 2)]

    def test_packets_that_take_another_time_go_another_way(self) -> None:
        """As a bond does it, packet by packet."""
        every = list(range(0, 300_000, 300))
        some = every[::3]
        far = [at + (10 if at in set(some) else 5_000) for at in every]
        points = [observations(every, every), observations(some, some), observations(every, far)]
        found = find_edges(points, points, [0, 1, 2], Routes({}, [[0, 1, 2]]))
        assert found == [(0, 1), (0, 2), (1, 2)]

    def test_what_passes_when_a_point_captures_no_more_goes_round_nothing(self) -> None:
        every = list(range(1000))
        assert self.unique(every, every[:300], every) == [(0, 1), (1, 2)]

    def test_what_passes_while_a_point_captures_others_goes_round_it(self) -> None:
        every, others = list(range(1000)), list(range(1000, 1100))
        found = self.unique(every, every[:300] + others, every)
        assert found == [(0, 1), (0, 2), (1, 2)]


class TestOpeners:
    """Forward leaves the end that opens most flows."""

    POINT = Point("p", ((0, 0),), 1, 0, 10_000, 0)

    def opened(self, first: dict[int, tuple[int, bool, bool]], start_ns: int) -> tuple[int, int]:
        """`first`: by flow the time, the way (forward) and SYN flag of its first packet."""
        columns: dict[str, list[int]] = {
            "file": [0] * len(first),
            "interface": [0] * len(first),
            "flow": list(first),
            "pair": [9] * len(first),
            "first_t_ns": [row[0] for row in first.values()],
            "is_first_toward": [int(row[1]) for row in first.values()],
            "opens": [int(row[2]) for row in first.values()],
        }
        later = observations([1, 2], [500, 600], is_toward=[False, True])
        sample = sample_of([(0, later)])
        arrays: dict[str, Ints] = {name: np.array(c, np.int64) for name, c in columns.items()}
        in_pair = type(later)(**{**vars(later), "pair": later.pair + 9, "flow": later.flow + 70})
        whole = type(sample)(in_pair, sample.source, arrays)
        return count_flow_openers(whole, [self.POINT], {0: start_ns}, {9: True})

    def test_who_sends_first_opens(self) -> None:
        assert self.opened(
            {1: (10, True, False), 2: (20, True, False), 3: (5, False, False)}, 0
        ) == (2, 1)

    def test_a_syn_tells_even_before_the_common_time(self) -> None:
        assert self.opened({1: (10, False, True)}, 100) == (0, 1)

    def test_a_flow_under_way_counts_by_its_first_packet_in_the_common_time(self) -> None:
        # flow 70 began forward before the common time; its first packet in it goes in reverse
        assert self.opened({70: (10, True, False)}, 100) == (0, 1)
        assert self.opened({70: (10, True, False)}, 550) == (1, 0)

    def test_a_tie_goes_to_the_name_that_comes_first(self) -> None:
        for order in ((0, 1), (1, 0)):
            walk = Walk((Watcher("zulu"), Watcher("alpha")), order=order)
            sample, points = walk.sample()
            even = {name: column[:0] for name, column in sample.flows.items()}
            found = survey(type(sample)(sample.packets, sample.source, even), points)
            assert found.name(found.along[0]) == "alpha"

    def test_syns_at_one_end_make_it_the_first(self) -> None:
        walk = Walk((Watcher("zulu"), Watcher("alpha")), seed=3, forward_share=0.9)
        assert [survey(*walk.sample()).name(p) for p in survey(*walk.sample()).along] == [
            "zulu",
            "alpha",
        ]


class TestOffload:
    POINTS = (point_of("vm", 0, np.array([0, 9])), point_of("wire", 1, np.array([0, 9])))

    def codes(self, near: list[int], far: list[int]) -> list[str]:
        """TCP lengths between two packets that both points saw."""
        seen = []
        for side, lengths in enumerate((near, far)):
            own = [100 * (side + 1) + i for i in range(len(lengths))]
            keys = [1, *own, 999]
            seen.append(observations(keys, list(range(len(keys))), tcp_bytes=[52, *lengths, 52]))
        torn = find_torn([(0, 1)], seen)
        assert all(ends == (0, 1) for ends in torn)
        return [diagnostic.code for diagnostic in check_offload(self.POINTS, torn)]

    def test_super_segments_that_come_out_cut(self) -> None:
        assert self.codes([2 * 1448 + 32], [1480, 1480]) == ["segmentation-offload"]

    def test_plain_loss_is_loss(self) -> None:
        assert self.codes([1480, 1480, 60], []) == []
        assert self.codes([9000], []) == []

    def test_other_packets_of_usual_size_are_no_offload(self) -> None:
        assert self.codes([1480, 52], [1200]) == []

    def test_what_lies_outside_the_common_time_says_nothing(self) -> None:
        near = observations([0, 1, 2], [0, 10, 20], tcp_bytes=[64_000, 52, 52])
        far = observations([1, 2, 8], [11, 21, 99], tcp_bytes=[52, 52, 1480])
        assert find_torn([(0, 1)], [near, far]) == {}
