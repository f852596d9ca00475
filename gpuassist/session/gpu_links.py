"""How much the way from each GPU to the processor carries, by the kernel: the driver's files name the GPU at an address."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gpuassist.detect.pci import link_of
from gpuassist.model.fact import Known
from gpuassist.model.gpu import PcieLink
from gpuassist.system.files import Files

_DRIVER = "/proc/driver/nvidia/gpus"
_DEVICES = "/sys/bus/pci/devices"
_UUID = "GPU UUID:"
# Bits on the wire for each that counts: 10 for 8 in the first two generations, 130 for 128 since the third.
_OLD_GENERATIONS = 5.0  # gigatransfers a second


def links_by_uuid(files: Files, awake: Collection[str]) -> Mapping[str, float]:
    """Bytes a second in one direction, before the heads of packets, of these GPUs: the question would wake a sleeping one."""
    found = {}
    for address in files.names(_DRIVER):
        lines = files.text(f"{_DRIVER}/{address}/information", 1 << 14).splitlines()
        uuid = next((line.partition(_UUID)[2].strip() for line in lines if line.startswith(_UUID)), "")
        link = link_of(files, f"{_DEVICES}/{address}") if uuid in awake else None
        if isinstance(link, Known):
            found[uuid] = bytes_per_second(link.value)
    return found


def bytes_per_second(link: PcieLink) -> float:
    """At its full speed: it falls while nothing is copied."""
    speed = link.max_speed_gigatransfers
    return speed * 1e9 * link.width * (8 / 10 if speed <= _OLD_GENERATIONS else 128 / 130) / 8
