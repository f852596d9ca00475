"""Python files as trees, never run: what setup.py asks for and compiles, and where CUDA_VISIBLE_DEVICES is set too late."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping

from msgspec import Struct

from gpuassist.formats.project.build_lines import list_wish, wishes_of
from gpuassist.formats.project.requirements import requirement_of
from gpuassist.formats.project.values import (
    ArchitectureWish,
    AskedAs,
    ExtensionWish,
    FileReading,
    LateDevices,
    ProjectRequirement,
    PythonWish,
    Spot,
    Trouble,
)
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text

SETUP, MODULE = "setup", "python"
LARGEST_BYTES = 1 << 19
SIGNS = (b"CUDA_VISIBLE_DEVICES", b"TORCH_CUDA_ARCH_LIST", b"cpp_extension", b"CUDAExtension", b"gencode")
"""A module that holds none of these says nothing that is judged, and is not parsed."""
_TORCH = frozenset({"torch", "torchvision", "torchaudio"})
_DEVICES = "CUDA_VISIBLE_DEVICES"
_LINE_END = lazy_regex(r"\r\n|\r|\n")
_EXTENSIONS = {"CUDAExtension": "CUDAExtension", "CUDA_EXTENSION": "CUDAExtension"}
_LOADERS = frozenset({"load", "load_inline"})


def read_python(file: str, words: str, *, setup: bool = False) -> FileReading:
    """What a module says; of one that Python could not read the reason with its line."""
    kind = SETUP if setup else MODULE
    tree = _parsed(words)
    if isinstance(tree, _Broken):
        about = "extension" if setup else "cuda"
        return FileReading(file, kind, troubles=(Trouble(Spot(file, tree.line), tree.reason, about),))
    source = _Source(file, words)
    conditional = _conditional(tree)
    wishes = tuple(_architectures(tree, source, conditional))
    extensions = tuple(_extensions(tree, source, conditional))
    if not setup:
        return FileReading(file, kind, architectures=wishes, extensions=extensions, devices=tuple(_late(tree, source)))
    call = next((node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node.func) == "setup"), None)
    names = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    given = {word.arg: word.value for word in call.keywords if word.arg} if call is not None else {}
    return FileReading(
        file,
        kind,
        tuple(_requirements(given, names, source)),
        pythons=tuple(_pythons(given, source)),
        architectures=wishes,
        extensions=extensions,
    )


class _Broken(Struct, frozen=True):
    reason: Text
    line: int


def _parsed(words: str) -> ast.Module | _Broken:
    if len(words) > LARGEST_BYTES:
        return _Broken(text("it is too long to be looked at: {length} characters", length=len(words)), 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its string escapes, which are its own matter
            return ast.parse(words)
    except SyntaxError as error:
        return _Broken(text("Python cannot read it: {reason}", reason=(error.msg or "")[:120]), error.lineno or 1)
    except (ValueError, RecursionError, MemoryError):  # NUL characters, and what is nested ten thousand deep
        return _Broken(text("Python cannot read it: {reason}", reason="it holds NUL characters, or is nested too deeply"), 1)


class _Source:
    """The text by lines: a node tells its place in bytes of UTF-8."""

    def __init__(self, file: str, words: str) -> None:
        self.file, self.words = file, words
        ends = [found.end() for found in _LINE_END.finditer(words)]  # as Python counts them: a lone CR ends a line as well
        self.starts = [0, *ends, len(words)]
        self.lines = [words[first:end].rstrip("\r\n") for first, end in zip(self.starts, self.starts[1:], strict=False)]

    def place(self, line: int, column: int) -> int:
        row = self.lines[line - 1] if line <= len(self.lines) else ""
        return self.starts[line - 1] + len(row.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))

    def inside(self, node: ast.Constant) -> Spot:
        """Where the words of a plain text stand; no place where it has escapes or goes over several lines."""
        line = node.lineno
        if node.end_lineno != line or node.end_col_offset is None or "\r" in self.words or "\f" in self.words:
            return Spot(self.file, line)
        first, end = self.place(line, node.col_offset), self.place(line, node.end_col_offset)
        spelled = self.words[first:end]
        value = node.value
        if isinstance(value, str) and spelled[1:-1] == value and spelled[:1] in "\"'":
            return Spot(self.file, line, first + 1, end - 1)
        return Spot(self.file, line)

    def line(self, number: int) -> Spot:
        return Spot(self.file, number, self.starts[number - 1], self.starts[number])


def _name(node: ast.expr) -> str:
    """The last name of what is called: `CUDAExtension` of `cpp_extension.CUDAExtension`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _conditional(tree: ast.Module) -> set[int]:
    """The nodes that stand in a branch, by identity; a function's body counts as it is called, which nobody knows either way."""
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.If, ast.IfExp)) and not _is_main(node):
            parts = [*node.body, *node.orelse] if isinstance(node, ast.If) else [node.body, node.orelse]
            for part in parts:
                inside.update(id(one) for one in ast.walk(part))
    return inside


