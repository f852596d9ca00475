"""The proof that new shells use a toolkit: every way of starting one that had any before, and every new terminal, has this one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec.structs import replace

from gpuassist.changes.plan import Proof, ToolkitChoice
from gpuassist.changes.scope_find import Scope
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.changes.shells import NAMES, ShellSeen, Winner
from gpuassist.detect.compiler_driver import ask_version, locate
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, enumerated, listed, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.shellfiles.toolkits import CHOOSING, LISTS, InstalledToolkits, Lead
from gpuassist.system.processes import Ending
from gpuassist.system.shell_questions import PLAIN
from gpuassist.system.terminal import SECONDS, Opening, ask_terminal, usable_shell
from gpuassist.system.world import World

_NVCC = "nvcc"
_EMPTY = "''"
_SYSTEM = frozenset({"/usr/local/bin", "/usr/bin", "/bin"})


def prove_toolkit(world: World, root: str, *, shell: str = "", seconds: float = SECONDS) -> Proof:
    """Opens a new terminal of that shell, none for the login shell, and looks which nvcc wins there."""
    terminal = ask_terminal(with_shell(world, shell) if shell else world, seconds=seconds)
    if isinstance(terminal, Unknown):
        return _unasked(terminal)
    winner = winner_in(world, terminal.value)
    wrong = _wrong_nvcc(world, root, terminal.value, winner)
    if wrong is not None:
        return Proof(Known(value=False, source=terminal.source), wrong, terminal, winner)
    return Proof(Known(value=True, source=terminal.source), _sentence(winner), terminal, winner)


def judge_shells(world: World, chosen: ToolkitChoice, before: tuple[ShellSeen, ...], after: tuple[ShellSeen, ...]) -> Proof:
    """Whether every way that counts has the toolkit now, and whether one lost what it had."""
    installed = InstalledToolkits(chosen.toolkit, chosen.others, world.files.real, world.surroundings.home, world.files.exists)
    judge = _Judge(world, installed, before)
    worse = next((why for one in after if (why := judge.worse(one)) is not None), None)
    terminal = next((one for one in after if one.opening is Opening.TERMINAL), None)
    told = terminal.terminal if terminal is not None else Unknown(text("none was asked"))
    if isinstance(told, Unknown):
        return _unasked(told, terminal, worse)
    winner = winner_in(world, told.value)
    wrong = [(one, why) for one in after if (why := judge.wrong(one)) is not None]
    if not wrong:
        return Proof(Known(value=True, source=told.source), _sentence(winner), told, winner, worse)
    shell, why = next((pair for pair in wrong if pair[0].opening is Opening.TERMINAL), wrong[0])
    if shell.opening is not Opening.TERMINAL:
        why = text("{shell}: {why}", shell=NAMES[shell.opening], why=why)
    return Proof(Known(value=False, source=told.source), _with_complaint(why, shell), told, winner, worse)


def with_shell(world: World, shell: str) -> World:
    """The same world for a user whose login shell is this one."""
    if PurePosixPath(world.surroundings.login_shell).name == shell:
        return world
    places = (f"/bin/{shell}", f"/usr/bin/{shell}", f"/usr/local/bin/{shell}")
    place = next((place for place in places if world.files.is_file(place)), places[0])
    return replace(world, surroundings=replace(world.surroundings, login_shell=place))


def winner_in(world: World, terminal: Terminal) -> Winner | None:
    """The nvcc that a terminal finds, and what it says of itself."""
    command = terminal.command(_NVCC)
    if command is None:
        return None
    real = locate(world, command.path)
    return Winner(command.path, real, ask_version(world, real))


class _Judge:
    """Judges one way of starting a shell after another."""

    def __init__(self, world: World, installed: InstalledToolkits, before: tuple[ShellSeen, ...]) -> None:
        self._world = world
        self._installed = installed
        self._before = {one.opening: one.terminal for one in before}
        # sh reads nothing of the user's without a login, which is what tells it of its file (ENV).
        alone = PurePosixPath(usable_shell(world)).name not in PLAIN
        self._terminals = {Opening.TERMINAL, Opening.BARE_TERMINAL} if alone else {Opening.TERMINAL}

    def wrong(self, one: ShellSeen) -> Text | None:
        """What is not as planned in it; none where it is, or where it does not count: it had no toolkit before."""
        had = self._before.get(one.opening)
        counts = one.opening in self._terminals or (isinstance(had, Known) and self._has_toolkit(had.value))
        if not counts:
            return None
        if isinstance(one.terminal, Unknown):
            return text("could not be asked: {reason}", reason=one.terminal.reason) if isinstance(had, Known) else None
        terminal = one.terminal.value
        needs_nvcc = one.opening in self._terminals or (isinstance(had, Known) and _was_given_nvcc(had.value))
        if needs_nvcc:
            found = _wrong_nvcc(self._world, self._installed.chosen.root, terminal, winner_in(self._world, terminal))
            if found is not None:
                return found
        return next(self._left_behind(terminal), None)

    def worse(self, one: ShellSeen) -> Text | None:
        """What the change took from it."""
        had = self._before.get(one.opening)
        if not isinstance(had, Known):
            return None
        if isinstance(one.terminal, Unknown):
            return text(
                "{shell} could be asked before, and not since: {reason}", shell=NAMES[one.opening], reason=one.terminal.reason
            )
        before, after = had.value.command(_NVCC), one.terminal.value.command(_NVCC)
        if before is not None and after is None:
            return text("{shell}: it found {nvcc} before, and finds no nvcc since", shell=NAMES[one.opening], nvcc=before.path)
        if before is not None and self._is_whole(had.value) and not self._is_whole(one.terminal.value):
            mixed = next(self._mixed(one.terminal.value), None)
            return text("{shell}: {why}", shell=NAMES[one.opening], why=mixed) if mixed is not None else None
        return None

    def _has_toolkit(self, terminal: Terminal) -> bool:
        return (
            _was_given_nvcc(terminal)
            or terminal.shadow(_NVCC) is not None
            or any(one.name in CHOOSING and self._installed.lead_of(one.value) is not Lead.ELSEWHERE for one in terminal.variables)
        )

    def _left_behind(self, terminal: Terminal) -> Iterator[Text]:
        """Variables that still lead to another toolkit; a list only where that stands in front of the chosen one."""
        for one in terminal.variables:
            if one.name in CHOOSING - LISTS and self._installed.lead_of(one.value) is Lead.OTHER:
                yield text("{name} is still {value}", name=one.name, value=one.value)
            elif one.name in LISTS:
                leads = (self._installed.lead(element) for element in one.value.split(":") if element)
                if next((lead for lead in leads if lead in {Lead.OTHER, Lead.CHOSEN}), None) is Lead.OTHER:
                    yield text("{name} still has another toolkit in front: {value}", name=one.name, value=one.value)

    def _mixed(self, terminal: Terminal) -> Iterator[Text]:
        command = terminal.command(_NVCC)
        leads = {self._installed.lead(command.path)} if command is not None else set()
        if Lead.CHOSEN in leads:
            yield from self._left_behind(terminal)

    def _is_whole(self, terminal: Terminal) -> bool:
        """Whether everything in it leads to one toolkit, whichever that is."""
        command = terminal.command(_NVCC)
        if command is None or self._installed.lead(command.path) is Lead.CHOSEN:
            return next(self._mixed(terminal), None) is None
        root, others = self._installed.root_of(command.path), self._installed.others
        own = next((other for other in others if root in {other.root, *other.links}), Toolkit(root or "/"))
        rest = (self._installed.chosen, *(other for other in others if other is not own))
        seen_from_it = replace(self._installed, chosen=own, others=rest)
        return all(seen_from_it.lead_of(one.value) is not Lead.OTHER for one in terminal.variables if one.name in CHOOSING - LISTS)


def _was_given_nvcc(terminal: Terminal) -> bool:
    """Whether it finds one that start-up files gave it: the distribution's stands where every shell looks, also those that read
    none.
    """
    command = terminal.command(_NVCC)
    return command is not None and command.path.rpartition("/")[0] not in _SYSTEM


def _wrong_nvcc(world: World, root: str, terminal: Terminal, winner: Winner | None) -> Text | None:
    shadow = terminal.shadow(_NVCC)
    if shadow is not None and root not in shadow.text:
        return text(
            "nvcc is {what} there, which comes before PATH: {words}",
            what=_KINDS[shadow.kind.value],
            words=" ".join(shadow.text.split()),
        )
    if winner is None:
        return text("a new terminal finds no nvcc")
    if winner.path != f"{root}/bin/nvcc" and winner.real_path != locate(world, f"{root}/bin/nvcc"):
        return text("the wished toolkit does not win: {winner}", winner=_sentence(winner))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        home = terminal.variable(name)
        if home and world.files.real(home) != world.files.real(root):
            return text("a new terminal finds {path}, but {name} is {home}", path=winner.path, name=name, home=home)
    return None


_KINDS = {"alias": text("an alias"), "function": text("a function"), "hash": text("a remembered path")}


def _with_complaint(words: Text, shell: ShellSeen | None) -> Text:
    """With what the shell itself said while it read the files: that is mostly the reason."""
    if shell is None or not shell.complaints:
        return words
    return text("{words}. The shell said: {complaints}", words=words, complaints=enumerated(shell.complaints[:2]))


def _sentence(winner: Winner | None) -> Text:
    if winner is None:
        return text("a new terminal finds no nvcc")
    if isinstance(winner.version, Known):
        return text("a new terminal finds {path} (nvcc {version})", path=winner.path, version=str(winner.version.value))
    return text("a new terminal finds {path}, but it does not answer: {reason}", path=winner.path, reason=winner.version.reason)


def _unasked(reason: Unknown, shell: ShellSeen | None = None, worse: Text | None = None) -> Proof:
    words = _with_complaint(text("no new terminal could be asked: {reason}", reason=reason.reason), shell)
    return Proof(reason, words, reason, worse=worse)


def prove_devices(world: World, value: str) -> Proof:
    """Asks a real new terminal what it holds in CUDA_VISIBLE_DEVICES."""
    terminal = ask_terminal(world)
    if isinstance(terminal, Unknown):
        return _unasked(terminal)
    found = terminal.value.variable("CUDA_VISIBLE_DEVICES")
    right = found == value and terminal.value.is_set("CUDA_VISIBLE_DEVICES") is bool(value)
    words = text("new terminals have CUDA_VISIBLE_DEVICES={value}", value=found or _EMPTY)
    if right and not value:
        words = text("programs in new terminals see every GPU")
    return Proof(Known(right, terminal.source), words, terminal)


def prove_clean(world: World, before: Fact[Terminal]) -> Proof:
    after = ask_terminal(world)
    if isinstance(after, Unknown):
        return _unasked(after)
    holds = Known(value=True, source=after.source)
    if isinstance(before, Unknown):
        return Proof(holds, text("a new terminal starts as before"), after)
    gone = []
    for name in sorted(LISTS):
        left = after.value.variable(name).split(":")
        elements = before.value.variable(name).split(":") if before.value.variable(name) else []
        taken = (element for element in dict.fromkeys(elements) if elements.count(element) > left.count(element))
        gone += [f"{name}: {element or _EMPTY}" for element in taken]
    words = text("a new terminal no longer searches {places}", places="; ".join(gone))
    return Proof(holds, words if gone else text("a new terminal searches the same places as before"), after)


# The proof of a choice for an environment: a real shell enters it as its users do, is asked what it holds, and leaves it again.


_SECONDS = 10.0
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
_NAMES = ("PATH", "CUDA_HOME", "LD_LIBRARY_PATH", "CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES")
_ASK = "env -0; printf '%s\\0' \"$mark\""
# conda runs all hooks of the environment by name, and those that leave it the other way round (conda, activate.py).
_CONDA = f"""mark=$1
{_ASK}
export CONDA_PREFIX="$2" CONDA_SHLVL=1 PATH="$2/bin:$PATH"
for hook in "$2"/etc/conda/activate.d/*.sh; do [ ! -f "$hook" ] || . "$hook"; done >/dev/null 2>&1
{_ASK}
PATH="${{PATH%%"$2/bin:"*}}${{PATH#*"$2/bin:"}}"
hooks=()
for hook in "$2"/etc/conda/deactivate.d/*.sh; do hooks=("$hook" "${{hooks[@]}}"); done
for hook in "${{hooks[@]}}"; do [ ! -f "$hook" ] || . "$hook"; done >/dev/null 2>&1
{_ASK}
"""
_VENV = f"""mark=$1
{_ASK}
. "$2/bin/activate" >/dev/null 2>&1
{_ASK}
deactivate >/dev/null 2>&1
{_ASK}
"""


PROVABLE = frozenset({Kind.CONDA, Kind.VENV})  # the others are read by programs that gpuassist does not start


def prove_scope(world: World, scope: Scope, held: ScopeValues) -> Proof:
    """Asks bash, from an otherwise empty environment."""
    mark = f"gpuassist-{secrets.token_hex(8)}"
    script = _CONDA if scope.kind is Kind.CONDA else _VENV
    around = world.surroundings
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": around.home,
        "USER": around.user,
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
    }
    command = ("bash", "--noprofile", "--norc", "-c", script, "bash", mark, scope.place)
    outcome = world.processes.run(command, seconds=_SECONDS, environment=environment)
    parts = outcome.stdout.decode("utf-8", "surrogateescape").split(f"{mark}\0")[:-1]
    rows = ([row.split("=", 1) for row in part.split("\0") if "=" in row] for part in parts)
    states = [{name: value for name, value in found if name in _NAMES} for found in rows]
    if outcome.ending is not Ending.EXITED or len(states) != len(("before", "inside", "after")):
        reason = outcome.words or outcome.stderr.decode("utf-8", "replace").strip() or outcome.ending.value
        unknown = text("bash could not enter and leave {place}: {reason}", place=scope.place, reason=reason)
        return Proof(Unknown(unknown), unknown)
    before, inside, after = states
    for name, value in held.variables:
        if inside.get(name) != value:
            return _no(text("in the environment {name} is {value}", name=name, value=inside.get(name) or "''"))
    for name, directory in held.lists:
        if inside.get(name, "").split(":")[0] != directory:
            return _no(text("in the environment {directory} is not the first on {name}", directory=directory, name=name))
    left = next((name for name in _NAMES if before.get(name) != after.get(name)), "")
    if left:
        return _no(text("leaving the environment did not put {name} back: it is {value}", name=left, value=after.get(left) or "''"))
    if held == ScopeValues():
        words = text("bash enters the environment, and nothing is chosen there")
    else:
        chosen = listed((f"{name}={value}" for name, value in held.variables))
        words = text("bash finds {chosen} in the environment, and everything as before once it has left it", chosen=chosen)
    return Proof(Known(value=True, source="bash"), words)


def _no(words: Text) -> Proof:
    return Proof(Known(value=False, source="bash"), words)
