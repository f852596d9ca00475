"""The compatibility chain as an SVG picture: boxes in a row, a mark on each joint, and below them why parts do not fit."""

from __future__ import annotations

from html import escape

from gpuassist.formats.visible import on_one_line
from gpuassist.model.chain import Chain, Joint, Node, Status
from gpuassist.model.words import Words
from gpuassist.present.chain import PART_WORDS, chain_in_words
from gpuassist.present.marks import glyph_of

WIDTH = 1000.0
_BOX_HEIGHT, _GAP, _TOP, _LANE, _MARK = 84.0, 34.0, 8.0, 34.0, 11.0
_LETTERS = {"label": 22, "name": 15}  # that a box has room for
_SPEAKING = frozenset({Status.WARNING, Status.PROBLEM})


def chain_picture(chain: Chain, words: Words) -> str:
    """An `<svg>` element whose colours are those of the classes `right`, `warning`, `problem`, `unknown` and `absent` around it."""
    speaking = [one for one in chain.joints if one.status in _SPEAKING and one.reason.message]
    height = _TOP * 2 + _BOX_HEIGHT + len(speaking) * _LANE
    told = escape(chain_in_words(chain, words))
    parts = [
        f'<svg class="chain" viewBox="0 0 {WIDTH:g} {height:g}" role="img" xmlns="http://www.w3.org/2000/svg"><title>{told}</title>',
        *(_joint(chain, one) for one in chain.joints if _places(chain, one)[1] - _places(chain, one)[0] == 1),
        *(_box(one, _left(chain, place), _box_width(chain), words) for place, one in enumerate(chain.nodes)),
    ]
    reasons = [_reason(chain, joint, row, words) for row, joint in enumerate(speaking)]
    parts += [line for line, _ in reasons]
    parts += [plate for _, plate in reasons]  # over every line
    return "\n".join((*parts, "</svg>"))


def _box_width(chain: Chain) -> float:
    count = max(1, len(chain.nodes))
    return (WIDTH - 4 - (count - 1) * _GAP) / count


def _left(chain: Chain, place: int) -> float:
    return 2 + place * (_box_width(chain) + _GAP)


def _places(chain: Chain, joint: Joint) -> tuple[int, int]:
    parts = [node.part for node in chain.nodes]
    return (parts.index(joint.first), parts.index(joint.second)) if {joint.first, joint.second} <= set(parts) else (0, 0)


def _box(node: Node, left: float, width: float, words: Words) -> str:
    lines = (
        ("label", f"{words(PART_WORDS[node.part])} {glyph_of(node.status)}", 24),
        ("name", words(node.name), 47),
        ("label", words(node.detail), 68),
    )
    told = "".join(
        f'<text class="{kind}" x="{left + 12:g}" y="{_TOP + down:g}">{_cut(line, _LETTERS[kind])}</text>'
        for kind, line, down in lines
        if line.strip()
    )
    return (
        f'<g class="{node.status.value}">'
        f'<rect class="box" x="{left:g}" y="{_TOP:g}" width="{width:g}" height="{_BOX_HEIGHT:g}" rx="8"/>{told}</g>'
    )


def _joint(chain: Chain, joint: Joint) -> str:
    first, second = _places(chain, joint)
    start, end = _left(chain, first) + _box_width(chain), _left(chain, second)
    middle, down = (start + end) / 2, _TOP + _BOX_HEIGHT / 2
    return (
        f'<g class="{joint.status.value}"><line class="line" x1="{start:g}" y1="{down:g}" x2="{end:g}" y2="{down:g}"/>'
        f"{_mark(joint, middle, down)}</g>"
    )


def _mark(joint: Joint, x: float, y: float) -> str:
    return (
        f'<circle class="mark" cx="{x:g}" cy="{y:g}" r="{_MARK:g}"/>'
        f'<text class="glyph" x="{x:g}" y="{y + 5:g}" text-anchor="middle">{glyph_of(joint.status)}</text>'
    )


def _reason(chain: Chain, joint: Joint, row: int, words: Words) -> tuple[str, str]:
    """The line to it, and the reason on its plate."""
    first, second = _places(chain, joint)
    width = _box_width(chain)
    down = _TOP + _BOX_HEIGHT + row * _LANE + _LANE / 2 + 6
    if second - first == 1:
        left = right = _left(chain, first) + width + _GAP / 2
        start = _TOP + _BOX_HEIGHT / 2 + _MARK
        line = f"M{left:g},{start:g} V{down:g}"
    else:
        left, right = _left(chain, first) + width / 2 + row * 8, _left(chain, second) + width / 2 - row * 8
        line = f"M{left:g},{_TOP + _BOX_HEIGHT:g} V{down:g} H{right:g} V{_TOP + _BOX_HEIGHT:g}"
    told = f"{words(PART_WORDS[joint.first])} – {words(PART_WORDS[joint.second])}: {words(joint.reason)}"
    said = _cut(told, 110)
    room = min(WIDTH - 4, len(said) * 7.4 + 44)
    at = min(max(2.0, (left + right) / 2 - room / 2), WIDTH - 2 - room)
    tone = joint.status.value
    return (
        f'<g class="{tone}"><path class="line" d="{line}" fill="none" stroke-dasharray="5 4"/></g>',
        f'<g class="{tone}"><rect class="plate" x="{at:g}" y="{down - 13:g}" width="{room:g}" height="26" rx="13"/>'
        f'{_mark(joint, at + 16, down)}<text class="reason" x="{at + 34:g}" y="{down + 5:g}">{said}</text></g>',
    )


def _cut(words: str, most: int) -> str:
    shown = on_one_line(words)
    return escape(shown if len(shown) <= most else f"{shown[: most - 1]}…")
