"""The programs that take an environment back to what it held, by the tool that had changed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpuassist.formats.frozen import Back
from gpuassist.model.plan import Run, Tool

_WITH_VALUE = {"--extra-index-url": "--extra-index-url", "--index-url": "--extra-index-url", "-i": "--extra-index-url"}
_KEPT_WITH_VALUE = {"--find-links", "-f", "--trusted-host", "--index", "--default-index"}
_KEPT = {"--no-index", "--offline"}


def back_programs(run: Run, back: Back, indexes: Sequence[str] = ()) -> tuple[tuple[str, ...], ...]:
    """First what was added is taken out, then the rest comes back exactly as it was; `indexes` are those that have such builds."""
    program = run.programs[0][0]
    if run.tool is Tool.CONDA:
        conda: list[tuple[str, ...]] = []
        if back.remove:
            conda.append((program, "remove", "--yes", "--force", "--prefix", run.environment, *back.remove))
        if back.restore:
            conda.append((program, "install", "--yes", "--prefix", run.environment, *back.restore))
        return tuple(conda)
    options = where_from(run.programs)
    if not _KEPT & set(options):
        options += tuple(word for one in indexes for word in ("--extra-index-url", one))
    if run.tool is Tool.UV:
        # uv takes a package from the first index that has any version of it, and PyTorch's has some of NumPy; these are exact.
        options += ("--index-strategy", "unsafe-best-match") if indexes and options else ()
        uv: list[tuple[str, ...]] = []
        if back.remove:
            uv.append((program, "pip", "uninstall", "--python", run.interpreter, *back.remove))
        if back.restore:
            uv.append((program, "pip", "install", "--python", run.interpreter, "--no-deps", *options, *_words(back.restore)))
        return tuple(uv)
    pip: list[tuple[str, ...]] = []
    if back.remove:
        pip.append((run.interpreter, "-m", "pip", "uninstall", "--yes", *back.remove))
    if back.restore:
        pip.append((run.interpreter, "-m", "pip", "install", "--no-deps", "--force-reinstall", *options, *_words(back.restore)))
    return tuple(pip)


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


def _words(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for line in lines for word in (("-e", line[3:]) if line.startswith("-e ") else (line,)))
