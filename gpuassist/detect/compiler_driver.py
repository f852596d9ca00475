"""Asking an nvcc: its version, the architectures that it lists, and the toolkit that a program of that name really belongs to."""

from __future__ import annotations

import os

from gpuassist.formats.toolkit import parse_directory, parse_targets, parse_version
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, text
from gpuassist.model.version import Target, Version
from gpuassist.system.ownership import why_not_run
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.world import World

SECONDS = 5.0

# NVCC_PREPEND_FLAGS and its like would change what nvcc says: it gets an environment of its own.
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}


def locate(world: World, path: str) -> str:
    """The real nvcc that runs when `path` is called: past symlinks and past wrapper programs; `path`'s own where none answers."""
    real = world.files.real(path)
    if world.files.head(real, 2) != b"#!" or why_not_run(world, (path,)) is not None:
        return real
    # A wrapper can do anything before it calls nvcc, but the nvcc that runs in the end says where it lies.
    outcome = _run(world, path, "-dryrun", "-x", "cu", "-c", "/dev/null", "-o", "/dev/null")
    directory = parse_directory(outcome.stderr.decode("utf-8", "replace")) or parse_directory(outcome.text)
    return world.files.real(f"{directory}/nvcc") if directory else real


def ask_version(world: World, nvcc: str) -> Fact[Version]:
    refused = why_not_run(world, (nvcc,))
    if refused is not None:
        return Unknown(refused)
    outcome = _run(world, nvcc, "--version")
    found = parse_version(outcome.text)
    return Known(found, f"{nvcc} --version") if found is not None else Unknown(_why(world, nvcc, outcome))


def ask_targets(world: World, nvcc: str) -> Fact[tuple[Target, ...]]:
    """The architectures that this nvcc can compile for."""
    refused = why_not_run(world, (nvcc,))
    if refused is not None:
        return Unknown(refused)
    outcome = _run(world, nvcc, "--list-gpu-arch")
    found = parse_targets(outcome.text) if outcome.succeeded else ()
    if found:
        return Known(found, f"{nvcc} --list-gpu-arch")
    if outcome.ending is Ending.EXITED and "list-gpu-arch" in outcome.stderr.decode("utf-8", "replace"):
        return Unknown(text("{nvcc} is older than CUDA 11.0 and cannot list its architectures", nvcc=nvcc))
    return Unknown(_why(world, nvcc, outcome))


def _run(world: World, nvcc: str, *arguments: str) -> ProcessResult:
    return world.processes.run((nvcc, *arguments), seconds=SECONDS, environment=_ENVIRONMENT)


def _why(world: World, nvcc: str, outcome: ProcessResult) -> Text:
    if outcome.ending is Ending.TIMED_OUT:
        return text("{nvcc} did not answer within {seconds:.0f} s", nvcc=nvcc, seconds=SECONDS)
    if outcome.ending in (Ending.NOT_FOUND, Ending.NOT_STARTED) and not world.files.may(nvcc, os.X_OK):
        return text("{nvcc} is not executable", nvcc=nvcc)
    if outcome.ending in (Ending.NOT_FOUND, Ending.NOT_STARTED):
        return text("{nvcc} could not be started: {words}", nvcc=nvcc, words=outcome.words)
    if outcome.ending is Ending.KILLED:
        return text("{nvcc} was killed by signal {number}", nvcc=nvcc, number=outcome.status)
    told = (outcome.stdout or outcome.stderr).decode("utf-8", "replace").strip()
    if not told:
        return text("{nvcc} said nothing (exit status {status})", nvcc=nvcc, status=outcome.status)
    return text("{nvcc} did not answer as nvcc does; it said: {words}", nvcc=nvcc, words=told.splitlines()[0][:200])
