"""The sentences of a program that may reach a user: out of its sources and its binaries, with the slots of their formats filled."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import ZipFile

_SUBJECT = re.compile(
    r"\b(?:cuda\w*|v?gpus?|nvml\w*|nvidia[\w-]*|cudnn\w*|nccl\w*|cu(?:blas|solver|sparse|fft|rand|pti)\w*|nvrtc\w*|nvjitlink\w*"
    r"|nvcc|ptxas?|libcuda\S*|libnv\S*|drivers?|compute capabilit\w+|sm_?\d\d\w?|nvswitch\w*|nvlink\w*|mig|dcgm\w*|xid|tensorrt"
    r"|cupy\w*|uvm|fabric ?manager|nouveau|nvrm|cubin|kernel (?:image|modules?|headers|version)|host ?engine|devices?|bitsandbytes"
    r"|flash[- ]?attn\w*|jaxlib)\b",
    re.IGNORECASE,
)
_FAULT = re.compile(
    r"\b(?:errors?|fail\w*|not|no|cannot|unable|missing|requires?|required|needs?|must|mismatch\w*|insufficient|unsupported"
    r"|incompatible|invalid|out of|too (?:old|new|small|low|many)|older|newer|unavailable|lost|denied|without|none|disabled|unknown"
    r"|unexpected|timed? ?out|exhausted|illegal|corrupt\w*|conflict\w*|deprecated|fall\w* ?back|ignor\w+|abort\w*|unrecognized"
    r"|did you)\b|n't\b",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[A-Za-z']{2,}(?:[ ,:;.]+\S+){3}")
_CODE = re.compile(
    r"\b_Z\w|::\w+::|->\w+\(|\{\s*\n|</?\w+>|\$\w+ =|^\s*[#@]|[;{}]\s*$|//|\basm\b|&&|\|\||==\s*\S+\)?$|\\0|__\w+__\("
)
_SHORTEST, _LONGEST = 18, 330
_PIECE = re.compile(r"//[^\n]*|/\*.*?\*/|(?P<raw>`[^`]*`)|(?P<text>\"(?:[^\"\\\n]|\\.)*\")|'(?:[^'\\\n]|\\.){1,4}'", re.DOTALL)
_JOINS = re.compile(r"\s*(?:[A-Z_]*PRI[a-zA-Z0-9]+\s*)?\Z")
_STREAMS = re.compile(r"\s*(?:<<|,|\+)[^;\"{}]{1,90}?(?:<<|,|\+)\s*\Z", re.DOTALL)
_BYTES = re.compile(rb"[\x20-\x7e\n\t]{18,700}")
_SPEAKS = re.compile(r"warn|err|crit|fatal|exception|log|print|fail|echo|die|exit|abort|raise|message|info|report", re.IGNORECASE)
_SOURCES = frozenset({".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".go", ".m", ".inl"})
_SHELL_LINE = re.compile(r"(?:echo|die|warn|error|printf|report_\w+|fail\w*)\b[^\"'\n]{0,40}[\"']([^\"\n]{15,300})[\"']")
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|testing|_test|benchmarks?|examples?|docs?|third_?party|vendor|mocks?)(?:/|$)|_test\.|test_\w+\.py"
)


def sentences(place: Path, only: tuple[str, ...] = ()) -> Iterator[str]:
    """Those of a wheel, or of a folder of sources, each once; `only`: the beginnings of paths within it, all where empty."""
    found: dict[str, None] = {}
    for name, data in _members(place):
        if _TESTS.search(name) or (only and not name.startswith(only)):
            continue
        found.update(dict.fromkeys(_of_file(name, data)))
    yield from found


def _members(place: Path) -> Iterator[tuple[str, bytes]]:
    if place.is_dir():
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.is_symlink():
                yield path.relative_to(place).as_posix(), path.read_bytes()
        return
    with ZipFile(place) as wheel:
        for name in wheel.namelist():
            if name.endswith(".py") or ".so" in name:
                yield name, wheel.read(name)


def _of_file(name: str, data: bytes) -> Iterable[str]:
    suffix = Path(name).suffix
    if suffix == ".py":
        raw: Iterable[str] = _of_python(data)
    elif suffix in _SOURCES:
        raw = _of_source(data.decode("utf-8", "replace"))
    elif ".so" in name or data[:4] == b"\x7fELF":
        raw = (one.group().decode("ascii") for one in _BYTES.finditer(data))
    elif suffix in {".sh", ".in", ""} and data[:2] == b"#!":
        raw = (one[1] for one in _SHELL_LINE.finditer(data.decode("utf-8", "replace")))
    else:
        raw = ()
    for one in raw:
        words = filled(" ".join(one.split()))
        if _is_sentence(words):
            yield words


def _is_sentence(words: str) -> bool:
    letters = sum(one.isalpha() or one == " " for one in words)
    return (
        _SHORTEST <= len(words) <= _LONGEST
        and letters >= 0.75 * len(words)
        and all(pattern.search(words) for pattern in (_SUBJECT, _FAULT, _PROSE))
        and not _CODE.search(words)
    )


# Python: what is raised, asserted, warned of or logged, and strings that are kept under a name to be printed.


def _of_python(data: bytes) -> Iterator[str]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from filter(None, map(_said, node.exc.args))
        elif isinstance(node, ast.Assert) and node.msg is not None:
            yield _said(node.msg)
        elif isinstance(node, ast.Call) and _SPEAKS.search(_name(node.func)):
            yield from filter(None, map(_said, node.args))
        elif isinstance(node, (ast.Assign, ast.AugAssign, ast.Return)) and node.value is not None:
            yield _said(node.value)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _said(node: ast.expr) -> str:
    """The words of an expression, `{}` for what is not written out; empty where it is no string."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _said(node.left), _said(node.right)
        return f"{left or '{}'}{right or '{}'}" if left or right else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _said(node.left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"format", "join", "strip"}:
        return _said(node.func.value)
    return ""


