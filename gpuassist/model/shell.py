"""The user's shell: its start-up files, and what a new terminal finds."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact


class Variable(Struct, frozen=True):
    """An environment variable that matters here, with its value as it stands; one that is not set is not listed."""

    name: str
    value: str


class Command(Struct, frozen=True):
    """A program that PATH finds: the path it is found at, and the file that this really is after symlinks; both are empty where
    a text says that there is none.
    """

    name: str
    path: str
    real_path: str


class ShadowKind(str, Enum):
    """What a shell runs instead of the program that PATH finds."""

    ALIAS = "alias"
    FUNCTION = "function"
    HASH = "hash"  # a path that the shell was told to remember (`hash -p`)


class Shadow(Struct, frozen=True):
    """A command's name that means something else when it is typed: `text` is the alias, the function or the remembered path."""

    name: str
    kind: ShadowKind
    text: str


class Terminal(Struct, frozen=True):
    """What an interactive shell holds once its start-up files have run. `shell` is empty where a pasted text told a part of it:
    what is not listed is then not known. `commands` are what PATH finds; what stands in front of that is among `shadows`.
    """

    shell: str
    variables: tuple[Variable, ...]
    commands: tuple[Command, ...]
    shadows: tuple[Shadow, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether what is not listed is not there."""
        return bool(self.shell)

    def variable(self, name: str) -> str:
        """Its value; empty where it is not set."""
        return next((variable.value for variable in self.variables if variable.name == name), "")

    def is_set(self, name: str) -> bool:
        """Whether the variable is there at all, empty or not."""
        return any(variable.name == name for variable in self.variables)

    def command(self, name: str) -> Command | None:
        """The program of that name, or none where PATH finds none."""
        return next((command for command in self.commands if command.name == name and command.path), None)

    def shadow(self, name: str) -> Shadow | None:
        """What runs instead of the program when that name is typed; none where the program does."""
        return next((shadow for shadow in self.shadows if shadow.name == name), None)

    def lacks(self, name: str) -> bool:
        """Whether it is known that PATH finds no program of that name."""
        told = any(command.name == name and not command.path for command in self.commands)
        return told or (self.whole and self.command(name) is None)


class StartupFile(Struct, frozen=True):
    """A file that the login shell may read; `content` is only in a recording that was made to show a repair."""

    path: str
    exists: bool
    content: Fact[str] = NOT_ASKED


class Shell(Struct, frozen=True):
    """`new_terminal` is what rules judge (design: a new terminal); `own` is what gpuassist itself was started with.

    `directories_missing` are elements of the new terminal's PATH and LD_LIBRARY_PATH that do not exist.
    """

    login_shell: Fact[str] = NOT_ASKED
    startup_files: Fact[tuple[StartupFile, ...]] = NOT_ASKED
    new_terminal: Fact[Terminal] = NOT_ASKED
    own: Fact[Terminal] = NOT_ASKED
    directories_missing: Fact[tuple[str, ...]] = NOT_ASKED
