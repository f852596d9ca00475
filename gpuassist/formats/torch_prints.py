"""What a line of Python that asks torch about itself will print: read from the code, which is never run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

from gpuassist.formats.torch import parsed

_LONGEST = 4000  # characters of code that are read
_WIDEST = 3  # parts of any length in one pattern: more of them, and a line that fits almost takes for ever
_CARD = r"(?:NVIDIA |GeForce |GTX|RTX|Tesla |Quadro |TITAN |GRID |[ABHLPTKMV]\d{1,4}[A-Z]? ?|GH200|GB\d{3})[^\n'\"(),]{0,60}?"


class TorchQuestion(str, Enum):
    """What of torch a piece of code asks for."""

    VERSION = "version"
    CUDA = "cuda"
    HIP = "hip"
    NAME = "name"
    CAPABILITY = "capability"
    TARGETS = "targets"
    PYTHON = "python"


_PATTERNS = {
    TorchQuestion.VERSION: r"\d{1,2}\.\d{1,3}[\w.+]{0,60}",
    TorchQuestion.CUDA: r"\d{1,2}\.\d{1,2}(?:\.\d{1,4})?|None",
    TorchQuestion.HIP: r"\d{1,2}\.\d{1,2}[\w.-]{0,30}|None",
    TorchQuestion.NAME: _CARD,
    TorchQuestion.CAPABILITY: r"\(\d{1,2}, \d\)",
    TorchQuestion.TARGETS: r"\[(?:'(?:sm|compute)_\d{2,3}[af]?'(?:, )?)*\]",
    TorchQuestion.PYTHON: r"\d\.\d{1,2}\.\d{1,2}[^\n]{0,200}?",
}
_NAMES = {
    "torch.__version__": TorchQuestion.VERSION,
    "torch.version.__version__": TorchQuestion.VERSION,
    "torch.version.cuda": TorchQuestion.CUDA,
    "torch.version.hip": TorchQuestion.HIP,
    "sys.version": TorchQuestion.PYTHON,
}
_CALLS = {
    "torch.cuda.get_device_name": TorchQuestion.NAME,
    "torch.cuda.get_device_capability": TorchQuestion.CAPABILITY,
    "torch.cuda.get_arch_list": TorchQuestion.TARGETS,
    "platform.python_version": TorchQuestion.PYTHON,
}
# Of no fact by itself, but what stands where on a line.
_ALSO = {
    "torch.cuda.is_available": r"True|False",
    "torch.cuda.device_count": r"\d{1,3}",
    "torch.cuda.current_device": r"\d{1,3}",
    "torch.backends.cudnn.version": r"\d{3,6}|None",
    "torch.backends.cudnn.is_available": r"True|False",
}
_QUOTED = frozenset(
    {TorchQuestion.VERSION, TorchQuestion.CUDA, TorchQuestion.HIP, TorchQuestion.NAME, TorchQuestion.PYTHON}
)  # that a shell of Python shows with its quotes


class Group(Struct, frozen=True):
    """What a group of a pattern holds; `device` is the number that the code gives."""

    asked: TorchQuestion
    device: int = 0


class PrintedPattern(Struct, frozen=True):
    """A line that the code prints: the pattern that it has to fit whole, and what the groups of it are."""

    pattern: re.Pattern[str]
    groups: tuple[Group, ...]


def expected(code: str, *, echoed: bool = False) -> tuple[PrintedPattern, ...]:
    """The lines that the code prints with something of torch in them, in their order; `echoed` where a shell of Python shows the
    value of a bare expression.
    """
    if len(code) > _LONGEST or "torch" not in code:
        return ()
    tree = parsed(code.strip())
    if tree is None:
        return ()
    try:
        # `import torch as t` and `from torch import cuda`.
        found = {}
        for node in tree.body:
            if isinstance(node, ast.Import):
                found.update({name.asname: name.name for name in node.names if name.asname})
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.update({name.asname or name.name: f"{node.module}.{name.name}" for name in node.names})
        return tuple(_lines(tree, found, echoed=echoed))
    except (ValueError, RecursionError):
        return ()


def _lines(tree: ast.Module, aliases: dict[str, str], *, echoed: bool) -> Iterator[PrintedPattern]:
    for node in tree.body:
        if not isinstance(node, ast.Expr):
            continue
        writer = _Writer(aliases)
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print":
            pattern = writer.printed(value)
        elif echoed:
            pattern = writer.shown(value)
        else:
            continue
        if writer.groups and writer.wide <= _WIDEST:
            yield PrintedPattern(re.compile(pattern + r"\s*"), tuple(writer.groups))


class _Writer:
    """Writes the pattern of one line, and notes what each of its groups is."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self.groups: list[Group] = []
        self.wide = 0  # parts of the pattern that fit words of any length
        self._aliases = aliases

    def printed(self, call: ast.Call) -> str:
        between = next((word.value for word in call.keywords if word.arg == "sep"), None)
        separator = re.escape(between.value) if isinstance(between, ast.Constant) and isinstance(between.value, str) else " "
        return separator.join(self.written(argument) for argument in call.args)

    def shown(self, node: ast.expr) -> str:
        """The value of an expression as the shell of Python shows it."""
        if isinstance(node, ast.Tuple):
            return r"\(" + ", ".join(self.shown(one) for one in node.elts) + r"\)"
        quoted = self._asked(node)[0] in _QUOTED
        return f"['\"]?{self.written(node)}['\"]?" if quoted else self.written(node)

    def written(self, node: ast.expr) -> str:
        asked, device = self._asked(node)
        if asked is not None:
            self.groups.append(Group(asked, device))
            self.wide += asked not in {TorchQuestion.CUDA, TorchQuestion.CAPABILITY}
            return f"({_PATTERNS[asked]})"
        if isinstance(node, ast.Call):
            also = _ALSO.get(self._name(node.func), "")
            if also:
                return f"(?:{also})"
            if isinstance(node.func, ast.Name) and node.func.id in {"str", "repr"} and len(node.args) == 1:
                return self.written(node.args[0])
            told = node.func
            if isinstance(told, ast.Attribute) and told.attr == "format" and isinstance(told.value, ast.Constant):
                return self._filled(re.split(r"\{\d?(?::[^{}]*)?\}", str(told.value.value)), node.args)
            return self._anything()
        return self._composed(node)

    def _composed(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return re.escape(str(node.value))
        if isinstance(node, ast.JoinedStr):
            return "".join(self.written(one.value if isinstance(one, ast.FormattedValue) else one) for one in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.written(node.left) + self.written(node.right)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return self._filled(re.split(r"%[sdr]", str(node.left.value)), values)
        if isinstance(node, ast.IfExp) and isinstance(node.orelse, ast.Constant):
            return f"(?:{re.escape(str(node.orelse.value))}|{self.written(node.body)})"
        return self._anything()

    def _filled(self, pieces: list[str], values: list[ast.expr]) -> str:
        written = [self.written(value) for value in values[: len(pieces) - 1]]
        filled = "".join(re.escape(piece) + value for piece, value in zip(pieces, [*written, ""], strict=False))
        return filled if len(pieces) == len(values) + 1 else self._anything()

    def _anything(self) -> str:
        self.wide += 1
        return r"[^\n]*?"

    def _asked(self, node: ast.expr) -> tuple[TorchQuestion | None, int]:
        if isinstance(node, ast.Attribute):
            return _NAMES.get(self._name(node)), 0
        if isinstance(node, ast.Call):
            return _CALLS.get(self._name(node.func)), _device(node)
        return None, 0

    def _name(self, node: ast.expr) -> str:
        """`torch.cuda.is_available`, with what it was imported as undone."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join((self._aliases.get(node.id, node.id), *parts))


def _device(call: ast.Call) -> int:
    """The number in `get_device_name(1)`, `(device=1)`, `("cuda:1")`, `(torch.device("cuda:1"))`; 0 where there is none."""
    given = [*call.args, *(word.value for word in call.keywords)]
    first = given[0] if given else None
    if isinstance(first, ast.Call):
        return _device(first)
    value = first.value if isinstance(first, ast.Constant) else None
    found = re.search(r"\d{1,3}$", str(value)) if isinstance(value, (int, str)) else None
    return int(found[0]) if found else 0
