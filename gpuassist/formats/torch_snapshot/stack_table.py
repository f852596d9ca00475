"""The stacks of a snapshot, each kept once: most of a million events come from a few hundred lines."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from gpuassist.model.memory_snapshot import NO_STACK, StackFrame


class FrameNumber(int):
    """Stands in the memo where a frame was: its number in `StackTable.frames`."""

    __slots__ = ()


class StackNumber(int):
    """Stands in the memo where a list of frames was: its number as a stack."""

    __slots__ = ()


_NONE = StackNumber(NO_STACK)


class StackTable:
    """Frames and stacks by number; the same is always the same number."""

    def __init__(self) -> None:
        self.frames: list[StackFrame] = []
        self.starts = array("q", [0])
        self.places = array("i")
        self._frame_numbers: dict[tuple[str, int, str], FrameNumber] = {}
        self._stack_numbers: dict[bytes, StackNumber] = {}
        self._names: dict[str, str] = {}

    def frame(self, described: dict[object, object]) -> FrameNumber:
        """The number of a frame as torch describes it; a field that is missing or none of its kind is empty."""
        name, file, line = described.get("name"), described.get("filename"), described.get("line")
        key = (
            file if isinstance(file, str) else "",
            line if isinstance(line, int) and -1 < line < 1 << 31 else 0,
            name if isinstance(name, str) else "",
        )
        number = self._frame_numbers.get(key)
        if number is None:
            file, name = self._names.setdefault(key[0], key[0]), self._names.setdefault(key[2], key[2])
            number = self._frame_numbers[file, key[1], name] = FrameNumber(len(self.frames))
            self.frames.append(StackFrame(file, key[1], name))
        return number

    def stack(self, frames: Iterable[int]) -> StackNumber:
        """The number of a stack of numbered frames."""
        places = array("i", frames)
        if not places:
            return _NONE
        key = places.tobytes()
        number = self._stack_numbers.get(key)
        if number is None:
            number = self._stack_numbers[key] = StackNumber(len(self.starts) - 1)
            self.places.extend(places)
            self.starts.append(len(self.places))
        return number

    def of_list(self, described: object) -> StackNumber:
        """The number of what stands in the place of a stack: a list of frames, or what the memo keeps of one."""
        if type(described) is StackNumber:
            return described
        if not isinstance(described, list):
            return _NONE
        return self.stack(number for number in map(self._number_of, described) if number is not None)

    def _number_of(self, described: object) -> FrameNumber | None:
        if type(described) is FrameNumber:
            return described
        return self.frame(described) if isinstance(described, dict) else None