def _is_main(node: ast.If | ast.IfExp) -> bool:
    test = node.test
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _texts(tree: ast.AST) -> Iterator[ast.Constant]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))


def _architectures(tree: ast.Module, source: _Source, conditional: set[int]) -> Iterator[ArchitectureWish]:
    listed = {id(value) for _, value in _assigned(tree, "TORCH_CUDA_ARCH_LIST")}
    for node in _texts(tree):
        spot, value = source.inside(node), str(node.value)
        if id(node) in listed:
            yield list_wish(value, spot, conditional=id(node) in conditional)
        elif ("arch" in value or "code" in value or "CUDA_ARCH" in value) and len(value) < 2_000 and "\n" not in value:
            yield from wishes_of(value, spot, conditional=id(node) in conditional)


def _assigned(tree: ast.AST, name: str) -> Iterator[tuple[ast.stmt | ast.expr, ast.expr]]:
    """`os.environ[name] = value`, `os.environ.setdefault(name, value)`, `os.putenv(name, value)`: where, and the value."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and _is_text(target.slice, name) and _name(target.value) == "environ":
                    yield node, node.value
        elif isinstance(node, ast.Call) and len(node.args) == 2 and _name(node.func) in {"setdefault", "putenv"}:
            yield from ((node, node.args[1]) for _ in range(_is_text(node.args[0], name)))


def _is_text(node: ast.expr, value: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _extensions(tree: ast.Module, source: _Source, conditional: set[int]) -> Iterator[ExtensionWish]:
    whole = source.words
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = _name(node.func)
        loads = called in _LOADERS and "cpp_extension" in whole and _has_cuda(node)
        if called not in _EXTENSIONS and not loads:
            continue
        given = [word.value for word in node.keywords if word.arg == "name"] or node.args[:1]
        name = given[0].value if given and isinstance(given[0], ast.Constant) and isinstance(given[0].value, str) else ""
        shown = "CUDAExtension" if not loads else f"torch.utils.cpp_extension.{called}"
        yield ExtensionWish(name, Spot(source.file, node.lineno), shown, conditional=id(node) in conditional)


def _has_cuda(node: ast.Call) -> bool:
    """Whether a load of an extension names CUDA sources."""
    named = {word.arg for word in node.keywords}
    sources = any(str(one.value).endswith((".cu", ".cuh")) for one in _texts(node))
    return sources or bool({"cuda_sources", "extra_cuda_cflags"} & named)


def _requirements(given: Mapping[str, ast.expr], names: Mapping[str, ast.expr], source: _Source) -> Iterator[ProjectRequirement]:
    for word, origin in (
        ("install_requires", AskedAs.INSTALL),
        ("setup_requires", AskedAs.BUILD),
        ("extras_require", AskedAs.OPTIONAL),
    ):
        value = given.get(word)
        if isinstance(value, ast.Name):
            value = names.get(value.id)
        lists: list[tuple[str, ast.expr]] = []
        if isinstance(value, ast.Dict):
            keys = (str(key.value) if isinstance(key, ast.Constant) else "" for key in value.keys)
            lists = list(zip(keys, value.values, strict=True))
        elif value is not None:
            lists = [("", value)]
        for group, one in lists:
            for node in one.elts if isinstance(one, (ast.List, ast.Tuple)) else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    spot = source.inside(node)
                    read = requirement_of(
                        node.value, Spot(source.file, node.lineno), origin, inside=node.value, offset=spot.first, group=group
                    )
                    if read is not None and read.name:
                        yield read


def _pythons(given: Mapping[str, ast.expr], source: _Source) -> Iterator[PythonWish]:
    value = given.get("python_requires")
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield PythonWish("".join(value.value.split()), source.inside(value), spelled=value.value)


def _late(tree: ast.Module, source: _Source) -> Iterator[LateDevices]:
    """Statements of the module itself that set CUDA_VISIBLE_DEVICES below the import of torch."""
    imported: Spot | None = None
    imports_os: Spot | None = None
    started = False
    for node in tree.body:
        modules = _imported(node)
        if imported is None and modules & _TORCH:
            imported = source.line(node.lineno)
        if "os" in modules and imports_os is None:
            imports_os = source.line(node.lineno)
        if imported is None:
            continue
        setting = (
            next(iter(_assigned(node, _DEVICES)), None)
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))
            else None
        )
        if setting is not None:
            where, value = setting
            movable = (
                isinstance(node, (ast.Assign, ast.Expr))
                and where in {node, getattr(node, "value", None)}
                and node.end_lineno == node.lineno
            )
            movable = (
                movable and node.col_offset == 0 and isinstance(value, ast.Constant) and ";" not in source.lines[node.lineno - 1]
            )
            above = imports_os if imports_os is not None and imports_os.line < node.lineno else None
            yield LateDevices(
                Spot(source.file, where.lineno), imported, started, movable, source.line(node.lineno) if movable else None, above
            )
        started = started or _starts_cuda(node)


def _imported(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.Import):
        return {one.name.partition(".")[0] for one in node.names}
    return {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) and node.level == 0 else set()


def _starts_cuda(node: ast.stmt) -> bool:
    """Whether a statement of the module certainly begins CUDA: a tensor or a model goes to a GPU, or torch.cuda is asked."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If)):
        return False
    for one in ast.walk(node):
        if not isinstance(one, ast.Call):
            continue
        if isinstance(one.func, ast.Attribute) and one.func.attr == "cuda" and not isinstance(one.func.value, ast.Name):
            return True
        words = [*one.args, *(word.value for word in one.keywords if word.arg == "device")]
        to_gpu = any(isinstance(word, ast.Constant) and str(word.value).startswith("cuda") for word in words)
        if to_gpu and _name(one.func) in {"to", "zeros", "ones", "randn", "rand", "empty", "tensor", "full", "arange"}:
            return True
        if _name(one.func) in {"init", "set_device", "current_device", "get_device_name", "get_device_properties", "synchronize"}:
            value = one.func.value if isinstance(one.func, ast.Attribute) else None
            if isinstance(value, ast.Attribute) and value.attr == "cuda":
                return True
    return False


