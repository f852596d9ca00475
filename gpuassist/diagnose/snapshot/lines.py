"""Which line of a stack is the user's own, and what its memory is for as far as the stack shows it."""

from __future__ import annotations

import re

from gpuassist.model.memory_snapshot import MemorySnapshot, StackFrame
from gpuassist.model.memory_story import MemoryKind

# Where code of others lies: packages, Python's own library, and what torch.compile and torch.fx generate.
_OTHERS = re.compile(
    r"/(?:site|dist)-packages/|/lib(?:64)?/python3(?:\.\d+)?/|/torchinductor_[^/]*/|^<(?:frozen|eval_with_key)"
    r"|/torch/(?:nn|optim|autograd|utils|cuda|fx|distributed|_dynamo|_inductor|_functorch)/"
    r"|/torch/(?:_ops|_tensor|functional)\.py$"
)
_OWN_WITHOUT_FILE = re.compile(r"^<(?:ipython-input|stdin|string|console|cell)")  # what is typed, and notebooks before ipykernel 6
_RECORDS = re.compile(
    r"unwind|CapturedTraceback|gather_with_cpp|c10::(?:cuda|StorageImpl)|[Aa]llocator|\bempty_|create_out|set_output"
)
_TORCHS = re.compile(r"/(?:site|dist)-packages/torch/")
_NODE = re.compile(
    r"\btorch::autograd::generated::(\w+?)(?:_apply_functional|::apply)\b"
)  # of the graph that the backward pass walks
_PARAMETERS = re.compile(r"\(.*", re.DOTALL)
_ANGLES = re.compile(r"<[^<>]*>")
_MODULE = re.compile(r"/torch/nn/modules/module\.py$")
_MOVES = frozenset({"_apply", "convert"})
_MAKES = frozenset({"__init__", "reset_parameters"})
_STATE = frozenset({"_init_group", "init_state", "_init_state"})


def is_users(frame: StackFrame) -> bool:
    """Whether it is a line of Python that belongs to no package: C++ has no file, or one of another ending."""
    if _OWN_WITHOUT_FILE.match(frame.file):
        return True
    return frame.file.endswith(".py") and not _OTHERS.search(frame.file)


def line_of(frames: tuple[StackFrame, ...]) -> tuple[StackFrame | None, bool]:
    """The innermost line of the user's, and whether there is one. Else what says most: a package's line, the node of autograd's
    graph (its threads know nothing of the program's lines), a line of torch's own, a function of C++ by its name alone.
    """
    for frame in frames:
        if is_users(frame):
            return frame, True
    python = [frame for frame in frames if frame.file.endswith(".py")]
    of_package = next((frame for frame in python if not _TORCHS.search(frame.file)), None)
    if of_package is not None:
        return of_package, False
    for frame in frames:
        if node := _NODE.search(frame.function):
            return StackFrame("", 0, node[1]), False
    if python:
        return python[0], False
    told = next((frame for frame in frames if not _RECORDS.search(frame.function)), frames[0] if frames else None)
    return (None if told is None else _named(told)), False


def _named(frame: StackFrame) -> StackFrame:
    """A frame of C++ without its templates and parameters, which can be a thousand letters, and without a file that is none."""
    name, before = frame.function.replace("(anonymous namespace)::", "").replace("->", ""), ""
    while name != before:
        name, before = _ANGLES.sub("", name), name
    name = _PARAMETERS.sub("", name).strip().rpartition(" ")[2] or frame.function
    return StackFrame(frame.file if frame.line > 0 else "", max(frame.line, 0), name)


def kind_of(frames: tuple[StackFrame, ...]) -> MemoryKind:
    """What a stack shows: the innermost sign decides."""
    for frame in frames:
        file, function = frame.file, frame.function
        if "/torch/optim/" in file and function in _STATE:
            return MemoryKind.OPTIMIZER
        if "torch::autograd::Engine" in function or (file.endswith("/torch/autograd/__init__.py") and function == "backward"):
            return MemoryKind.BACKWARD
        if "/torch/nn/modules/" in file:
            if _MODULE.search(file):
                if function in _MOVES:
                    return MemoryKind.PARAMETERS
                if function == "_call_impl":
                    return MemoryKind.FORWARD
            elif function in _MAKES:
                return MemoryKind.PARAMETERS
    return MemoryKind.UNKNOWN


class StackLines:
    """The line and the kind of every stack of a snapshot, each looked for once."""

    def __init__(self, snapshot: MemorySnapshot) -> None:
        self._snapshot = snapshot
        self._known: dict[int, int] = {}
        self.groups: list[tuple[StackFrame | None, bool, MemoryKind]] = []
        self._numbers: dict[tuple[StackFrame | None, bool, MemoryKind], int] = {}

    def group(self, stack: int) -> int:
        """The number of the group in `groups` that a stack belongs to."""
        number = self._known.get(stack)
        if number is None:
            frames = self._snapshot.frames_of(stack)
            line, own = line_of(frames)
            key = (line, own, kind_of(frames))
            number = self._known[stack] = self._numbers.setdefault(key, len(self._numbers))
            if number == len(self.groups):
                self.groups.append(key)
        return number
