"""A repair as data: steps to show before anything is done, what came of each, and how it is taken back."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text


class StepKind(str, Enum):
    """What a step does, and who does it: edits and commands may be ours, root commands are the user's."""

    EDIT = "edit"
    COMMAND = "command"
    ROOT_COMMAND = "root-command"
    NEW_SHELL = "new-shell"
    REBOOT = "reboot"
    HARDWARE = "hardware"


class FileEdit(Struct, frozen=True):
    """The bytes that a file holds now and shall hold; `path` as the user names it, `target` after symlinks.

    `dialect` says which syntax it must keep (bash, zsh, fish, environment, json, env, text); `mode` is that of a new file, none for
    the usual one.
    """

    path: str
    target: str
    before: bytes
    after: bytes
    existed: bool
    dialect: str = "bash"
    mode: int | None = None


class Tool(str, Enum):
    """What changes an environment of packages."""

    PIP = "pip"
    UV = "uv"
    CONDA = "conda"
    DOCKER = "docker"


OPEN_MODULES = "open"


class Proves(str, Enum):
    """What shows that a step did what it should, whatever its programs said: asked of the machine anew."""

    TORCH = "torch"
    NVCC = "nvcc"
    NEW_TERMINAL = "new-terminal"
    DRIVER = "driver"
    ENVIRONMENT = "environment"
    ABSENT = "absent"
    FABRIC = "fabric"
    NEXT_START = "next-start"


class StepProof(Struct, frozen=True):
    """`place` is the interpreter (torch), the program (nvcc), the toolkit's root (new-terminal) or the directory (environment,
    absent); `wanted` the version: a torch build as `2.9.1+cu128`, a toolkit's or driver's release or branch, `595+` for that or a
    newer one; empty for any. For a driver `place` may be `OPEN_MODULES`, where no other flavour will do; for the next start
    `wanted` is the kernel that must have a module.
    """

    proves: Proves
    place: str = ""
    wanted: str = ""


class StepRun(Struct, frozen=True):
    """How gpuassist itself can take a step as the user: programs one after the other, each a list of words and no shell's line.

    `environment` is the prefix that they change, empty where they change none; `creates` a directory that they make, which the way
    back removes whole; `interpreter` the Python of that environment, for asking and freezing it.
    """

    programs: tuple[tuple[str, ...], ...]
    tool: Tool
    environment: str = ""
    interpreter: str = ""
    creates: str = ""


class Step(Struct, frozen=True):
    """One step, with its unified diff where it edits, and how to see that it worked.

    `run` is none where the user takes it (root, another system, a terminal); `proof` none where nothing of this machine shows it.
    """

    kind: StepKind
    text: Text
    commands: tuple[str, ...] = ()
    diff: str = ""
    check: Text | None = None
    needs_root: bool = False
    edit: FileEdit | None = None
    run: StepRun | None = None
    proof: StepProof | None = None


class Plan(Struct, frozen=True):
    """Steps in order; `notes` are what the user should know before, `id` names the change in markers and journal."""

    id: str
    goal: Text
    steps: tuple[Step, ...]
    notes: tuple[Text, ...] = ()


class Result(str, Enum):
    """What came of a step."""

    MODIFIED = "modified"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    FAILED = "failed"


class Outcome(Struct, frozen=True):
    """What came of applying one step, and why where it was refused or failed."""

    result: Result
    text: Text


class Receipt(Struct, frozen=True):
    """A change of one file that was made: enough to take it back byte for byte. Hashes are SHA-256 in hex; times ISO 8601.

    `group` is the id of the change that it belongs to, and stands in what was written; empty where it is `id` itself.
    `made_directories` were made for the file, the outermost first; `hash_undone` is what it held once the change was taken back.
    """

    id: str
    made_at: str
    goal: str
    path: str
    target: str
    existed: bool
    hash_before: str
    hash_after: str
    undone_at: str = ""
    group: str = ""
    dialect: str = "bash"
    made_directories: tuple[str, ...] = ()
    hash_undone: str = ""

    @property
    def change(self) -> str:
        """The id of the change that this file was changed by."""
        return self.group or self.id
