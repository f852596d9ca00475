"""The shape gates of the house: how long functions and files may be, what they are called, what a value looks like, where broad
excepts may stand.

Run from the project's root: `python .ci/check_shape.py`. Prints each breach and the figures; exits with 1 where there is one.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

FUNCTION_P90, FUNCTION_MAX = 30, 80
FILE_P90, FILE_MAX, MAIN_WINDOW_MAX = 300, 400, 250
# The borders where anything may come through, and is told as a result: house style, point 27.
BROAD_EXCEPTS_IN = frozenset(
    {
        "gpuassist/cli/main.py",
        "gpuassist/detect/runner.py",
        "gpuassist/diagnose/judge.py",
        "gpuassist/monitor/inside/gpuassist_memory.py",
        "gpuassist/monitor/inside/sitecustomize.py",
        "gpuassist/monitor/inside/traced_step.py",
        "gpuassist/monitor/sampler.py",
        "gpuassist/session/insight.py",
        "gpuassist/ui/jobs.py",
        "gpuassist/verify/child/worker.py",
    }
)
# Nouns that only look like participles; a module that is named by a lone participle does not say its subject.
NOUNS = frozenset({"everything", "finding", "listing", "opening", "ranking", "recording", "wording"})
ELSEWHERE = Path("gpuassist/verify/child")  # runs in another interpreter, in which no other name of ours is
LONG_FUNCTIONS_ALLOWED: frozenset[str] = frozenset()  # "file:function": one table or one page layout, with its reason beside it

Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> int:
    """Judges gpuassist/ and tests/."""
    files = {path: ast.parse(path.read_text("utf-8")) for path in sorted(Path("gpuassist").rglob("*.py"))}
    breaches = [*_files(files), *_functions(files), *_names(files), *_values(files), *_broad(files), *_layout_items(files)]
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


def _files(files: dict[Path, ast.Module]) -> Iterator[str]:
    lengths = {path: len(path.read_text("utf-8").splitlines()) for path in files}
    print(f"files: {len(lengths)}, p90 {_p90(list(lengths.values()))}, longest {max(lengths.values())}")
    if _p90(list(lengths.values())) > FILE_P90:
        yield f"files: p90 is over {FILE_P90} lines"
    for path, length in lengths.items():
        limit = MAIN_WINDOW_MAX if path.name == "main_window.py" else FILE_MAX
        if length > limit:
            yield f"{path}: {length} lines, at most {limit}"


def _functions(files: dict[Path, ast.Module]) -> Iterator[str]:
    lengths: list[int] = []
    for path, tree in files.items():
        for node in ast.walk(tree):
            if isinstance(node, Function):
                lengths.append(_length(node))
                if lengths[-1] > FUNCTION_MAX and f"{path}:{node.name}" not in LONG_FUNCTIONS_ALLOWED:
                    yield f"{path}:{node.lineno}: {node.name} has {lengths[-1]} lines, at most {FUNCTION_MAX}"
    median, p90 = statistics.median(lengths), _p90(lengths)
    print(f"functions: {len(lengths)}, median {median}, p90 {p90}, longest {max(lengths)}")
    if p90 > FUNCTION_P90:
        yield f"functions: p90 {p90} (at most {FUNCTION_P90})"


def _names(files: dict[Path, ast.Module]) -> Iterator[str]:
    places: dict[str, list[Path]] = {}
    for path, tree in files.items():
        if "_" not in path.stem and path.stem.endswith(("ing", "ed")) and path.stem not in NOUNS:
            yield f"{path}: a module is named by its subject, not by a lone participle"
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and path.parent != ELSEWHERE:
                places.setdefault(node.name, []).append(path)
    for name, paths in places.items():
        if len(paths) > 1:
            yield f"{name} stands in {', '.join(map(str, paths))}: a public class name stands once"


def _values(files: dict[Path, ast.Module]) -> Iterator[str]:
    for path, tree in files.items():
        if path.parent.name == "model":
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef) and not (node.name[0] == "_" or _is_frozen(node) or _is_enum_or_error(node)):
                    yield f"{path}:{node.lineno}: {node.name} is neither a frozen struct nor an enum nor an error"


def _broad(files: dict[Path, ast.Module]) -> Iterator[str]:
    places = [
        (str(path), node.lineno)
        for path, tree in files.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node)
    ]
    print(f"broad excepts: {len(places)}")
    for path, line in places:
        if path not in BROAD_EXCEPTS_IN or [one for one, _ in places].count(path) > 1:
            yield f"{path}:{line}: a broad except; they belong to the borders alone, one in each"


def _length(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _layout_items(files: dict[Path, ast.Module]) -> Iterator[str]:
    for path, tree in files.items():
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in {"itemAt", "itemAtPosition", "addLayout"}
                and path.name != "layouts.py"
            ):
                yield f"{path}:{node.lineno}: use widgets_in or add_layout: the item that this makes outlives itself (decision 21)"


def _p90(lengths: list[int]) -> int:
    return sorted(lengths)[min(len(lengths) - 1, int(len(lengths) * 0.9))]


def _is_frozen(node: ast.ClassDef) -> bool:
    frozen = any(word.arg == "frozen" and ast.unparse(word.value) == "True" for word in node.keywords)
    return frozen and any(ast.unparse(base) == "Struct" for base in node.bases)


def _is_enum_or_error(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith(("Enum", "Error", "Protocol")) for base in node.bases)


def _is_broad(node: ast.ExceptHandler) -> bool:
    return node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}


if __name__ == "__main__":
    sys.exit(main())
