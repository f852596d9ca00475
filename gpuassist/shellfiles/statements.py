"""What reading a start-up file comes to, whichever shell it is for: the statements that touch the variables that matter."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

WATCHED = (
    *("PATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"),
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH"),
    *("CUDA_ROOT", "CUDADIR", "CUDA_DIR", "CUDA_BIN_PATH", "CUDA_TOOLKIT_ROOT_DIR", "CUDAToolkit_ROOT"),
    *("CUDACXX", "NVCC", "CMAKE_CUDA_COMPILER", "CUDNN_HOME", "CUDNN_PATH", "CUDNN_ROOT", "CUDNN_ROOT_DIR"),
    *("CUDNN_INCLUDE_DIR", "CUDNN_INCLUDE_PATH", "CUDNN_LIBRARY", "CUDNN_LIBRARY_PATH", "CUDNN_LIB_DIR"),
)


class StatementPlace(str, Enum):
    """What a statement stands in, worst for editing first; `COMMAND` is an assignment in front of a command, for that one alone."""

    UNREADABLE = "unreadable"
    FUNCTION = "function"
    SUBSHELL = "subshell"
    COMMAND = "command"
    LOOP = "loop"
    CASE = "case"
    BRANCH = "branch"
    GROUP = "group"
    CONDITION = "condition"
    TOP = "top"

    @classmethod
    def worst(cls, places: Iterable[StatementPlace]) -> StatementPlace:
        found = {cls.TOP, *places}
        return next(place for place in cls if place in found)


class Element(Struct, frozen=True):
    """One element of a list that is joined by colons.

    `written` is how it stands in the file, `directory` what it leads to (empty where only a running shell can tell), and `previous`
    marks the variable's own value so far.
    """

    written: str
    directory: str
    previous: bool = False


class Assignment(Struct, frozen=True):
    """One variable that a statement sets, or (`unsets`) takes away; `uses` are the variables that its value refers to."""

    variable: str
    elements: tuple[Element, ...]
    uses: frozenset[str] = frozenset()
    unsets: bool = False

    @property
    def keeps_previous(self) -> bool:
        """Whether the variable's value so far goes into the new one."""
        return any(element.previous for element in self.elements)


class Statement(Struct, frozen=True):
    """Whole lines that do nothing but set watched variables, or (`shared`) a part of lines that do more.

    Lines count from 1; `first_byte` and `end_byte` bound the whole lines with their line ends. `inside` is the first line of the
    innermost construct around it, `owner` the tool whose marked block it stands in; `command_last_line` is the line in which the
    whole command ends where that goes on, 0 where it does not.
    """

    line: int
    last_line: int
    first_byte: int
    end_byte: int
    text: str
    assignments: tuple[Assignment, ...]
    place: StatementPlace
    inside: str = ""
    owner: str = ""
    shared: bool = False
    command_last_line: int = 0

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(assignment.variable for assignment in self.assignments))


class EarlyEnd(Struct, frozen=True):
    """A statement that can end the reading: `interactive` if it asks for an interactive shell, `always` if nothing gets past.

    `first_byte` is the start of the line on which the whole construct around it begins, `command` the words that end it.
    """

    line: int
    text: str
    interactive: bool
    always: bool
    first_byte: int = 0
    command: str = ""


class Reference(Struct, frozen=True):
    """A line that uses a watched variable's value."""

    variable: str
    line: int


class SourcedFile(Struct, frozen=True):
    """A file that a line reads in; `path` is where that lies, a pattern with * where a loop goes over many, and empty where only a
    running shell can tell. `first_byte` is the start of the line on which the whole construct around it begins.
    """

    path_written: str
    path: str
    line: int
    first_byte: int = 0


class ToolLine(Struct, frozen=True):
    """A line that lets another tool (`owner`) set variables, such as `module load cuda/12.4`: what it sets only that tool knows."""

    line: int
    last_line: int
    text: str
    owner: str
    inside: str = ""


class Reading(Struct, frozen=True):
    """What a file says; `values` are the variables that it leaves with a certain value, `blocks` the parts that tools keep (whose,
    first and last line), `unreadable_line` is the first line that the parser did not understand, 0 where it understood all.
    """

    statements: tuple[Statement, ...]
    endings: tuple[EarlyEnd, ...]
    references: tuple[Reference, ...]
    unreadable_line: int = 0
    sources: tuple[SourcedFile, ...] = ()
    tools: tuple[ToolLine, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    blocks: tuple[tuple[str, int, int], ...] = ()


def printable(words: str) -> str:
    """Words with surrogates, which no terminal and no JSON takes, as escapes."""
    return words.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
