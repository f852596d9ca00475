"""Looks at as much of the machine as a change of start-up files needs."""

from __future__ import annotations

from gpuassist.context import Session
from gpuassist.detect import environments as environment_probe
from gpuassist.detect import pci, prefixes
from gpuassist.detect import shell as shell_probe
from gpuassist.detect import toolkits as toolkit_probe
from gpuassist.detect.prefixes import Prefix
from gpuassist.detect.runner import Running
from gpuassist.model.fact import Fact, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.system.clock import iso
from gpuassist.system.ownership import strangers_home

_Prefixes = Fact[tuple[Prefix, ...]]
_SCAN_SECONDS = 5.0


def look(session: Session) -> Machine:
    """Shell, toolkits, environments, GPUs; another user's start-up files are not run."""
    world = session.world
    # HOME is searched while the shell starts, which takes longer.
    scan: Running[_Prefixes] = Running("prefixes", lambda: prefixes.scan(world), seconds=_SCAN_SECONDS, otherwise=lambda why: why)
    shell = shell_probe.probe(world)
    return Machine(
        iso(world.clock.now()),
        gpus=pci.probe(world, session.knowledge),
        shell=shell,
        toolkits=toolkit_probe.probe(world, shell.new_terminal),
        environments=environment_probe.probe(world, shell.new_terminal, scan.result()),
    )


def look_at_gpus(session: Session) -> Machine:
    """As much of the machine as a choice of GPUs needs; no shell is started."""
    from gpuassist.detect import nvml  # NVML is asked here alone: a toolkit is chosen without it

    world = session.world
    on_pci = pci.probe(world, session.knowledge)
    reading = nvml.probe(world, on_pci)
    stranger = strangers_home(world)
    shell = shell_probe.around(world, Unknown(stranger or text("not looked at"), asked=stranger is not None))
    return Machine(iso(world.clock.now()), gpus=nvml.merge(on_pci, reading, session.knowledge), shell=shell)
