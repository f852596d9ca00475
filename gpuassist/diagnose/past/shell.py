"""What became of the user's own settings: lines of start-up files, what a new terminal holds, and where packages are taken from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec.structs import asdict

from gpuassist.diagnose.past.looks import Looks, apart
from gpuassist.model.fact import Known
from gpuassist.model.package_settings import PackageSetting
from gpuassist.model.past import Direction, KeptStartupFile, MachineChange, StartupLine, Subject
from gpuassist.model.shell import Terminal

NVCC = "nvcc"
_LISTS = frozenset({"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "PYTHONPATH"})
# Of a list of directories those count that GPU work looks into; the rest of PATH is everybody's.
_OF_GPU_WORK = ("cuda", "nvidia", "cudnn", "conda", "mamba", "venv", "nccl", "tensorrt", "hpc_sdk", "python", "torch")
_MOST_LINES = 400
_NO_TERMINAL = frozenset({"XDG_CONFIG_HOME"})


def startup_changes(looks: Looks) -> Iterator[MachineChange]:
    """A change for each place in a file where lines that matter are others; a file that one look lacks was not looked at, unless
    the machine itself says that it is not there.
    """
    if looks.kept is None or not looks.kept.startup:
        return
    before, after = ({one.path: one for one in kept.startup} for kept in (looks.kept, looks.latest))
    for path in dict.fromkeys((*before, *after)):
        old, new = before.get(path), after.get(path)
        if old is not None and new is not None:
            if old.digest and new.digest and old.digest != new.digest:  # one that could not be read has none
                yield from _edits(looks, path, old.lines, new.lines)
        elif old is None and new is not None and new.lines:
            yield _of_file(looks, new, Direction.ADDED)
        elif old is not None and old.lines and _is_gone(looks, path):
            yield _of_file(looks, old, Direction.REMOVED)


def _is_gone(looks: Looks, path: str) -> bool:
    """Of the system's files those alone are kept that have lines on CUDA; one that a file reads in goes with the line that does."""
    if path.startswith("/etc/"):
        return True
    files = looks.now.shell.startup_files
    return isinstance(files, Known) and any(one.path == path and not one.exists for one in files.value)


def _of_file(looks: Looks, file: KeptStartupFile, way: Direction) -> MachineChange:
    words = _words(file.lines)
    told = {"after": words} if way is Direction.ADDED else {"before": words}
    return looks.seen(Subject.STARTUP_FILE, way, file.path, place=file.path, sources=(file.path,), **told)


def _edits(looks: Looks, path: str, old: Sequence[StartupLine], new: Sequence[StartupLine]) -> Iterator[MachineChange]:
    old, new = old[:_MOST_LINES], new[:_MOST_LINES]
    matcher = SequenceMatcher(None, [line.text for line in old], [line.text for line in new], autojunk=False)
    for tag, first, last, start, end in matcher.get_opcodes():
        if tag != "equal":
            was, is_now = old[first:last], new[start:end]
            way = Direction.CHANGED if was and is_now else Direction.ADDED if is_now else Direction.REMOVED
            place = _place(path, is_now or was)
            yield looks.seen(
                Subject.STARTUP_FILE, way, path, before=_words(was), after=_words(is_now), place=place, sources=(place,)
            )


def _words(lines: Sequence[StartupLine]) -> str:
    return "\n".join(line.text for line in lines)


def _place(path: str, lines: Sequence[StartupLine]) -> str:
    return f"{path}:{lines[0].number}" if lines else path


def terminal_changes(looks: Looks, startup: Sequence[MachineChange]) -> Iterator[MachineChange]:
    """Variables of a new terminal, and the nvcc that it finds: as far as no line of a start-up file that changed says the same."""
    found = looks.both(lambda machine: machine.shell.new_terminal)
    if found is None or not (found[0].whole and found[1].whole):
        return
    words = "\n".join(f"{one.before}\n{one.after}" for one in startup)
    sources = looks.source(lambda machine: machine.shell.new_terminal)
    was, is_now = ({one.name: one.value for one in part.variables if one.name not in _NO_TERMINAL} for part in found)
    path_told = False
    for name, (old, new) in apart(was, is_now).items():
        before, after = _elements(name, old, new)
        if before == after:
            continue
        told = any(one and one in words for one in (name, *_single(name, before), *_single(name, after)))
        path_told = path_told or name == "PATH"
        if not told:
            way = Direction.ADDED if old is None else Direction.REMOVED if new is None else Direction.CHANGED
            yield looks.seen(Subject.VARIABLE, way, name, before=before, after=after, sources=sources)
    if not path_told:
        yield from _nvcc(looks, *found, sources)


def _single(name: str, value: str) -> tuple[str, ...]:
    return tuple(value.split(":")) if name in _LISTS else ()


def _elements(name: str, old: str | None, new: str | None) -> tuple[str, str]:
    """The values; of a list of directories those that are only in one of them, or all where their order is another one."""
    if name not in _LISTS:
        return old or "", new or ""
    before, after = ([part for part in (value or "").split(":") if _counts(name, part)] for value in (old, new))
    only_before, only_after = [one for one in before if one not in after], [one for one in after if one not in before]
    if only_before or only_after:
        return ":".join(only_before), ":".join(only_after)
    return ":".join(dict.fromkeys(before)), ":".join(dict.fromkeys(after))


def _counts(name: str, directory: str) -> bool:
    return bool(directory) and (name != "PATH" or any(word in directory.lower() for word in _OF_GPU_WORK))


def _nvcc(looks: Looks, before: Terminal, after: Terminal, sources: tuple[str, ...]) -> Iterator[MachineChange]:
    """Where PATH is the same: another file at the same place is told of by the link or the toolkit that it is."""
    old, new = before.command(NVCC), after.command(NVCC)
    was, is_now = (one.path if one is not None else "" for one in (old, new))
    if was != is_now:
        way = Direction.CHANGED if was and is_now else Direction.ADDED if is_now else Direction.REMOVED
        yield looks.seen(Subject.VARIABLE, way, NVCC, before=was, after=is_now, sources=sources)


def setting_changes(looks: Looks) -> Iterator[MachineChange]:
    """What pip, uv and conda are told, and the directories that the loader searches for every program."""
    found = looks.both(lambda machine: machine.package_settings)
    for tool in ("pip", "uv", "conda") if found else ():
        was, is_now = (asdict(getattr(part, tool)) for part in found or ())
        for field, (old, new) in apart(was, is_now).items():
            before, after = _setting(old), _setting(new)
            if before != after:
                way = Direction.CHANGED if before and after else Direction.ADDED if after else Direction.REMOVED
                place = _where(new) or _where(old)
                sources = (place,) if place else ()
                yield looks.seen(Subject.SETTING, way, f"{tool} {field}", before=before, after=after, place=place, sources=sources)
    loader = looks.both(lambda machine: machine.system.loader)
    if loader is not None:
        sides = ({(one.file, one.directory): one.directory for one in part} for part in loader)
        for (file, directory), (old, new) in apart(*sides).items():
            way = Direction.ADDED if old is None else Direction.REMOVED
            yield looks.seen(Subject.SETTING, way, directory, before=old or "", after=new or "", place=file, sources=(file,))


def _setting(value: object) -> str:
    if isinstance(value, PackageSetting):
        return value.value
    return ", ".join(one.value for one in value if isinstance(one, PackageSetting)) if isinstance(value, tuple) else ""


def _where(value: object) -> str:
    if isinstance(value, PackageSetting):
        return value.source
    return next((one.source for one in value if isinstance(one, PackageSetting)), "") if isinstance(value, tuple) else ""
