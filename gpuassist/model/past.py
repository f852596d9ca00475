"""What a machine was, and what was done to it since: entries of package logs, and the changes that these and two snapshots tell."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.machine import Machine
from gpuassist.model.text import Text

OURSELVES = "gpuassist"
"""As `by`, where gpuassist did it."""
RECORDING = "recording"
"""As `by`, where a recorded machine was compared with."""


class PackageAction(str, Enum):
    """What became of a package."""

    INSTALLED = "installed"
    UPGRADED = "upgraded"
    DOWNGRADED = "downgraded"
    REINSTALLED = "reinstalled"
    REMOVED = "removed"


class PackageEvent(Struct, frozen=True):
    """One entry of a package log.

    `at` is ISO 8601 with an offset where the log or the machine's time zone gives one; `before` and `after` are the package
    manager's own versions, empty where there was or is none, or where the log leaves it out. `by` is what did it as the log says
    (`unattended-upgrade`, `apt install nvidia-driver-580`, `pip`), `user` who asked for it; both empty where it does not say.
    `environment` is the prefix of a Python or conda environment, empty for packages of the system. `source` is the file, with
    its line where it has lines.
    """

    at: str
    action: PackageAction
    package: str
    before: str
    after: str
    source: str
    by: str = ""
    user: str = ""
    environment: str = ""


class PackageHistory(Struct, frozen=True):
    """The entries of every log that was read, oldest first. `covers` is the moment from which on all logs of the system's packages
    speak (empty where there is none), `unread` why a log, or a part of it, was not read.
    """

    events: tuple[PackageEvent, ...] = ()
    covers: str = ""
    unread: tuple[Text, ...] = ()


class StartupLine(Struct, frozen=True):
    """A line of a start-up file that has to do with CUDA, Python environments or where programs are looked for."""

    number: int
    text: str


class KeptStartupFile(Struct, frozen=True):
    """A start-up file as it stood: `digest` (SHA-256 in hex) of all its bytes, empty where it could not be read, and of its
    lines those alone that matter here: a start-up file may hold keys, which nobody's copy should.
    """

    path: str
    digest: str
    lines: tuple[StartupLine, ...]


class KeptMachine(Struct, frozen=True):
    """A machine as it was while it worked; `identity` names the machine (of its id, not the id itself), `by` what kept it
    (`doctor`, `verify`), `boot` is the id of that boot. `at` is when it was last seen so, `first` when it was first: what
    changes with every look (memory used, processes) is left out, and nothing else was seen to change between the two.
    """

    at: str
    identity: str
    by: str
    machine: Machine
    startup: tuple[KeptStartupFile, ...] = ()
    boot: str = ""
    first: str = ""


class Subject(str, Enum):
    """What changed, what GPU work depends on most first."""

    COMPUTER = "computer"  # the disk is in another machine
    GPU = "gpu"
    DRIVER = "driver"
    KERNEL = "kernel"
    SECURE_BOOT = "secure-boot"
    TORCH = "torch"
    PYTHON_PACKAGE = "python-package"
    ENVIRONMENT = "environment"
    STARTUP_FILE = "startup-file"
    VARIABLE = "variable"
    TOOLKIT = "toolkit"
    LIBRARY = "library"
    COMPILER = "compiler"
    DISTRIBUTION = "distribution"
    SYSTEM_PACKAGE = "system-package"
    SETTING = "setting"


class Direction(str, Enum):
    """How it changed."""

    ADDED = "added"
    REMOVED = "removed"
    UPGRADED = "upgraded"
    DOWNGRADED = "downgraded"
    REINSTALLED = "reinstalled"
    CHANGED = "changed"


class MachineChange(Struct, frozen=True):
    """One change of the machine.

    `name` is what changed (`driver`, `torch`, `/home/you/.bashrc`, a package), `before` and `after` as they are shown, empty
    where there was or is nothing. `place` is the environment, or the file and its line. `at` is when, as ISO 8601; where only
    two looks at the machine tell, it is empty and the change lies between `earliest` and `latest`. `by` and `user` as in a
    `PackageEvent`; `gpuassist` where it was our own, and `undo` then the command line that takes it back. `sources` are all that
    tell of it, `packages` what came or went with it. `waits`: what runs is still what was there before, until the computer is
    restarted.
    """

    subject: Subject
    direction: Direction
    name: str
    before: str = ""
    after: str = ""
    place: str = ""
    at: str = ""
    earliest: str = ""
    latest: str = ""
    by: str = ""
    user: str = ""
    sources: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    waits: bool = False
    undo: str = ""


class Past(Struct, frozen=True):
    """What changed on a machine, what matters most first. `since` is the moment that was compared with, `kept` whether a kept
    machine stands for it (else the logs alone tell) and `by` what kept it, `notes` what could not be read or compared, and what
    is odd about the clock. Where nothing differs from the newest kept machine, `unchanged_since` is its moment, and `since` that
    of the newest one that is otherwise. `covers` is where the package logs begin, empty where none could be read. `beside` are
    changes of packages that are seldom the cause of anything here (`diagnose/past/order.is_beside`): they are counted.
    """

    since: str
    kept: bool
    changes: tuple[MachineChange, ...]
    notes: tuple[Text, ...] = ()
    by: str = ""
    unchanged_since: str = ""
    covers: str = ""
    beside: tuple[MachineChange, ...] = ()
