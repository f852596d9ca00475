"""The GPUs of a pasted deviceQuery of the CUDA samples, and the CUDA that the driver serves."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.detect.readers.lines import Line, lines_with
from gpuassist.model.driver import Driver
from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Version

PROGRAM = "deviceQuery"
_DEVICE = lazy_regex(r'^\s*Device \d{1,2}: "(?P<name>[^"\n]{2,80})"')
_VERSIONS = lazy_regex(r"^\s*CUDA Driver Version / Runtime Version\s{1,20}(?P<driver>\d{1,2}\.\d{1,2}) / \d{1,2}\.\d{1,2}")
_CAPABILITY = lazy_regex(r"^\s*CUDA Capability Major/Minor version number:\s{1,20}(?P<major>\d{1,2})\.(?P<minor>\d)")
_MEMORY = lazy_regex(r"^\s*Total amount of global memory:\s{1,30}(?P<memory>\d{2,7}) MBytes")


def read(paste: Paste) -> Machine:
    """Each device with what stands under its name; CUDA's numbers are not nvidia-smi's, so they are not kept."""
    found: list[tuple[Line, Gpu]] = []
    served: Fact[Version] = NOT_ASKED
    for line in lines_with(paste, "Device ", "CUDA Driver Version / ", "CUDA Capability Major", "amount of global memory"):
        if device := _DEVICE.match(line.words):
            found.append((line, Gpu(name=line.known(device["name"], PROGRAM))))
        elif versions := _VERSIONS.match(line.words):
            served = line.known(Version.parse(versions["driver"]), PROGRAM)
        elif found and (told := _CAPABILITY.match(line.words)):
            own = ComputeCapability(int(told["major"]), int(told["minor"]))
            found[-1] = found[-1][0], replace(found[-1][1], compute_capability=line.known(own, PROGRAM))
        elif found and (told := _MEMORY.match(line.words)):
            found[-1] = found[-1][0], replace(found[-1][1], memory_total_bytes=line.known(int(told["memory"]) << 20, PROGRAM))
    gpus = found[0][0].known(tuple(gpu for _, gpu in found), PROGRAM) if found else NOT_ASKED
    return Machine(gpus=gpus, driver=Driver(cuda_version=served))
