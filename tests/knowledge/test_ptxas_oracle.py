"""The rule for PTX, held against NVIDIA's own assembler: every target that it knows, for every GPU that it knows."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from gpuassist.knowledge.compatibility import ptx_runs
from gpuassist.knowledge.records import ToolkitRecord
from gpuassist.model.version import Code, ComputeCapability, Target
from tests.knowledge.shipped import KNOWLEDGE, capability, version

PTX = ".version {isa}\n.target sm_{target}\n.address_size 64\n.visible .entry kernel() {{ ret; }}\n"
RENAMED = capability("10.1")  # 12.x orders Thor before 10.3, by a number that it has no more
ISA = {"13.0": "9.0", "13.1": "9.1", "13.2": "9.2", "13.3": "9.3", "13.4": "9.4", "13.5": "9.5", "12.9": "8.8", "12.8": "8.7"}


def installed() -> tuple[str, ToolkitRecord]:
    ptxas = shutil.which("ptxas")
    assert ptxas is not None
    said = subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=False).stdout
    release = said.partition("release ")[2].partition(",")[0]
    toolkit = KNOWLEDGE.toolkit(version(release))
    if release not in ISA or toolkit is None:
        pytest.skip(f"NOT RUN: ptxas of CUDA {release} is not one whose PTX version is known here")
    return ptxas, toolkit


def assembled(ptxas: str, file: Path, target: Target, devices: Iterable[ComputeCapability]) -> set[ComputeCapability]:
    """The GPUs that the assembler makes machine code of a file for; of an `a` target it makes only code that is `a` too."""
    suffix = "a" if target.suffix == "a" else ""
    command = (ptxas, str(file), "-o", "/dev/null", "--gpu-name")
    names = {device: str(Target(device, Code.CUBIN, suffix)) for device in devices}
    return {
        device
        for device, name in names.items()
        if subprocess.run([*command, name], capture_output=True, check=False).returncode == 0
    }


def named(toolkit: ToolkitRecord) -> Iterator[tuple[Target, str]]:
    for one in toolkit.codes:
        if one.capability == RENAMED:
            continue
        yield Target(one.capability, Code.PTX, one.suffix), str(one).removeprefix("sm_")


@pytest.mark.needs("ptxas")
def test_ptx_runs_where_the_assembler_takes_it(tmp_path: Path) -> None:
    ptxas, toolkit = installed()
    devices = {one.capability for one in toolkit.codes} - {RENAMED}
    for target, name in named(toolkit):
        file = tmp_path / f"{name}.ptx"
        file.write_text(PTX.format(isa=ISA[str(toolkit.release)], target=name), "utf-8")
        assert {device for device in devices if ptx_runs(device, target)} == assembled(ptxas, file, target, devices), name
