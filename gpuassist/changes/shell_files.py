"""The start-up files that a repair looks at: the one that gets the managed block, and the user's others that are read beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.target import FileTarget, examine
from gpuassist.detect.startup.chain import ChainFile, Stage, dialect_of, sources, startup_chain
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit
from gpuassist.model.shell import StartupFile
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.block import Block, RepairError, Sections, find, read_sections
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.statements import Reading
from gpuassist.system.shell_questions import PLAIN
from gpuassist.system.shell_trace import trace_startup
from gpuassist.system.terminal import usable_shell
from gpuassist.system.world import World

# Directories whose files are a tool's, read in by the user's: what is changed there is gone with its next update.
_TOOLS = frozenset(
    (
        *("nvm", "pyenv", "rbenv", "nodenv", "asdf", "sdkman", "cargo", "rustup", "bun", "deno", "fzf", "linuxbrew", "nix-profile"),
        *("oh-my-zsh", "oh-my-bash", "zinit", "zplug", "antigen", "zgen", "zim", "prezto", "bash_it", "bash-it", "fisher"),
        *("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", "miniconda", "anaconda", "site-packages", "venv"),
    )
)


_OWN = frozenset({"custom"})  # oh-my-zsh's and oh-my-bash's directory for the user's own files


class ShellFile(Struct, frozen=True):
    """A start-up file as it was read; `obstacle` says why it may not be changed, `block` is the managed one that stands in it, and
    `later` whether a new terminal reads it after the one that the block is written in; `of_terminal` and `of_login` say whether an
    interactive shell reads it that no login came before, and a login shell. `hands_over` are the files that it reads in and that
    may end the shell, or put another program in its place.
    """

    target: FileTarget
    dialect: Dialect
    reading: Reading
    block: Block | None = None
    obstacle: Text | None = None
    later: bool = False
    of_terminal: bool = True
    of_login: bool = False
    hands_over: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        return self.target.path

    @property
    def content(self) -> bytes:
        return self.target.content

    def edit(self, after: bytes) -> FileEdit:
        return self.target.edit(after, self.dialect.value)

    @property
    def sections(self) -> Sections:
        return read_sections(self.block.lines) if self.block is not None else Sections()


class ShellFiles(Struct, frozen=True):
    """The file for the block, the others that hold something of interest, in the order in which a new terminal reads them, and all
    that it reads.
    """

    main: ShellFile
    others: tuple[ShellFile, ...]
    chain: tuple[ChainFile, ...] = ()


def shell_files(world: World, rc: str = "", *, answering: str = "") -> ShellFiles:
    """The start-up files of this user; raises `RepairError` where the markers in the main one do not pair up.

    `answering` is the shell that answers in a new terminal, where the login shell hands over to it: its files are read after those.
    """
    chain = startup_chain(world)
    login, shell = usable_shell(world), answering or usable_shell(world)
    if PurePosixPath(shell).name in {PurePosixPath(login).name, *_OTHERS}:
        shell = login
    path = rc or _main_path(world, chain)
    waiting, asked = [shell, *_handed_over(chain)], {PurePosixPath(login).name}
    while waiting:
        other = waiting.pop(0)
        if PurePosixPath(other).name in asked:
            continue
        asked.add(PurePosixPath(other).name)
        handed = replace(world, surroundings=replace(world.surroundings, login_shell=other))
        read = {file.path for file in chain}
        after = startup_chain(handed)
        path = rc or _main_path(handed, after) if other == shell else path
        chain = (*chain, *(file for file in after if file.path not in read))
        waiting += _handed_over(after)
    if any(ord(sign) < ord(" ") for sign in path):
        raise RepairError(
            text(
                "{path} is what your shell would read: the name holds a control character. Mostly a start-up file has Windows line "
                "ends; `sed -i 's/\\r$//' FILE` mends them",
                path=path,
            )
        )
    target = examine(world, path)
    dialect, block = dialect_of(path, _spoken(shell)), find(target.content)
    known = next((file for file in chain if file.path == path and file.dialect is dialect and file.content == target.content), None)
    if known is not None:  # read in its place, with what the files before it have set
        main = ShellFile(target, dialect, known.reading, block, target.obstacle)
    else:
        main = _read(target, dialect, world.surroundings.home, block)
    main = replace(main, hands_over=_handing_over(chain, main.path))
    return ShellFiles(main, (*_others(world, main, chain), *_session_files(world)), chain)


# What answers may be no shell that has files of its own, or busybox, which has none that a repair is for.
_OTHERS = PLAIN | {"", "busybox"}


def _handing_over(chain: tuple[ChainFile, ...], reader: str) -> frozenset[str]:
    """The files read in by this one that may end the shell, or that read in such a file; `return` ends themselves alone."""
    return frozenset(
        file.path
        for file in chain
        if file.sourced_by is not None
        and file.sourced_by[0] == reader
        and (any(one.command.startswith(("exec", "exit")) for one in file.reading.endings) or _handing_over(chain, file.path))
    )


def _handed_over(chain: tuple[ChainFile, ...]) -> Iterator[str]:
    """Shells that a start-up file puts in its own place, as a login shell if in no new terminal."""
    commands = (ending.command for file in chain for ending in file.reading.endings if ending.command.startswith("exec"))
    for command in commands:
        yield from (f"/usr/bin/{name}" for name in ("zsh", "fish") if name in command)


def _session_files(world: World) -> Iterator[ShellFile]:
    """The user's environment.d, which the desktop's programs are started with."""
    around = world.surroundings
    for path in world.files.glob(f"{around.configuration()}/environment.d/*.conf"):
        target = examine(world, path)
        reading = read_startup(target.content, Dialect.ENVIRONMENT_D, {"HOME": around.home})
        try:
            block = find(target.content)
            yield ShellFile(target, Dialect.ENVIRONMENT_D, reading, block, target.obstacle, of_terminal=False)
        except RepairError as error:
            yield ShellFile(target, Dialect.ENVIRONMENT_D, reading, obstacle=error.reason)


def with_traced(world: World, files: ShellFiles) -> ShellFiles:
    """With the files of the user's that a shell reads in by ways that only it knows (`for f in …; do . "$f"; done`), as its own
    trace tells; as they are where every file is named plainly.
    """
    unknown = any(not source.path.startswith("/") for file in files.chain for source in file.reading.sources)
    if not unknown or not world.files.live:
        return files
    trace = trace_startup(world, ("PATH",))
    if isinstance(trace, Unknown):
        return files
    seen = {world.files.real(file.path) for file in files.chain} | {files.main.target.path_written}
    paths = dict.fromkeys(path for path, _ in trace.value.taken if path.startswith(world.surroundings.home.rstrip("/") + "/"))
    more: list[ShellFile] = []
    for path in paths:
        if world.files.real(path) in seen or not world.files.is_file(path):
            continue
        seen.add(world.files.real(path))
        target = examine(world, path)
        reading = read_startup(target.content, files.main.dialect, {"HOME": world.surroundings.home})
        if reading.statements or b"cuda" in target.content.lower():
            of_login = any(file.stage is Stage.LOGIN for file in files.chain if not file.sourced_by)
            read = _read(target, files.main.dialect, world.surroundings.home, None)
            more.append(replace(_guarded(world, read), of_login=of_login))
    return replace(files, others=(*files.others, *more))


def login_file(files: ShellFiles) -> str:
    """The file that bash reads as a login shell and that does not read the main one in; empty where there is none."""
    main = files.main.path
    reader = next((file for file in files.chain if file.stage is Stage.LOGIN and not file.sourced_by and not file.unread), None)
    if reader is None or files.main.dialect is not Dialect.BASH or PurePosixPath(main).name != ".bashrc":
        return ""
    return "" if sources(files.chain, reader.path, main) else reader.path


def recorded_file(machine: Machine, rc: str) -> tuple[ShellFile, str]:
    """The main file as a recording holds it, and whose home it lies in."""
    shell = value_or(machine.shell.login_shell, "")
    files = value_or(machine.shell.startup_files, ())
    name = {"zsh": "/.zshrc", "fish": "/config.fish"}.get(PurePosixPath(shell).name, "/.bashrc")
    path = rc or next((file.path for file in files if file.path.endswith(name)), f"~{name}")
    home = str(PurePosixPath(path).parent)
    file = next((file for file in files if file.path == path), StartupFile(path, exists=False))
    recorded_target = file.path
    if isinstance(file.content, Known):
        target = FileTarget(recorded_target, recorded_target, file.content.value.encode("utf-8", "surrogateescape"), exists=True)
    else:
        note = text(
            "the recording does not hold the text of {path}: the preview shows only what would be added", path=recorded_target
        )
        target = FileTarget(recorded_target, recorded_target, exists=file.exists, notes=(note,))
    return _read(target, dialect_of(path, _spoken(shell)), home, find(target.content)), home


def _main_path(world: World, chain: tuple[ChainFile, ...]) -> str:
    """The file that the shell reads in every terminal, last of all: fish reads config.fish after the files of conf.d."""
    around = world.surroundings
    shell = _spoken(usable_shell(world))
    if shell is Dialect.FISH:
        return f"{around.configuration()}/fish/config.fish"
    if PurePosixPath(usable_shell(world)).name in PLAIN:
        named = [file.path for file in chain if file.stage is Stage.TERMINAL and not file.sourced_by]
        return named[0] if named else f"{around.home}/.profile"
    name = ".zshrc" if shell is Dialect.ZSH else ".bashrc"
    own = (file for file in chain if file.stage is Stage.TERMINAL and not file.sourced_by and not file.unread)
    return next((file.path for file in own if PurePosixPath(file.path).name == name), f"{around.home}/{name}")


def _spoken(shell: str) -> Dialect:
    return {"zsh": Dialect.ZSH, "fish": Dialect.FISH}.get(PurePosixPath(shell).name, Dialect.BASH)


def _others(world: World, main: ShellFile, chain: tuple[ChainFile, ...]) -> Iterator[ShellFile]:
    seen = {main.target.path_written}
    for file in chain:
        real = world.files.real(file.path)
        of_interest = file.reading.statements or file.stage is Stage.LOGIN
        if file.exists and file.unread is None and real not in seen and of_interest:
            seen.add(real)
            # Whether a file reads the other one, too: the chain names a file once, by the first that does.
            of_terminal = (
                file.stage in _OF_TERMINALS or PurePosixPath(file.path).name == ".zshenv" or sources(chain, main.path, file.path)
            )
            handed_over = file.dialect.value != PurePosixPath(usable_shell(world)).name
            of_login = file.stage in {Stage.LOGIN, Stage.SYSTEM_LOGIN} or file.path.endswith("env") or handed_over
            target = examine(world, file.path)
            changed = target.content != file.content and target.obstacle is None
            obstacle = text("{path} is being changed by someone else just now", path=file.path) if changed else target.obstacle
            yield replace(
                _guarded(world, ShellFile(target, file.dialect, file.reading, obstacle=obstacle)),
                later=_is_later(file, main, chain),
                of_terminal=of_terminal,
                of_login=of_login,
                hands_over=_handing_over(chain, file.path),
            )


_OF_TERMINALS = frozenset({Stage.SYSTEM_TERMINAL, Stage.TERMINAL})


def _is_later(file: ChainFile, main: ShellFile, chain: tuple[ChainFile, ...]) -> bool:
    order = [one.path for one in chain]
    if main.path not in order:
        # Files of fish's conf.d are read by name, and config.fish after them.
        return file.path.rpartition("/")[0] != main.path.rpartition("/")[0] or file.path > main.path
    # What a line of the main file reads in comes before the block, which stands below all of its lines.
    above = {one.path: one.sourced_by[0] for one in chain if one.sourced_by is not None}
    path, steps = file.path, len(chain)
    while path in above and path != main.path and steps:
        path, steps = above[path], steps - 1
    return order.index(file.path) > order.index(main.path) and path != main.path


def _guarded(world: World, file: ShellFile) -> ShellFile:
    """With its block, and with the reason where it is a tool's, or its markers do not pair up."""
    parts = PurePosixPath(world.files.real(file.path)).parts
    tool = next((part for part in parts if part.lstrip(".") in _TOOLS), "")
    if tool and not _OWN.intersection(parts) and file.obstacle is None:
        words = text("{path} belongs to {tool}, which writes it anew when it is updated", path=file.path, tool=tool.lstrip("."))
        return replace(file, obstacle=words)
    try:
        return replace(file, block=find(file.content))
    except RepairError as error:
        return replace(file, obstacle=error.reason)


def _read(target: FileTarget, dialect: Dialect, home: str, block: Block | None) -> ShellFile:
    reading = read_startup(target.content, dialect, {"HOME": home})
    return ShellFile(target, dialect, reading, block, target.obstacle)
