"""A repair as data: steps to show before anything is done, what came of each, and how it is taken back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpuassist.model.text import Text


class StepKind(str, Enum):
    """What a step does, and who does it: edits and commands may be ours, root commands are the user's."""

    EDIT = "edit"
    COMMAND = "command"
    ROOT_COMMAND = "root-command"
    NEW_SHELL = "new-shell"
    REBOOT = "reboot"
    HARDWARE = "hardware"


@dataclass(frozen=True, slots=True)
class FileEdit:
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


@dataclass(frozen=True, slots=True)
class Step:
    """One step, with its unified diff where it edits, and how to see that it worked."""

    kind: StepKind
    text: Text
    commands: tuple[str, ...] = ()
    diff: str = ""
    check: Text | None = None
    needs_root: bool = False
    edit: FileEdit | None = None


@dataclass(frozen=True, slots=True)
class Plan:
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of applying one step, and why where it was refused or failed."""

    result: Result
    text: Text


@dataclass(frozen=True, slots=True)
class Receipt:
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
