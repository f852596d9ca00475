"""What is old of what a program was started with: another toolkit than new terminals find, other GPUs, what a change took out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache

from gpuassist.changes.scope_find import Scope, held_in, scope_at
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.detect.kernelspecs import kernelspecs
from gpuassist.model.old_environment import ProgramFamily, RunningProgram
from gpuassist.model.shell import Terminal, Variable
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.toolkits import HOMES, LISTS, looks_like_cuda
from gpuassist.system.files import Files
from gpuassist.system.world import World

IsOld = Callable[[RunningProgram, ProgramFamily], tuple[Variable, ...]]

DEVICES = "CUDA_VISIBLE_DEVICES"
# What a directory of a toolkit may end with, of those that stand on lists.
_ENDS = ("/bin", "/lib64", "/lib", "/include", "/extras/CUPTI/lib64", "/nvvm/bin", "/targets/x86_64-linux/lib")
_SYSTEM = frozenset({"", "/", "/usr", "/usr/local"})
_OF_PYTHON = ("conda-meta", "pyvenv.cfg")
_DESKTOP = frozenset({ProgramFamily.MANAGER, ProgramFamily.DESKTOP, ProgramFamily.TERMINAL, ProgramFamily.EDITOR})
# By which variable a program tells that it runs in one; direnv puts a sign in front of the directory (direnv, rc.go, RecordState).
_SIGNS = {Kind.CONDA: "CONDA_PREFIX", Kind.VENV: "VIRTUAL_ENV", Kind.ENVRC: "DIRENV_DIR"}
# What they run reads no start-up file, so that a variable which they lack is lacking there as well.
_STARTING_PROGRAMS = frozenset(
    {ProgramFamily.NOTEBOOK, ProgramFamily.KERNEL, ProgramFamily.EDITOR_SERVER, ProgramFamily.EDITOR, ProgramFamily.SERVER}
)


def another_toolkit(world: World, terminal: Terminal, desktop: Terminal | None = None) -> IsOld:
    """A variable that leads to another toolkit than in a new terminal, a list by the first that stands on it. What the desktop
    starts may also be as it would be if it was started now (`desktop`); and what runs in an environment, a project or a kernel
    that a toolkit was chosen for may have that one.
    """
    roots, chosen = _Roots(world.files), _ChosenThere(world)
    allowed_for = {False: _allowed(roots, (terminal,)), True: _allowed(roots, (terminal, *([desktop] if desktop else ())))}

    def is_old(program: RunningProgram, family: ProgramFamily) -> tuple[Variable, ...]:
        allowed = allowed_for[family in _DESKTOP]
        found = tuple(one for one in program.held if (first := roots.first(one)) and first not in allowed(one))
        right = {roots.of(place) for place in chosen.toolkits(program, family)} if found else set()
        return tuple(
            Variable(one.name, place)
            for one in found
            if roots.first(one) not in right
            for place in roots.places(one)
            if roots.of(place) not in {"", *allowed(one), *right}
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


class _ChosenThere:
    """The toolkits that gpuassist's lines choose for what a program runs in."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._held = cache(self._look)

    def toolkits(self, program: RunningProgram, family: ProgramFamily) -> Iterator[str]:
        for kind, name in _SIGNS.items():
            place = program.variable(name).removeprefix("-")
            if place.startswith("/"):
                yield self._held(kind, place)
        if family is ProgramFamily.KERNEL and program.words:
            # A kernel does not say of which kernel.json it is: it is one of its interpreter's, or of the user's.
            prefix = program.words[0].rpartition("/bin/")[0]
            for spec in kernelspecs(self._world, (prefix,) if prefix else ()):
                yield self._held(Kind.JUPYTER, spec.path)

    def _look(self, kind: Kind, place: str) -> str:
        try:
            return held_in(self._world, scope_at(self._world, kind, place)).toolkit
        except (RepairError, OSError, ValueError):
            return ""


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
    if scope.kind not in _SIGNS:
        return None

    def is_old(program: RunningProgram, _: ProgramFamily) -> tuple[Variable, ...]:
        if program.variable(_SIGNS[scope.kind]).removeprefix("-") != scope.place:
            return ()
        return tuple(
            Variable(name, program.variable(name)) for name in sorted(names) if program.variable(name) != held.get(name, "")
        )

    return is_old
