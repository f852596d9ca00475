"""The chain fits its width: boxes and words stay apart and inside, whatever is wrong with it."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QRectF

from gpuassist.model.chain import Joint, Node, Part, Status
from gpuassist.model.text import Text, verbatim
from gpuassist.ui.widgets.chain_layout import GAP, GAP_LEAST, NODE_WIDEST, Drawing, ReasonLane, arrange, needs_lane
from tests.ui.showing import overlapping

HEIGHT = 74.0
PARTS = list(Part)
PAIRS = list(combinations(PARTS, 2))
SPEAKING = {Status.WARNING, Status.PROBLEM}


def node(part: Part, status: Status = Status.RIGHT) -> Node:
    return Node(part, verbatim(part.value), verbatim("detail"), status)


def joint(first: Part, second: Part, status: Status, reason: str = "does not fit") -> Joint:
    return Joint(first, second, status, verbatim(reason) if reason else Text(""))


def drawn(joints: tuple[Joint, ...], width: float, *, parts: list[Part] = PARTS, words: float = 240) -> Drawing:
    return arrange([node(part) for part in parts], joints, width, HEIGHT, word_widths=[words] * len(joints))


statuses = st.sampled_from(list(Status))
widths = st.floats(600, 1600)
chains = st.lists(st.tuples(st.sampled_from(PAIRS), statuses), max_size=8, unique_by=lambda one: one[0]).map(
    lambda found: tuple(joint(*pair, status) for pair, status in found)
)


@given(chains, widths, st.integers(1, 5), st.floats(0, 2000))
def test_nothing_leaves_the_width(joints: tuple[Joint, ...], width: float, count: int, words: float) -> None:
    drawing = drawn(joints, width, parts=PARTS[:count], words=words)
    boxes = [*drawing.nodes, *(placed.mark for placed in drawing.joints), *(lane.words for lane in drawing.lanes)]
    assert all(box.left() >= -0.01 and box.right() <= width + 0.01 for box in boxes)
    assert all(0 <= point.x() <= width for lane in drawing.lanes for point in lane.path)


@given(chains, widths, st.integers(1, 5))
def test_boxes_and_marks_stand_apart(joints: tuple[Joint, ...], width: float, count: int) -> None:
    drawing = drawn(joints, width, parts=PARTS[:count])
    assert not overlapping([*drawing.nodes, *(placed.mark for placed in drawing.joints)])


@pytest.mark.parametrize("width", [600, 700, 775, 776, 1000, 1600])
def test_every_mark_stands_between_its_boxes(width: float) -> None:
    drawing = drawn(tuple(joint(*pair, Status.PROBLEM) for pair in pairwise(PARTS)), width)
    assert len(drawing.joints) == 4
    assert not overlapping([*drawing.nodes, *(placed.mark for placed in drawing.joints)])


@given(chains, widths, st.floats(0, 2000))
def test_reasons_cover_neither_boxes_nor_each_other(joints: tuple[Joint, ...], width: float, words: float) -> None:
    drawing = drawn(joints, width, words=words)
    assert not overlapping([*drawing.nodes, *(lane.words for lane in drawing.lanes)])


@given(chains, widths)
def test_everything_is_within_the_height(joints: tuple[Joint, ...], width: float) -> None:
    drawing = drawn(joints, width)
    lowest = max(box.bottom() for box in [*drawing.nodes, *(lane.words for lane in drawing.lanes)])
    assert lowest <= drawing.height


@given(chains, widths)
def test_an_arc_never_crosses_a_box(joints: tuple[Joint, ...], width: float) -> None:
    drawing = drawn(joints, width)
    assert not [
        (start, end)
        for lane in drawing.lanes
        for start, end in pairwise(lane.path)
        for box in drawing.nodes
        if box.intersects(QRectF(start, end).normalized().adjusted(0, 0, 0.01, 0.01))
    ]


@given(chains, widths)
def test_an_arc_ends_under_its_parts(joints: tuple[Joint, ...], width: float) -> None:
    drawing = drawn(joints, width)
    for lane in drawing.lanes:
        if len(lane.path) == 4:
            first, second = (drawing.nodes[PARTS.index(part)] for part in (lane.joint.first, lane.joint.second))
            assert first.left() < lane.path[0].x() < first.right()
            assert second.left() < lane.path[-1].x() < second.right()


def test_many_arcs_still_end_under_their_parts() -> None:
    drawing = drawn(tuple(joint(*pair, Status.PROBLEM) for pair in PAIRS), 600)
    ends = [(lane.path[0].x(), drawing.nodes[PARTS.index(lane.joint.first)]) for lane in drawing.lanes if len(lane.path) == 4]
    assert all(box.left() < x < box.right() for x, box in ends)


@given(chains, widths)
def test_every_joint_that_is_wrong_says_why(joints: tuple[Joint, ...], width: float) -> None:
    told = {lane.joint for lane in drawn(joints, width).lanes}
    assert {one for one in joints if one.status in SPEAKING} <= told


@given(widths)
def test_boxes_are_equal_and_in_order(width: float) -> None:
    boxes = drawn((), width).nodes
    assert len({(round(box.width(), 6), box.height(), box.top()) for box in boxes}) == 1
    assert [box.left() for box in boxes] == sorted(box.left() for box in boxes)
    assert boxes[0].width() <= NODE_WIDEST


@given(widths)
def test_a_gap_has_room_for_its_mark(width: float) -> None:
    boxes = drawn((), width).nodes
    assert all(after.left() - before.right() >= GAP_LEAST - 0.01 for before, after in pairwise(boxes))


@pytest.mark.parametrize("width", [600, 776, 1000, 1600])
def test_the_first_and_last_box_touch_the_edges(width: float) -> None:
    boxes = drawn((), width).nodes
    assert boxes[0].left() == pytest.approx(width - boxes[-1].right()) == 2


@pytest.mark.parametrize(("width", "gap"), [(600, GAP_LEAST), (900, GAP)])
def test_gaps_become_narrow_before_boxes_do(width: float, gap: float) -> None:
    first, second = drawn((), width).nodes[:2]
    assert second.left() - first.right() == pytest.approx(gap)


def test_only_neighbours_are_joined_by_a_line() -> None:
    joints = tuple(joint(*pair, Status.RIGHT) for pair in PAIRS)
    placed = drawn(joints, 1000).joints
    assert [(one.joint.first, one.joint.second) for one in placed] == list(pairwise(PARTS))


def test_a_line_goes_from_box_to_box() -> None:
    drawing = drawn((joint(Part.GPU, Part.DRIVER, Status.RIGHT),), 1000)
    (line,) = drawing.joints
    assert drawing.nodes[0].right() < line.start.x() < line.mark.left() < line.mark.right() < line.end.x() < drawing.nodes[1].left()


def test_the_mark_is_in_the_middle_of_the_gap() -> None:
    drawing = drawn((joint(Part.DRIVER, Part.TORCH, Status.PROBLEM),), 1000)
    middle = (drawing.nodes[1].right() + drawing.nodes[2].left()) / 2
    assert drawing.joints[0].mark.center().x() == pytest.approx(middle)


def test_a_chain_that_fits_needs_no_room_below() -> None:
    joints = tuple(joint(*pair, Status.RIGHT) for pair in pairwise(PARTS))
    assert drawn(joints, 1000).height == HEIGHT + 4


@pytest.mark.parametrize("count", [1, 2, 3])
def test_each_reason_has_a_line_of_its_own(count: int) -> None:
    pairs = [(Part.GPU, Part.TORCH), (Part.DRIVER, Part.TORCH), (Part.TORCH, Part.COMPILER)][:count]
    drawing = drawn(tuple(joint(*pair, Status.PROBLEM) for pair in pairs), 1000)
    assert len({lane.words.top() for lane in drawing.lanes}) == count


def test_neighbours_speak_first() -> None:
    joints = (joint(Part.GPU, Part.TORCH, Status.PROBLEM), joint(Part.TORCH, Part.TOOLKIT, Status.WARNING))
    assert [lane.joint for lane in drawn(joints, 1000).lanes] == [joints[1], joints[0]]


def test_a_neighbours_reason_drops_from_its_mark() -> None:
    lane = _only_lane(joint(Part.GPU, Part.DRIVER, Status.PROBLEM))
    assert len({point.x() for point in lane.path}) == 1


def test_an_arc_spans_its_parts() -> None:
    lane = _only_lane(joint(Part.GPU, Part.TORCH, Status.PROBLEM))
    assert [lane.path[0].y(), lane.path[1].y()] == [lane.path[3].y(), lane.path[2].y()]
    assert lane.path[1].y() > lane.path[0].y()


def test_words_stand_on_the_middle_of_their_arc() -> None:
    lane = _only_lane(joint(Part.GPU, Part.COMPILER, Status.PROBLEM))
    assert lane.words.center().x() == pytest.approx((lane.path[0].x() + lane.path[-1].x()) / 2)


@pytest.mark.parametrize("pair", [(Part.GPU, Part.DRIVER), (Part.TOOLKIT, Part.COMPILER)])
def test_words_too_long_for_their_place_move_inwards(pair: tuple[Part, Part]) -> None:
    lane = _only_lane(joint(*pair, Status.PROBLEM), words=600)
    assert 0 <= lane.words.left() < lane.words.right() <= 800


def test_words_longer_than_the_picture_get_all_of_it() -> None:
    assert _only_lane(joint(Part.GPU, Part.DRIVER, Status.PROBLEM), words=3000).words.width() == 800


@pytest.mark.parametrize(
    ("status", "first", "second", "speaks"),
    [
        (Status.RIGHT, Part.GPU, Part.DRIVER, False),
        (Status.RIGHT, Part.GPU, Part.TORCH, False),
        (Status.ABSENT, Part.GPU, Part.TORCH, False),
        (Status.WARNING, Part.GPU, Part.DRIVER, True),
        (Status.PROBLEM, Part.GPU, Part.TORCH, True),
        (Status.UNKNOWN, Part.GPU, Part.DRIVER, False),
        (Status.UNKNOWN, Part.GPU, Part.TORCH, True),
    ],
)
def test_who_needs_words(status: Status, first: Part, second: Part, speaks: bool) -> None:
    assert needs_lane(joint(first, second, status), PARTS) is speaks


def test_without_a_reason_there_are_no_words() -> None:
    assert not needs_lane(joint(Part.GPU, Part.TORCH, Status.PROBLEM, ""), PARTS)


def test_a_joint_of_a_part_that_is_not_drawn_is_left_out() -> None:
    drawing = drawn((joint(Part.TORCH, Part.TOOLKIT, Status.PROBLEM),), 800, parts=[Part.GPU, Part.DRIVER, Part.TORCH])
    assert (drawing.joints, drawing.lanes) == ((), ())


def test_an_empty_chain_draws_nothing() -> None:
    drawing = drawn((), 800, parts=[])
    assert (drawing.nodes, drawing.joints, drawing.lanes) == ((), (), ())


def _only_lane(one: Joint, words: float = 200) -> ReasonLane:
    (lane,) = drawn((one,), 800, words=words).lanes
    return lane
