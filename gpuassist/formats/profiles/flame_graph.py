"""The SVG flame graph that `py-spy record -o FILE.svg` draws, and those of inferno and flamegraph.pl, which look the same.

No document is built and no entity of the file's own is expanded: a frame is the text of a `<title>` and the numbers of the `<rect>`
that follows.
"""

from __future__ import annotations

import html
from typing import NamedTuple

from gpuassist.formats.profiles.samples import FrameKinds, sampled_reading
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import ProfileForm, ProfileReading, TimeKind

_FRAME = lazy_regex(rb"<title>([^<]{1,4000})</title>\s{0,100}<rect ([^<>]{1,1000})>")
_LONGEST_FRAME = 1 << 13
_MOST_FRAMES = 500_000
_TITLE = lazy_regex(r"^(?P<name>.{1,3900}) \((?P<count>[\d,]{1,16}) samples, \d{1,3}(?:\.\d{1,4})?%\)$")
_NUMBER = lazy_regex(r"(?:^|\s)(?P<name>fg:x|fg:w|x|y|width)=\"(?P<value>\d{1,12}(?:\.\d{1,9})?)%?\"")
_ROOT = "all"


class _Frame(NamedTuple):
    """Where it is drawn, in samples or in parts of the picture, and how many samples it holds."""

    begin: float
    height: float
    width: float
    samples: int
    name: str


class TooManyFramesError(Exception):
    """More than any profiler draws."""


class FlameGraphReader:
    """Takes the file piece by piece."""

    def __init__(self) -> None:
        self._rest = b""
        self._frames = list[_Frame]()

    def feed(self, piece: bytes) -> None:
        """The next bytes of the file; raises `TooManyFramesError`."""
        data = self._rest + piece
        end = 0
        for found in _FRAME.finditer(data):
            end = found.end()
            frame = _frame(found[1].decode("utf-8", "replace"), found[2].decode("utf-8", "replace"))
            if frame is not None:
                self._frames.append(frame)
        if len(self._frames) > _MOST_FRAMES:
            raise TooManyFramesError
        self._rest = data[max(end, len(data) - _LONGEST_FRAME) :]

    def reading(self) -> ProfileReading | None:
        """None where no frame was drawn."""
        rows = _own(self._frames)
        return sampled_reading(ProfileForm.FLAME_GRAPH, rows, None) if rows else None


def _frame(title: str, attributes: str) -> _Frame | None:
    told = _TITLE.match(html.unescape(title))
    if told is None:
        return None
    numbers = {found["name"]: float(found["value"]) for found in _NUMBER.finditer(attributes)}
    count = int(told["count"].replace(",", "") or 0)
    if "fg:x" in numbers and "fg:w" in numbers:
        begin, width = numbers["fg:x"], numbers["fg:w"]
    else:
        begin, width = numbers.get("x", -1.0), numbers.get("width", 0.0)
    if begin < 0 or width <= 0 or not count or "y" not in numbers:
        return None
    return _Frame(begin, numbers["y"], width, count, told["name"])


def _own(frames: list[_Frame]) -> list[tuple[TimeKind | None, str, float, int]]:
    """The samples in which a frame was the last of its stack, by frame and by what the stack was a part of."""
    down = _grows_down(frames)
    order = sorted(frames, key=lambda one: (one.begin, one.height if down else -one.height))
    kinds, stack = FrameKinds(), list[tuple[_Frame, tuple[TimeKind | None, str]]]()
    own = dict[tuple[TimeKind | None, str], int]()
    for frame in order:
        while stack and not _holds(stack[-1][0], frame, down=down):
            stack.pop()
        above = stack[-1][1] if stack else None
        if above is not None:
            own[above] -= frame.samples
        key = (kinds.further(above[0] if above is not None else None, frame.name), frame.name)
        own[key] = own.get(key, 0) + frame.samples
        stack.append((frame, key))
    # What is narrower than a hair is not drawn: what is left of the root has no name.
    return [
        (TimeKind.REST, "", float(count), count) if name == _ROOT else (kind, name, float(count), count)
        for (kind, name), count in own.items()
        if count > 0
    ]


def _holds(outer: _Frame, inner: _Frame, *, down: bool) -> bool:
    deeper = outer.height < inner.height if down else outer.height > inner.height
    middle = inner.begin + inner.width / 2  # ends are rounded where they are places of the picture
    return deeper and middle < outer.begin + outer.width


def _grows_down(frames: list[_Frame]) -> bool:
    """Whether the root is at the top: on its side the frames together are widest."""
    if not frames:
        return True
    root = next((one.height for one in frames if one.name == _ROOT), None)
    heights = [one.height for one in frames]
    top, bottom = min(heights), max(heights)
    if root is not None and root in {top, bottom}:
        return root == top
    return sum(one.samples for one in frames if one.height == top) >= sum(one.samples for one in frames if one.height == bottom)
