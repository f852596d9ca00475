"""A fresh process that reads, plans for and compares a start-up file of 2,000 lines, and prints what each took, in milliseconds."""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.context import Session
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell, StartupFile
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.system.surroundings import Surroundings

LINES = 2000
_RUNS = 12
_CASES = Path(__file__).parent.parent / "tests" / "cases" / "shell"
_PROJECT = """alias go{number}='cd ~/work/project{number} && git status'
make_project{number}() {{
    local name="${{1:-project{number}}}"
    if [ -d "$HOME/work/$name" ]; then
        echo "$name exists" >&2
        return 1
    fi
    mkdir -p "$HOME/work/$name/src" && cd "$HOME/work/$name" || return
    cat > README.md <<EOF
# $name
made on $(date)
EOF
    for part in src tests docs; do
        mkdir -p "$part"
    done
}}
# where project {number} keeps its data
export PROJECT_{number}_ROOT="$HOME/work/project{number}"
"""


def main() -> None:
    """The file is what people have (conda, nvm, guards, functions, modules), filled up with their aliases and functions."""
    content = _start_up_file()
    with tempfile.TemporaryDirectory() as home:
        Path(home, ".bashrc").write_bytes(content)
        session, machine = _session(home), _machine(home)
        wish = UseCuda("12.4")
        reading = _fastest(lambda: read_startup(content, Dialect.BASH, {"HOME": home}))
        planning = _fastest(lambda: plan_use_cuda(session.world, machine, wish))
        plan = plan_use_cuda(session.world, machine, wish)
    sys.stdout.write(json.dumps({"lines": content.count(b"\n"), "reading": reading, "planning": planning, **_of(plan)}))


def _of(plan: ChangePlan) -> dict[str, int]:
    return {"seen": len(plan.lines), "changed": plan.diff.count("\n")}


def _start_up_file() -> bytes:
    content = b"".join(path.read_bytes() for path in sorted(_CASES.glob("*.bashrc")))
    number = 0
    while content.count(b"\n") < LINES:
        number += 1
        content += _PROJECT.format(number=number).encode()
    return content


def _session(home: str) -> Session:
    session = compose("en")
    around = Surroundings(home, "you", os.geteuid(), {"PATH": "/usr/bin:/bin", "HOME": home}, home, "/bin/bash")
    return replace(session, world=replace(session.world, surroundings=around))


def _machine(home: str) -> Machine:
    for version in ("11.7", "12.1", "12.4"):
        nvcc = Path(home, f"cuda-{version}", "bin", "nvcc")
        nvcc.parent.mkdir(parents=True)
        nvcc.write_text("#!/bin/sh\n")
        nvcc.chmod(0o755)
    toolkits = tuple(
        Toolkit(f"{home}/cuda-{version}", version=Known(Version.parse(version), "made up")) for version in ("11.7", "12.1", "12.4")
    )
    files = (StartupFile(f"{home}/.bashrc", exists=True),)
    return Machine("2026-11-21T09:00:00Z", shell=Shell(startup_files=Known(files, "made up")), toolkits=Known(toolkits, "made up"))


def _fastest(act: Callable[[], object]) -> float:
    """The shortest of several times, of processor time with that of `bash -n`: what it takes when nobody else wants the machine."""
    times = []
    for _ in range(_RUNS):
        began = _processor_seconds()
        act()
        times.append(_processor_seconds() - began)
    return min(times) * 1000


def _processor_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