# C, C++ and Go: string literals, those of one message joined, with `{}` for what stands between them.


def _of_source(source: str) -> Iterator[str]:
    words, end = "", 0
    for piece in _PIECE.finditer(source):
        literal = piece["text"] or piece["raw"]
        if literal is None:
            continue
        inner = literal[1:-1] if piece["raw"] else _unescaped(literal[1:-1])
        gap = source[end : piece.start()]
        if words and _JOINS.match(gap):
            words += inner
        elif words and len(words) < _LONGEST and _STREAMS.match(gap):
            words += "{}" + inner
        else:
            yield words
            words = inner
        end = piece.end()
    yield words


def _unescaped(literal: str) -> str:
    return re.sub(r"\\(.)", lambda one: {"n": "\n", "t": " "}.get(one[1], one[1]), literal)


# A value for each slot, by the words before it.

_SLOT = re.compile(
    r"%(?:\([\w.]+\))?[-+#0 ]*\d*(?:\.\d+|\.\*)?(?:hh|h|ll|l|z|j|t)?(?P<kind>[sdiuxXfgqvwcpTe])(?![a-z])"
    r"|\{[\w.\[\]'\"()!:,<>+ -]{0,60}\}|\$\d(?!\d)|\$\{?\w+\}?"
)
_VALUES: tuple[tuple[str, str], ...] = (
    (r"PCI ID: $", "10de"),
    (r"PCI ID: 10de:$", "2684"),
    (r"found version $", "11040"),
    (r"compile ?PyTorch \($", "11.8"),
    (r"driver(?: version)?\W{0,12}$", "535.104.05"),
    (r"cudnn(?: version| v)?\W{0,8}$", "9.1.0"),
    (r"nccl(?: version)?\W{0,8}$", "2.21.5"),
    (r"(?:cuda|toolkit|runtime)(?: \w+)? ?(?:version)?\W{0,8}$", "12.4"),
    (r"(?:compute capability|capability|arch\w*)\W{0,12}$", "8.6"),
    (r"sm_?$", "86"),
    (r"uuid\W{0,8}$", "GPU-5c89aa1e-4a4f-0a37-9f0e-2b8f4c1d7e10"),
    (r"(?:rank|gpu|gpus|device|devices|ordinal|index|id)\W{0,4}$", "0"),
    (r"(?:size|bytes|memory|allocate)\W{0,6}$", "1024"),
    (r"version\W{0,8}$", "1.2.3"),
    (r"(?:path|file|directory|open|read|find|at|from|in)\W{0,6}$", "/opt/some/file"),
    (r"failed to load$", " "),
    (r"(?:library|load)\W{0,6}$", "libexample.so"),
    (r"(?:error|err|code|reason|status|failed|because)\W{0,6}$", "some reason"),
)


def filled(template: str) -> str:
    """A format with a plausible value in each slot; `%%` and doubled braces are what they print."""
    made, end = "", 0
    for slot in _SLOT.finditer(template):
        made += template[end : slot.start()]
        end = slot.end()
        by_words = next((value for before, value in _VALUES if re.search(before, made, re.IGNORECASE)), "")
        number = (slot.groupdict().get("kind") or "") in set("diuxXfge")
        made += by_words if by_words and not (number and not by_words[0].isdigit()) else "3" if number else "value"
    made += template[end:]
    return made.replace("%%", "%").replace("{{", "{").replace("}}", "}").strip(" \t-*=>\"'")
