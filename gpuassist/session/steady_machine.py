"""A machine without what is of the moment, or of whoever looks: two looks at one that nobody changed come to the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell, Terminal

# What is of the moment. A GPU whose speed is held back, or that has to be reset, is no other GPU.
_OF_THE_MOMENT = ("memory_used_bytes", "processes", "power_state", "display_active", "slowdowns", "recovery")
_OF_THE_SESSION = ("/run/user/", "/tmp/")  # directories that tools put on PATH for one terminal, under another name each time
_SECRET = lazy_regex(r"(?i)(\w*(?:KEY|TOKEN|SECRET|PASS)\w*\s*[= ]\s*)('[^']*'|\"[^\"]*\"|[^\s;&|]+)")


def steady(machine: Machine) -> Machine:
    """The machine without what changes from one look to the next."""
    gpus = machine.gpus
    if isinstance(gpus, Known):
        gpus = replace(gpus, value=tuple(map(_steady_gpu, gpus.value)))
    environments = machine.environments
    if isinstance(environments, Known):  # which is active, the terminal decides that gpuassist was started in
        environments = replace(environments, value=tuple(replace(one, active=NOT_ASKED) for one in environments.value))
    return replace(
        machine,
        taken_at="",
        note="",
        host=replace(machine.host, slept=NOT_ASKED),
        gpus=gpus,
        environments=environments,
        shell=_steady_shell(machine.shell),
        holders=NOT_ASKED,
    )


def _steady_gpu(gpu: Gpu) -> Gpu:
    link = gpu.pcie_link
    if isinstance(link, Known):  # its speed falls while the GPU has nothing to do, its width does not
        link = replace(link, value=replace(link.value, speed_gigatransfers=link.value.max_speed_gigatransfers))
    return replace(gpu, pcie_link=link, **dict.fromkeys(_OF_THE_MOMENT, NOT_ASKED))


def _steady_shell(shell: Shell) -> Shell:
    terminal, missing = shell.new_terminal, shell.directories_missing
    if isinstance(terminal, Known):
        terminal = replace(terminal, value=_steady_terminal(terminal.value))
    if isinstance(missing, Known):
        missing = replace(missing, value=tuple(_lasting(missing.value)))
    files = shell.startup_files
    if isinstance(files, Known):
        files = replace(files, value=tuple(replace(one, content=NOT_ASKED) for one in files.value))
    return replace(shell, startup_files=files, new_terminal=terminal, own=NOT_ASKED, directories_missing=missing)


def _steady_terminal(terminal: Terminal) -> Terminal:
    variables = (
        replace(one, value=":".join(_lasting(one.value.split(":"))))
        if any(place in one.value for place in _OF_THE_SESSION)
        else one
        for one in terminal.variables
    )
    shadows = (replace(one, text=_SECRET.sub(r"\1…", one.text)) for one in terminal.shadows)
    return replace(terminal, variables=tuple(variables), shadows=tuple(shadows))


def _lasting(directories: Sequence[str]) -> Iterator[str]:
    return (one for one in directories if not one.startswith(_OF_THE_SESSION))
