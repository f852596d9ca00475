"""What the readers make of a text that is written down in a test."""

from __future__ import annotations

from textwrap import dedent

from gpuassist.detect.readers import read_all
from gpuassist.formats.paste import read_paste
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import Torch
from gpuassist.model.fact import value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.system.resources import Resources
from tests.facts import value

KNOWLEDGE = Knowledge(Resources().read)
MIB = 1 << 20


def paste(words: str) -> Paste:
    """A text without the indentation that it has in a test."""
    return read_paste(dedent(words).strip("\n"))


def machine(words: str) -> Machine:
    """Everything that is read in it."""
    return read_all(paste(words), KNOWLEDGE)


def gpus(words: str) -> tuple[Gpu, ...]:
    """The GPUs that are read in it; fails where it names none."""
    return value(machine(words).gpus)


def names(words: str) -> list[str]:
    """The names of its GPUs, none where it names none."""
    return [value_or(gpu.name, "?") for gpu in value_or(machine(words).gpus, ())]


def driver(words: str) -> str:
    """The version of the driver that it names, empty where it names none."""
    return str(value_or(machine(words).driver.version, ""))


def torches(words: str) -> tuple[Torch, ...]:
    """The torch installs of the first environment that is read in it."""
    return value(value(machine(words).environments)[0].torch)
