"""Where the boxes, joints and arcs of the compatibility chain lie, worked out apart from painting them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF

from gpuassist.model.chain import Joint, Node, Status

GAP = 44.0
GAP_LEAST = 26.0
NODE_WIDEST = 196.0
LANE = 30.0
JOINT_SIZE = 18.0
_EDGE = 2.0
_STACKED_GAP = 34.0  # room for a joint and its reason, one box below the other
_STACKED_WIDEST = 420.0
_STACKED_JOINT = 24.0  # from the left edge


class PlacedJoint(Struct, frozen=True):
    """A joint between neighbours: the line from one box to the next, and the circle on its middle."""

    joint: Joint
    start: QPointF
    end: QPointF
    mark: QRectF


class ReasonLane(Struct, frozen=True):
    """A reason below the boxes: the corners of its dashed line and the room of its words with the mark."""

    joint: Joint
    path: tuple[QPointF, ...]
    words: QRectF


class Drawing(Struct, frozen=True):
    """Everything placed, and how high it is."""

    nodes: tuple[QRectF, ...]
    joints: tuple[PlacedJoint, ...]
    lanes: tuple[ReasonLane, ...]
    height: float


def needs_lane(joint: Joint, parts: Sequence[object]) -> bool:
    """Whether the joint says why in words: every one that is not right, and every one that neighbours do not share."""
    if joint.first not in parts or joint.second not in parts or not joint.reason.message:
        return False
    return joint.status in {Status.WARNING, Status.PROBLEM} or (
        joint.status is Status.UNKNOWN and abs(parts.index(joint.first) - parts.index(joint.second)) > 1
    )


def arrange(
    nodes: Sequence[Node],
    joints: Sequence[Joint],
    width: float,
    node_height: float,
    *,
    word_widths: Sequence[float],
    node_width: float = 0.0,
) -> Drawing:
    """Places a chain in `width`; `word_widths` are those of the reasons, one a joint, in the order of `joints`. Where boxes side by
    side would be narrower than `node_width`, each stands below the one before.
    """
    boxes = _boxes(len(nodes), width, node_height)
    parts = [node.part for node in nodes]
    if boxes and boxes[0].width() < min(node_width, NODE_WIDEST):
        return _stacked(parts, joints, width, node_height)
    between = tuple(
        _between(joint, boxes[parts.index(joint.first)], boxes[parts.index(joint.second)])
        for joint in joints
        if joint.first in parts and joint.second in parts and parts.index(joint.second) - parts.index(joint.first) == 1
    )
    speaking = [(joint, words) for joint, words in zip(joints, word_widths, strict=True) if needs_lane(joint, parts)]
    # Neighbours first: their short drop then crosses no arc.
    speaking.sort(key=lambda one: parts.index(one[0].second) - parts.index(one[0].first))
    lanes = tuple(
        _lane(joint, boxes, parts, _Row(place, node_height, width, words)) for place, (joint, words) in enumerate(speaking)
    )
    height = node_height + 2 * _EDGE + len(lanes) * LANE + (4 if lanes else 0)
    return Drawing(boxes, between, lanes, height)


def _stacked(parts: Sequence[object], joints: Sequence[Joint], width: float, node_height: float) -> Drawing:
    """One box below the other: the reasons of neighbours stand between them, the others below."""
    step, box = node_height + _STACKED_GAP, min(_STACKED_WIDEST, width - 2 * _EDGE)
    boxes = tuple(QRectF(_EDGE, _EDGE + place * step, box, node_height) for place in range(len(parts)))
    line = boxes[-1].bottom() + 4
    between, lanes = [], []
    for joint in joints:
        if joint.first not in parts or joint.second not in parts:
            continue
        first, second = boxes[parts.index(joint.first)], boxes[parts.index(joint.second)]
        near = parts.index(joint.second) - parts.index(joint.first) == 1
        middle = (first.bottom() + second.top()) / 2
        mark = QRectF(_STACKED_JOINT, middle - JOINT_SIZE / 2, JOINT_SIZE, JOINT_SIZE)
        if near:
            x = mark.center().x()
            between.append(PlacedJoint(joint, QPointF(x, first.bottom() + 2), QPointF(x, second.top() - 2), mark))
        if needs_lane(joint, parts):
            top = middle - (LANE - 4) / 2 if near else line
            left = mark.x() - 4 if near else 0.0
            lanes.append(ReasonLane(joint, (), QRectF(left, top, width - left, LANE - 4)))
            line += 0 if near else LANE
    return Drawing(boxes, tuple(between), tuple(lanes), line + _EDGE)


class _Row(Struct, frozen=True):
    place: int
    node_height: float
    width: float
    words: float


def _boxes(count: int, width: float, height: float) -> tuple[QRectF, ...]:
    if not count:
        return ()
    gap = GAP if width >= count * 120 + (count - 1) * GAP else GAP_LEAST
    box = min(NODE_WIDEST, (width - 2 * _EDGE - (count - 1) * gap) / count)
    gap = (width - 2 * _EDGE - count * box) / (count - 1) if count > 1 else 0
    return tuple(QRectF(_EDGE + place * (box + gap), _EDGE, box, height) for place in range(count))


def _between(joint: Joint, first: QRectF, second: QRectF) -> PlacedJoint:
    middle = QPointF((first.right() + second.left()) / 2, first.center().y())
    mark = QRectF(middle.x() - JOINT_SIZE / 2, middle.y() - JOINT_SIZE / 2, JOINT_SIZE, JOINT_SIZE)
    return PlacedJoint(joint, QPointF(first.right() + 2, middle.y()), QPointF(second.left() - 2, middle.y()), mark)


def _lane(joint: Joint, boxes: Sequence[QRectF], parts: Sequence[object], row: _Row) -> ReasonLane:
    first, second = boxes[parts.index(joint.first)], boxes[parts.index(joint.second)]
    line = row.node_height + 2 * _EDGE + row.place * LANE + LANE / 2 + 2
    if abs(parts.index(joint.first) - parts.index(joint.second)) == 1:
        x = (first.right() + second.left()) / 2
        path: tuple[QPointF, ...] = (QPointF(x, first.center().y() + JOINT_SIZE / 2 + 2), QPointF(x, line))
        middle = x
    else:
        # Ends of different arcs under one box stand apart, and away from its middle where a drop may fall.
        aside = min(row.place * 8.0, first.width() / 2 - 4)
        left, right = first.center().x() + aside, second.center().x() - aside
        path = (QPointF(left, first.bottom() + 2), QPointF(left, line), QPointF(right, line), QPointF(right, second.bottom() + 2))
        middle = (left + right) / 2
    words = min(row.words + JOINT_SIZE + 20, row.width)
    start = max(0.0, min(middle - words / 2, row.width - words))
    return ReasonLane(joint, path, QRectF(start, line - LANE / 2 + 2, words, LANE - 4))
