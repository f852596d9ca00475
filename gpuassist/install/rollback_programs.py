"""The programs that take an environment back to what it held, by the tool that had changed it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gpuassist.formats.frozen import Back
from gpuassist.model.plan import Run, Tool

_WITH_VALUE = {"--extra-index-url": "--extra-index-url", "--index-url": "--extra-index-url", "-i": "--extra-index-url"}
_KEPT_WITH_VALUE = {"--find-links", "-f", "--trusted-host", "--index", "--default-index"}
_KEPT = {"--no-index", "--offline"}


def back_programs(run: Run, back: Back, indexes: Sequence[str] = ()) -> tuple[tuple[str, ...], ...]:
    """First what was added is taken out, then the rest comes back exactly as it was; `indexes` are those that have such builds."""
    program = run.programs[0][0]
    if run.tool is Tool.CONDA:
        return tuple(_conda(program, run.environment, back))
    options = where_from(run.programs)
    if not _KEPT & set(options):
        options += tuple(word for one in indexes for word in ("--extra-index-url", one))
    if run.tool is Tool.UV:
        # uv takes a package from the first index that has any version of it, and PyTorch's has some of NumPy; these are exact.
        options += ("--index-strategy", "unsafe-best-match") if indexes and options else ()
        return tuple(_uv(program, run.interpreter, back, options))
    return tuple(_pip(run.interpreter, back, options))


def where_from(programs: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The options of a step's own programs that say where packages come from; an index of theirs becomes one more."""
    found: list[str] = []
    for program in programs:
        words = iter(program)
        for word in words:
            name, _, value = word.partition("=")
            if name in _WITH_VALUE:
                found += (_WITH_VALUE[name], value or next(words, ""))
            elif name in _KEPT_WITH_VALUE:
                found += (name, value or next(words, ""))
            elif word in _KEPT:
                found.append(word)
    return tuple(found)


def _pip(interpreter: str, back: Back, options: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if back.remove:
        yield (interpreter, "-m", "pip", "uninstall", "--yes", *back.remove)
    if back.restore:
        yield (interpreter, "-m", "pip", "install", "--no-deps", "--force-reinstall", *options, *_words(back.restore))


def _uv(program: str, interpreter: str, back: Back, options: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if back.remove:
        yield (program, "pip", "uninstall", "--python", interpreter, *back.remove)
    if back.restore:
        yield (program, "pip", "install", "--python", interpreter, "--no-deps", *options, *_words(back.restore))


def _conda(program: str, environment: str, back: Back) -> Iterator[tuple[str, ...]]:
    if back.remove:
        yield (program, "remove", "--yes", "--force", "--prefix", environment, *back.remove)
    if back.restore:
        yield (program, "install", "--yes", "--prefix", environment, *back.restore)


def _words(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for line in lines for word in (("-e", line[3:]) if line.startswith("-e ") else (line,)))
