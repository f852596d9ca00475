"""The answer for a project's own files: which links hold, what to change in them, and what the machine lacks."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.plan import Step
from gpuassist.model.text import Text


class CheckId(str, Enum):
    """The links from a project to the machine."""

    PYTHON = "python"
    DRIVER = "driver"
    TORCH_BUILD = "torch-build"
    ARCHITECTURE = "architecture"
    CUDA = "cuda"
    TOOLKIT = "toolkit"
    COMPILER = "compiler"
    EXTENSION = "extension"
    IMAGE = "image"
    ENGINE = "engine"


class LinkState(str, Enum):
    """Whether a link holds; unknown where something that could decide it is not known."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class ProjectCheck(Struct, frozen=True):
    """One link; `file` counts from the project's directory and is empty where no file asks for it, `line` is 0 then."""

    id: CheckId
    state: LinkState
    text: Text
    file: str = ""
    line: int = 0


class ProjectChange(Struct, frozen=True):
    """A file of the project with other words in it; `may_break` is what to look at afterwards."""

    file: str
    before: bytes
    after: bytes
    diff: str
    text: Text
    may_break: tuple[Text, ...] = ()


class ProjectOutlook(Struct, frozen=True):
    """`directory` as the user named it; `fits` is none where it cannot be told. `steps` are what the machine lacks, and what other
    tools have to do after the changes; `read` are the files that were looked at.
    """

    directory: str
    fits: bool | None
    checks: tuple[ProjectCheck, ...] = ()
    changes: tuple[ProjectChange, ...] = ()
    steps: tuple[Step, ...] = ()
    notes: tuple[Text, ...] = ()
    read: tuple[str, ...] = ()
