"""What is old of what a program was started with: another toolkit than new terminals find, other GPUs, what a change took out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from gpuassist.changes.scope_find import Scope
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.model.old_environment import ProgramFamily, RunningProgram
from gpuassist.model.shell import Terminal, Variable
from gpuassist.shellfiles.toolkits import HOMES, LISTS, looks_like_cuda
from gpuassist.system.files import Files

IsOld = Callable[[RunningProgram, ProgramFamily], tuple[Variable, ...]]

DEVICES = "CUDA_VISIBLE_DEVICES"
# What a directory of a toolkit may end with, of those that stand on lists.
_ENDS = ("/bin", "/lib64", "/lib", "/include", "/extras/CUPTI/lib64", "/nvvm/bin", "/targets/x86_64-linux/lib")
_SYSTEM = frozenset({"", "/", "/usr", "/usr/local"})
_OF_PYTHON = ("conda-meta", "pyvenv.cfg")
_DESKTOP = frozenset({ProgramFamily.MANAGER, ProgramFamily.DESKTOP, ProgramFamily.TERMINAL, ProgramFamily.EDITOR})
# What they run reads no start-up file, so that a variable which they lack is lacking there as well.
_STARTING_PROGRAMS = frozenset(
    {ProgramFamily.NOTEBOOK, ProgramFamily.KERNEL, ProgramFamily.EDITOR_SERVER, ProgramFamily.EDITOR, ProgramFamily.SERVER}
)


def another_toolkit(files: Files, terminal: Terminal, desktop: Terminal | None = None) -> IsOld:
    """A variable that leads to another toolkit than in a new terminal, a list by the first that stands on it. What the desktop
    starts may also be as it would be if it was started now (`desktop`), and without that nothing is said of it.
    """
    roots = _Roots(files)
    allowed_for = {False: _allowed(roots, (terminal,)), True: _allowed(roots, (terminal, *([desktop] if desktop else ())))}

    def is_old(program: RunningProgram, family: ProgramFamily) -> tuple[Variable, ...]:
        allowed = allowed_for[family in _DESKTOP]
        return tuple(
            Variable(one.name, place)
            for one in program.held
            if (first := roots.first(one)) and first not in allowed(one)
            for place in roots.places(one)
            if roots.of(place) not in {"", *allowed(one)}
        )

    return is_old


def _allowed(roots: _Roots, terminals: tuple[Terminal, ...]) -> Callable[[Variable], frozenset[str]]:
    held: dict[str, set[str]] = {}
    for one in (variable for terminal in terminals for variable in terminal.variables):
        root = roots.first(one)
        if root:
            held.setdefault(one.name, set()).add(root)
    every = frozenset(root for found in held.values() for root in found)
    return lambda one: frozenset(held.get(one.name, every))


class _Roots:
    """Which toolkit a value leads to, by its real directory."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.of: Callable[[str], str] = cache(self._look)  # most programs hold the same

    def places(self, one: Variable) -> tuple[str, ...]:
        """The directories and files in a value that may be of a toolkit."""
        return tuple(one.value.split(":")) if one.name in LISTS else (one.value,) if one.name in HOMES else ()

    def first(self, one: Variable) -> str:
        """The toolkit that wins by it; empty where it leads to none."""
        return next((root for place in self.places(one) if (root := self.of(place))), "")

    def _look(self, place: str) -> str:
        if not place.startswith("/"):
            return ""
        place = place.rstrip("/").removesuffix("/nvcc")
        root = self._files.real(next((place.removesuffix(end) for end in _ENDS if place.endswith(end)), place))
        if root in _SYSTEM or any(self._files.exists(f"{root}/{sign}") for sign in _OF_PYTHON):
            return ""
        return root if looks_like_cuda(root) or self._files.is_file(f"{root}/bin/nvcc") else ""


def taken_out(gone: Iterable[tuple[str, str]]) -> IsOld:
    """A variable that holds one of these values, a list that holds one of these elements."""
    wanted = frozenset(gone)

    def is_old(program: RunningProgram, _: ProgramFamily) -> tuple[Variable, ...]:
        return tuple(
            Variable(one.name, element)
            for one in program.held
            for element in (one.value.split(":") if one.name in LISTS else (one.value,))
            if (one.name, element) in wanted
        )

    return is_old


def other_devices(before: frozenset[str], now: str) -> IsOld:
    """GPUs as they were chosen `before`, and where none were, a program that a terminal started and that sees them all. What
    somebody chose for one program alone is none of these.
    """

    def is_old(program: RunningProgram, family: ProgramFamily) -> tuple[Variable, ...]:
        held = next((one for one in program.held if one.name == DEVICES), None)
        if held is not None:
            return (held,) if held.value in before and held.value != now else ()
        from_terminal = program.variable("SHLVL") not in {"", "0"} and program.variable("TERM") not in {"", "dumb"}
        return (Variable(DEVICES, ""),) if now and from_terminal and family in _STARTING_PROGRAMS else ()

    return is_old


def in_scope(scope: Scope, held: Mapping[str, str], names: frozenset[str]) -> IsOld | None:
    """Whose environment or project is active in it, and who holds something else there; None of a scope that leaves no sign."""
    signs: dict[Kind, tuple[tuple[str, str], ...]] = {
        Kind.CONDA: (("CONDA_PREFIX", scope.place),),
        Kind.VENV: (("VIRTUAL_ENV", scope.place),),
        Kind.ENVRC: (("DIRENV_DIR", f"-{scope.place}"),),  # direnv puts the sign in front (direnv, gzenv and rc.go)
    }
    if scope.kind not in signs:
        return None

    def is_old(program: RunningProgram, _: ProgramFamily) -> tuple[Variable, ...]:
        if not all(program.variable(name) == value for name, value in signs[scope.kind]):
            return ()
        return tuple(
            Variable(name, program.variable(name)) for name in sorted(names) if program.variable(name) != held.get(name, "")
        )

    return is_old
