"""The compatibility chain as a picture: GPU, driver, torch, toolkit and host compiler, and whether each pair fits."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text


class Status(str, Enum):
    """Whether a part or a pair is right; `absent` is a part that is not there and is not needed."""

    RIGHT = "right"
    WARNING = "warning"
    PROBLEM = "problem"
    UNKNOWN = "unknown"
    ABSENT = "absent"


class Part(str, Enum):
    """The five parts, in the order they are drawn."""

    GPU = "gpu"
    DRIVER = "driver"
    TORCH = "torch"
    TOOLKIT = "toolkit"
    COMPILER = "compiler"


class Node(Struct, frozen=True):
    """A box: what kind of part, its name (`RTX 4090`), and one line below (`Ada Lovelace, 8.9`)."""

    part: Part
    name: Text
    detail: Text
    status: Status


class Joint(Struct, frozen=True):
    """Whether two parts fit; neighbours are drawn as a line, others as an arc with the reason on it."""

    first: Part
    second: Part
    status: Status
    reason: Text


class Chain(Struct, frozen=True):
    """The chain of one GPU, with as many nodes as there are parts; `gpu` is its number, or what tells it from the others."""

    nodes: tuple[Node, ...]
    joints: tuple[Joint, ...]
    gpu: str = ""