# setup.cfg


def read_setup_cfg(file: str, words: str) -> FileReading:
    """The requirements and the Python of setup.cfg, line by line: configparser tells no lines."""
    section, key = "", ""
    requirements: list[ProjectRequirement] = []
    pythons: list[PythonWish] = []
    place = 0
    for number, line in enumerate(words.split("\n"), start=1):
        bare = line.strip()
        offset, place = place, place + len(line) + 1
        if bare.startswith("[") and bare.endswith("]") and not line[:1].isspace():
            section, key = bare[1:-1].strip(), ""
            continue
        if not bare or bare[0] in "#;":
            continue
        value, start = bare, line.index(bare[0])
        if not line[:1].isspace():
            key, sign, value = (part.strip() for part in line.partition("="))
            if not sign:
                continue
            start = line.index("=") + 1 + (len(line.partition("=")[2]) - len(line.partition("=")[2].lstrip()))
        if not value:
            continue
        if section == "options" and key == "python_requires":
            pythons.append(
                PythonWish("".join(value.split()), Spot(file, number, offset + start, offset + start + len(value)), spelled=value)
            )
        origin = {"install_requires": AskedAs.INSTALL, "setup_requires": AskedAs.BUILD}.get(key) if section == "options" else None
        if section == "options.extras_require":
            origin = AskedAs.OPTIONAL
        if origin is not None:
            plain = value.split(" #")[0].rstrip()
            read = requirement_of(plain, Spot(file, number), origin, inside=plain, offset=offset + start)
            if read is not None and read.name:
                requirements.append(read)
    return FileReading(file, "setup", tuple(requirements), pythons=tuple(pythons))
